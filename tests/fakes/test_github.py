"""The stand-in through plain HTTP: GitHub's semantics."""

import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import jwt
import pytest

from tests.fakes.github import GitHub
from tests.fakes.loopback import Listener, client
from tests.fakes.node import require_package

REPO = "/repos/acme/widgets"


def app_jwt(github: GitHub, *, issuer: str = "", key: str = "", seconds: int = 540) -> str:
    app, now = github.world.app, int(time.time())
    claims = {"iat": now - 60, "exp": now + seconds, "iss": issuer or str(app.id)}
    return jwt.encode(claims, key or app.private_key_pem, algorithm="RS256")


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def anonymous(github: GitHub) -> Iterator[httpx.Client]:
    with client(github.api_url) as anonymous:
        yield anonymous


@pytest.fixture
def api(github: GitHub, anonymous: httpx.Client) -> httpx.Client:
    path = f"/app/installations/{github.world.installation.id}/access_tokens"
    token = anonymous.post(path, headers=bearer(app_jwt(github)))
    assert token.status_code == 201
    anonymous.headers.update(bearer(token.json()["token"]))
    return anonymous


def test_only_the_apps_own_key_opens_its_door(github: GitHub, anonymous: httpx.Client) -> None:
    from tests.fakes.github.world import key_pair

    good = [app_jwt(github), app_jwt(github, issuer=github.world.app.client_id)]
    assert [anonymous.get("/app", headers=bearer(t)).status_code for t in good] == [200, 200]
    other = app_jwt(github, key=key_pair(7)[0])
    long = app_jwt(github, seconds=3600)
    stranger = app_jwt(github, issuer="99")
    answers = [
        anonymous.get("/app", headers=bearer(t)).status_code for t in (other, long, stranger)
    ]
    assert answers == [401, 401, 404]
    assert anonymous.get("/app").status_code == 401
    assert anonymous.get(REPO, headers=bearer(app_jwt(github))).status_code == 403


def test_an_installation_token_dies_with_the_installation(
    github: GitHub, api: httpx.Client
) -> None:
    world = github.world
    assert api.get("/installation/repositories").json()["total_count"] == 1
    world.suspend(world.installation, by="olivia")
    assert api.get(REPO).status_code == 403
    world.unsuspend(world.installation, by="olivia")
    assert api.get(REPO).status_code == 200
    world.uninstall(world.installation, by="olivia")
    assert api.get(REPO).status_code == 401
    path = f"/app/installations/{world.installation.id}"
    assert api.get(path, headers=bearer(app_jwt(github))).status_code == 404


def test_a_token_expires(github: GitHub, api: httpx.Client) -> None:
    github.world.clock = lambda: datetime.now(UTC) + timedelta(minutes=61)
    assert api.get(REPO).status_code == 401


@pytest.mark.parametrize(
    ("login", "permission", "role"),
    [
        ("olivia", "admin", "admin"),
        ("mark", "write", "maintain"),
        ("wendy", "write", "write"),
        ("tom", "read", "triage"),
        ("stranger", "read", "read"),
        ("sam", "write", "keeper"),
    ],
)
def test_permission_in_githubs_two_vocabularies(
    github: GitHub, api: httpx.Client, login: str, permission: str, role: str
) -> None:
    github.world.add_user("sam")
    github.world.repository().custom_roles["keeper"] = "write"
    github.world.set_role("sam", "keeper")
    answer = api.get(f"{REPO}/collaborators/{login}/permission").json()
    assert (answer["permission"], answer["role_name"]) == (permission, role)
    assert answer["user"]["id"] == github.world.user(login).id


def test_accounts_come_go_and_are_renamed(github: GitHub, api: httpx.Client) -> None:
    world = github.world
    number = world.open_pull(by="stranger").number
    world.rename_user("stranger", "newname")
    assert api.get(f"{REPO}/collaborators/stranger/permission").status_code == 404
    assert api.get(f"{REPO}/pulls/{number}").json()["user"]["login"] == "newname"
    world.delete_user("newname")
    assert api.get(f"{REPO}/pulls/{number}").json()["user"] is None
    assert api.get("/users/newname").status_code == 404
    world.users["newname"].deleted = "ghost"
    assert api.get(f"{REPO}/pulls/{number}").json()["user"]["id"] == 10137


