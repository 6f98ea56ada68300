"""The emulator behind its pass-through: what our end-to-end tests rest on."""

import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.fakes.emulate import Emulate
from tests.fakes.loopback import Listener, client, wait_until

pytestmark = pytest.mark.emulate
REPO = "/repos/acme/widgets"


@pytest.fixture
def api(emulate: Emulate) -> Iterator[httpx.Client]:
    with client(emulate.api_url, emulate.installation_token()) as api:
        yield api


def test_a_pull_request_from_webhook_to_close(
    emulate: Emulate, api: httpx.Client, listener: Listener
) -> None:
    emulate.webhook_url = f"{listener.url}/webhooks/github"
    opened = emulate.open_pull(by="stranger", title="Fix it", body="Please")
    number, sha = opened["number"], opened["head"]["sha"]
    got = listener.wait_for(lambda r: r.headers["x-github-event"] == "pull_request")
    digest = hmac.new(emulate.webhook_secret.encode(), got.body, hashlib.sha256).hexdigest()
    assert got.headers["x-hub-signature-256"] == f"sha256={digest}"
    assert got.headers["x-github-hook-installation-target-id"] == str(emulate.app_id)
    payload = json.loads(got.body)
    assert payload["pull_request"]["user"]["login"] == "stranger"
    assert payload["installation"]["id"] == emulate.installation_id

    api.post(f"{REPO}/issues/{number}/labels", json={"labels": ["needs-verification"]})
    api.post(f"{REPO}/issues/{number}/comments", json={"body": "Is somebody there?"})
    run = {"name": "pulsegate", "head_sha": sha, "status": "completed", "conclusion": "neutral"}
    api.post(f"{REPO}/check-runs", json=run)
    api.patch(f"{REPO}/pulls/{number}", json={"state": "closed"})

    assert emulate.labels(number) == ["needs-verification"]
    [comment] = emulate.comments(number)
    assert comment["user"]["login"] == "pulsegate[bot]"
    assert comment["performed_via_github_app"]["id"] == emulate.app_id
    [check] = emulate.check_runs(sha)
    assert (check["conclusion"], check["app"]["id"]) == ("neutral", emulate.app_id)
    assert emulate.pull(number)["state"] == "closed"


def test_a_comment_says_that_its_issue_is_a_pull_request(
    emulate: Emulate, listener: Listener
) -> None:
    number = emulate.open_pull(by="stranger")["number"]
    emulate.webhook_url = listener.url
    emulate.comment(number, "Hello", by="tom")
    got = listener.wait_for(lambda r: r.headers["x-github-event"] == "issue_comment")
    issue = json.loads(got.body)["issue"]
    assert (issue["number"], issue["pull_request"]["url"][-8:]) == (number, f"/pulls/{number}")
    digest = hmac.new(emulate.webhook_secret.encode(), got.body, hashlib.sha256).hexdigest()
    assert got.headers["x-hub-signature-256"] == f"sha256={digest}"


def test_dates_have_no_milliseconds(emulate: Emulate, api: httpx.Client) -> None:
    number = emulate.open_pull(by="stranger")["number"]
    text = api.get(f"{REPO}/pulls/{number}").text
    assert re.search(r"\d\d:\d\d:\d\dZ", text)
    assert not re.search(r"\d\d:\d\d:\d\d\.\d+Z", text)


def test_each_pull_request_has_a_head_of_its_own(emulate: Emulate) -> None:
    first, second = (emulate.open_pull(by="stranger") for _ in range(2))
    assert first["head"]["sha"] != second["head"]["sha"]


def test_what_the_pass_through_adds(
    emulate: Emulate, api: httpx.Client, listener: Listener
) -> None:
    words = {}
    for login in ("olivia", "tom", "stranger", "renovate[bot]", "nobody"):
        answer = api.get(f"{REPO}/collaborators/{login}/permission")
        words[login] = (answer.status_code, answer.json().get("role_name"))
    assert words == {
        "olivia": (200, "admin"),
        "tom": (200, "triage"),
        "stranger": (200, "read"),
        "renovate[bot]": (200, "read"),
        "nobody": (404, None),
    }
    assert api.get("/repos/acme/none/collaborators/tom/permission").status_code == 404
    assert api.get("/installation/repositories").json()["total_count"] == 1
    app = {"Authorization": f"Bearer {emulate.app_jwt()}"}
    listener.status = 503
    emulate.webhook_url = listener.url
    emulate.open_pull(by="stranger")
    listener.wait_for(lambda r: r.headers["x-github-event"] == "pull_request")

    def listed() -> Any:
        # It is listed a moment after it was answered.
        items = api.get("/app/hook/deliveries", headers=app).json()
        return next((d for d in items if d["event"] == "pull_request"), None)

    failed = wait_until(listed)
    assert failed["status_code"] == 503
    before = len(listener.received)
    again = api.post(f"/app/hook/deliveries/{failed['id']}/attempts", headers=app)
    assert again.status_code == 202
    assert listener.received[before].headers["x-github-delivery"] == failed["guid"]


def test_signing_in() -> None:
    to = "http://127.0.0.1:9/auth/callback"
    with (
        Emulate(callback_urls=[to]) as emulate,
        client(emulate.web_url) as web,
    ):
        query = httpx.QueryParams(client_id=emulate.client_id, redirect_uri=to, state="xyz")
        back = httpx.URL(emulate.sign_in(f"/login/oauth/authorize?{query}", "tom"))
        assert back.params["state"] == "xyz"
        form = {"client_id": emulate.client_id, "client_secret": emulate.client_secret}
        form["code"] = back.params["code"]
        wants = {"Accept": "application/json"}
        token = web.post("/login/oauth/access_token", data=form, headers=wants).json()
        bearer = {"Authorization": f"Bearer {token['access_token']}"}
        assert web.get("/user", headers=bearer).json()["login"] == "tom"
        path = f"/user/installations/{emulate.installation_id}/repositories"
        [mine] = web.get(path, headers=bearer).json()["repositories"]
        assert (mine["permissions"]["triage"], mine["permissions"]["push"]) == (True, False)
