"""The stand-in: sign-in, the manifest flow, and webhooks."""

import hashlib
import hmac
import json

import httpx

from tests.fakes.github import GitHub
from tests.fakes.loopback import Listener
from tests.fakes.node import require_package

REPO = "/repos/acme/widgets"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


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
    headers = bearer(github.app_jwt())
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
        answer = anonymous.get(url, headers=bearer(github.app_jwt()))
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