def test_the_life_of_a_pull_request(github: GitHub, api: httpx.Client) -> None:
    world = github.world
    pull = world.open_pull(by="stranger", title="First", body=None)
    path = f"{REPO}/pulls/{pull.number}"
    first = api.get(path).json()
    assert (first["state"], first["body"], first["merged"]) == ("open", None, False)
    assert first["head"]["repo"]["full_name"] == "stranger/widgets"
    world.clock = lambda: datetime.now(UTC) + timedelta(seconds=5)
    closed = api.patch(path, json={"state": "closed"}).json()
    assert closed["closed_at"] > first["created_at"]
    assert closed["updated_at"] > first["updated_at"]
    assert api.patch(path, json={"state": "open"}).json()["closed_at"] is None
    world.merge_pull(pull.number, by="wendy")
    assert api.get(path).json()["merged_by"]["login"] == "wendy"
    assert api.patch(path, json={"state": "open"}).status_code == 422
    other = world.open_pull(by="stranger").number
    world.close_pull(other, by="wendy")
    world.delete_repository("stranger/widgets")
    assert api.get(f"{REPO}/pulls/{other}").json()["head"]["repo"] is None
    assert api.patch(f"{REPO}/pulls/{other}", json={"state": "open"}).status_code == 422
    assert api.get(f"{REPO}/pulls/99").status_code == 404


def test_lists_come_in_pages(github: GitHub, api: httpx.Client) -> None:
    for _ in range(5):
        github.world.open_pull(by="stranger")
    github.world.edit_pull(2, by="stranger", title="Changed")
    query = {"per_page": "2", "sort": "updated", "direction": "desc", "state": "open"}
    seen, url = [], str(httpx.URL(f"{REPO}/pulls", params=query))
    while url:
        answer = api.get(url)
        seen += [p["number"] for p in answer.json()]
        url = answer.links.get("next", {}).get("url", "")
    assert seen == [2, 5, 4, 3, 1]


def test_unchanged_reads_are_304_and_changed_ones_are_not(
    github: GitHub, api: httpx.Client
) -> None:
    number = github.world.open_pull(by="stranger").number
    first = api.get(f"{REPO}/pulls/{number}")
    tag = {"If-None-Match": first.headers["etag"]}
    left = int(first.headers["x-ratelimit-remaining"])
    second = api.get(f"{REPO}/pulls/{number}", headers=tag)
    assert (second.status_code, second.content) == (304, b"")
    assert int(second.headers["x-ratelimit-remaining"]) == left
    github.world.edit_pull(number, by="stranger", title="Changed")
    assert api.get(f"{REPO}/pulls/{number}", headers=tag).status_code == 200


def test_labels(github: GitHub, api: httpx.Client) -> None:
    number = github.world.open_pull(by="stranger").number
    made = api.post(f"{REPO}/labels", json={"name": "needs-verification", "color": "fbca04"})
    assert made.status_code == 201
    again = api.post(f"{REPO}/labels", json={"name": "Needs-Verification", "color": "fbca04"})
    assert again.status_code == 422
    assert again.json()["errors"][0]["code"] == "already_exists"
    path = f"{REPO}/issues/{number}/labels"
    names = [
        x["name"] for x in api.post(path, json={"labels": ["needs-verification", "a/b"]}).json()
    ]
    assert names == ["needs-verification", "a/b"]
    assert [x["name"] for x in api.delete(f"{path}/a%2Fb").json()] == ["needs-verification"]
    assert api.delete(f"{path}/a%2Fb").status_code == 404


def test_comments(github: GitHub, api: httpx.Client) -> None:
    number = github.world.open_pull(by="stranger").number
    path = f"{REPO}/issues/{number}/comments"
    made = api.post(path, json={"body": "Hello"}).json()
    assert made["user"]["login"] == "pulsegate[bot]"
    assert made["performed_via_github_app"]["id"] == github.world.app.id
    github.world.comment(number, "Hi", by="stranger")
    listed = api.get(path).json()
    assert [c["body"] for c in listed] == ["Hello", "Hi"]
    assert listed[1]["performed_via_github_app"] is None
    one = f"{REPO}/issues/comments/{made['id']}"
    assert api.patch(one, json={"body": "Hello again"}).json()["body"] == "Hello again"
    assert api.get(one).json()["id"] == made["id"]
    github.world.lock_pull(number, by="tom")
    refused = api.post(path, json={"body": "Hello"})
    assert (refused.status_code, len(api.get(path).json())) == (403, 2)
    assert "locked" in refused.json()["message"]


def test_check_runs(github: GitHub, api: httpx.Client) -> None:
    sha = github.world.open_pull(by="stranger").head_sha
    asked = {"name": "pulsegate", "head_sha": sha, "status": "completed", "conclusion": "neutral"}
    button = {"label": "Try again", "description": "Decide anew", "identifier": "again"}
    made = api.post(f"{REPO}/check-runs", json={**asked, "actions": [button]}).json()
    assert made["app"]["id"] == github.world.app.id
    changed = api.patch(f"{REPO}/check-runs/{made['id']}", json={"conclusion": "success"}).json()
    assert changed["conclusion"] == "success"
    listed = api.get(f"{REPO}/commits/{sha}/check-runs?check_name=pulsegate").json()
    assert [r["id"] for r in listed["check_runs"]] == [made["id"]]
    unknown = api.post(f"{REPO}/check-runs", json={**asked, "head_sha": "0" * 40})
    assert unknown.status_code == 422
    github.world.press(made["id"], "again", by="wendy")
    assert github.world.hooks.deliveries[-1].payload["requested_action"] == {"identifier": "again"}


def test_without_the_permission_a_write_is_refused(github: GitHub, api: httpx.Client) -> None:
    number = github.world.open_pull(by="stranger").number
    github.world.installation.permissions["pull_requests"] = "read"
    answer = api.patch(f"{REPO}/pulls/{number}", json={"state": "closed"})
    assert answer.status_code == 403
    assert answer.json()["message"] == "Resource not accessible by integration"
    assert github.world.pull(number).state == "open"


def test_a_private_repository_is_not_there_for_others(
    github: GitHub, api: httpx.Client, anonymous: httpx.Client
) -> None:
    github.world.add_user("other")
    github.world.add_repository("other/secret", private=True)
    assert api.get("/repos/other/secret").status_code == 404


def test_an_old_name_redirects(github: GitHub, api: httpx.Client) -> None:
    number = github.world.open_pull(by="stranger").number
    github.world.rename_repository("gadgets", by="olivia")
    moved = api.get(f"{REPO}/pulls/{number}")
    assert moved.status_code == 301
    found = api.get(f"{REPO}/pulls/{number}", follow_redirects=True).json()
    assert found["base"]["repo"]["full_name"] == "acme/gadgets"


def test_a_file_of_the_default_branch(github: GitHub, api: httpx.Client) -> None:
    assert api.get(f"{REPO}/contents/.github/pulsegate.yml").status_code == 404
    github.world.push_files({".github/pulsegate.yml": "version: 1\n"}, by="wendy")
    raw = api.get(
        f"{REPO}/contents/.github/pulsegate.yml",
        headers={"Accept": "application/vnd.github.raw+json"},
    )
    assert raw.content == b"version: 1\n"
    assert api.get(f"{REPO}/contents/.github/pulsegate.yml").json()["size"] == 11


def test_signing_in(github: GitHub, anonymous: httpx.Client) -> None:
    app = github.world.app
    github.world.browser = "wendy"
    to = "http://127.0.0.1:9/auth/callback"
    query = {"client_id": app.client_id, "redirect_uri": to, "state": "xyz"}
    page = anonymous.get(f"{github.web_url}/login/oauth/authorize", params=query)
    back = httpx.URL(page.headers["location"])
    assert (page.status_code, back.params["state"]) == (302, "xyz")
    form = {"client_id": app.client_id, "client_secret": app.client_secret}
    form |= {"code": back.params["code"], "redirect_uri": to}
    url, wants = f"{github.web_url}/login/oauth/access_token", {"Accept": "application/json"}
    wrong = anonymous.post(url, data={**form, "client_secret": "no"}, headers=wants).json()
    assert wrong["error"] == "incorrect_client_credentials"
    token = anonymous.post(url, data=form, headers=wants).json()["access_token"]
    again = anonymous.post(url, data=form, headers=wants).json()
    assert again["error"] == "bad_verification_code"
    assert anonymous.get("/user", headers=bearer(token)).json()["login"] == "wendy"
    installations = anonymous.get("/user/installations", headers=bearer(token)).json()
    number = installations["installations"][0]["id"]
    mine = anonymous.get(f"/user/installations/{number}/repositories", headers=bearer(token)).json()
    assert mine["repositories"][0]["permissions"]["push"] is True
    assert mine["repositories"][0]["permissions"]["admin"] is False


def test_the_manifest_flow(github: GitHub, anonymous: httpx.Client) -> None:
    github.world.browser = "olivia"
    manifest = {
        "name": "Gate of Acme",
        "url": "http://127.0.0.1:9",
        "redirect_url": "http://127.0.0.1:9/setup/done",
        "hook_attributes": {"url": "http://127.0.0.1:9/webhooks/github"},
        "default_permissions": {"pull_requests": "write"},
        "default_events": ["pull_request"],
    }
    page = anonymous.post(
        f"{github.web_url}/settings/apps/new?state=abc", data={"manifest": json.dumps(manifest)}
    )
    back = httpx.URL(page.headers["location"])
    assert back.params["state"] == "abc"
    path = f"/app-manifests/{back.params['code']}/conversions"
    made = anonymous.post(path)
    assert made.status_code == 201
    assert made.json()["pem"].startswith("-----BEGIN RSA PRIVATE KEY-----")
    assert anonymous.post(path).status_code == 404


def test_an_act_sends_a_signed_webhook_and_it_is_listed_and_sent_again(
    github: GitHub, anonymous: httpx.Client, listener: Listener
) -> None:
    app = github.world.app
    app.webhook_url = f"{listener.url}/webhooks/github"
    listener.status = 503
    pull = github.world.open_pull(by="stranger", title="\u202egnp.exe \ud800 $(reboot)")
    github.world.hooks.drain()
    [got] = listener.received
    payload = json.loads(got.body)
    assert (payload["action"], payload["number"]) == ("opened", pull.number)
    assert payload["installation"]["id"] == github.world.installation.id
    digest = hmac.new(str(app.webhook_secret).encode(), got.body, hashlib.sha256).hexdigest()
    assert got.headers["x-hub-signature-256"] == f"sha256={digest}"
    assert got.headers["x-github-event"] == "pull_request"
    assert got.headers["x-github-hook-installation-target-id"] == str(app.id)
    headers = bearer(app_jwt(github))
    [item] = anonymous.get("/app/hook/deliveries?per_page=10", headers=headers).json()
    assert (item["guid"], item["status_code"]) == (got.headers["x-github-delivery"], 503)
    listener.status = 202
    again = anonymous.post(f"/app/hook/deliveries/{item['id']}/attempts", headers=headers)
    assert again.status_code == 202
    github.world.hooks.drain()
    assert listener.received[1] == got
    newest = anonymous.get("/app/hook/deliveries", headers=headers).json()[0]
    assert (newest["guid"], newest["redelivery"], newest["status"]) == (item["guid"], True, "OK")


def test_deliveries_are_read_by_cursor(
    github: GitHub, anonymous: httpx.Client, listener: Listener
) -> None:
    github.world.app.webhook_url = listener.url
    for _ in range(5):
        github.world.open_pull(by="stranger")
    github.world.hooks.drain()
    seen, url = [], "/app/hook/deliveries?per_page=2"
    while url:
        answer = anonymous.get(url, headers=bearer(app_jwt(github)))
        seen += [d["id"] for d in answer.json()]
        url = answer.links.get("next", {}).get("url", "")
    assert seen == [d.id for d in reversed(github.world.hooks.deliveries)]


def test_deliveries_can_be_held_and_sent_in_any_order(github: GitHub, listener: Listener) -> None:
    github.world.app.webhook_url = listener.url
    with github.world.hooks.held() as held:
        pull = github.world.open_pull(by="stranger")
        github.world.edit_pull(pull.number, by="stranger", title="Changed")
    assert listener.received == []
    for delivery in [held[1], held[0], held[0]]:
        github.world.hooks.deliver(delivery)
    actions = [json.loads(r.body)["action"] for r in listener.received]
    assert actions == ["edited", "opened", "opened"]


def test_every_kind_of_webhook_is_whole(github: GitHub) -> None:
    """The fixture judges each of them by GitHub's description at the end."""
    require_package("@octokit/openapi")
    world = github.world
    pull = world.open_pull(by="stranger")
    same = world.open_pull(by="wendy", fork=False, draft=True)
    world.set_draft(same.number, False, by="wendy")
    world.set_draft(same.number, True, by="wendy")
    world.push(pull.number)
    world.edit_pull(pull.number, by="stranger", title="a", body=None)
    world.label(pull.number, "bug", by="tom")
    world.unlabel(pull.number, "bug", by="tom")
    world.comment(pull.number, "/gate reopen", by="stranger")
    world.review(pull.number, by="wendy", state="changes_requested", body="Why?")
    world.close_pull(pull.number, by="wendy")
    world.reopen_pull(pull.number, by="stranger")
    world.lock_pull(pull.number, by="tom")
    world.merge_pull(pull.number, by="wendy")
    world.push_files({"a.py": "1", "README.md": None}, by="wendy")
    world.queue_merge(by="wendy")
    for role in ("write", "admin", "none"):
        world.change_role("stranger", role, by="olivia")
    world.add_repository("acme/other")
    world.choose_repositories(world.installation, ["acme/other"], by="olivia")
    world.choose_repositories(world.installation, ["acme/widgets"], by="olivia")
    world.suspend(world.installation, by="olivia")
    world.unsuspend(world.installation, by="olivia")
    world.rename_repository("gadgets", by="olivia")
    world.add_user("beta", "Organization")
    world.install("beta", by="olivia")
    world.transfer_repository("beta", by="olivia")
    world.uninstall(world.installation, by="olivia")
    told = {(d.event, d.action) for d in world.hooks.deliveries}
    assert len(told) == 25
