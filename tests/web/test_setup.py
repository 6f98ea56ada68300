import html
import json
import re
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import Engine, text

from app.wiring.base import Base, setup_link
from tests.fakes.github import GitHub
from tests.web.serving import Server


@pytest.fixture
def server(serve, github: GitHub) -> Server:
    """One that has no App yet, beside the stand-in."""
    github.world.browser = "olivia"
    return serve(
        github_api_url=github.api_url, github_web_url=github.web_url, github_webhook_secret=""
    )


def link(server: Server) -> str:
    found = setup_link(server.parts.base)
    assert found is not None
    return found


def post_manifest(page: str) -> str:
    """What the browser does with the form: where GitHub sends it back to."""
    target = html.unescape(re.search(r'method="post" action="([^"]+)"', page)[1])
    manifest = html.unescape(re.search(r'name="manifest" value="([^"]+)"', page)[1])
    answer = httpx.post(target, data={"manifest": manifest}, trust_env=False)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def test_the_whole_way(server: Server, github: GitHub, engine: Engine):
    assert server.deliver(b"{}").status_code == 503
    with server.client() as browser:
        answer = browser.get(link(server))
        assert answer.status_code == 200
        assert github.web_url in answer.headers["content-security-policy"]
        assert "pull requests" in answer.text
        done = browser.get(post_manifest(answer.text))
    assert done.status_code == 200
    assert "/installations/new" in done.text
    made = github.world.apps[-1]
    assert made.permissions == {
        "pull_requests": "write",
        "issues": "write",
        "checks": "write",
        "contents": "read",
        "metadata": "read",
        "members": "read",
    }
    credentials = server.parts.base.app_credentials()
    assert credentials.app_id == made.id
    assert credentials.private_key == made.private_key_pem
    # Deliveries of the new App are taken from now on, and somebody can sign in.
    assert server.deliver(b"{}", secret=made.webhook_secret).status_code == 202
    assert server.http.get("/login").status_code == 303
    # Nobody reads the credentials from the row.
    with engine.connect() as connection:
        row = connection.execute(text("select * from app_setup")).mappings().one()
    for secret in (made.webhook_secret, made.client_secret, made.private_key_pem[40:80]):
        assert secret.encode() not in bytes(row["credentials"])
        assert secret not in str(dict(row))


def test_closed_for_good_once_done(server: Server, github: GitHub):
    first = link(server)
    with server.client() as browser:
        page = browser.get(first).text
        browser.get(post_manifest(page))
        assert setup_link(server.parts.base) is None
        assert browser.get(first).status_code == 410
        # The same state with another code of the attacker's.
        assert browser.get(post_manifest(page)).status_code == 410
    assert server.parts.base.app_credentials().app_id == github.world.apps[1].id


def test_only_the_terminals_token_opens_it(server: Server):
    good = link(server)
    token = good.rpartition("=")[2]
    for wrong in (
        "",
        token[:-1],
        token[:-1] + ("0" if token[-1] != "0" else "1"),
        "é",
        token.upper(),
    ):
        answer = server.http.get("/setup", params={"token": wrong})
        assert answer.status_code == 403, wrong
        assert "terminal" in answer.text
        assert "manifest" not in answer.text
    assert server.http.get("/setup").status_code == 403


def test_each_process_prints_the_same_token_and_another_key_another(server: Server, settings):
    ours = link(server).rpartition("=")[2]
    for key, same in (("k" * 40, True), ("z" * 40, False)):
        base = Base(settings(secret_key=key))
        assert (base.setup_token() == ours) is same
        base.close()


def test_an_app_of_the_environment_closes_it(gate, github: GitHub):
    server = gate()
    assert setup_link(server.parts.base) is None
    assert server.http.get("/setup").status_code == 410
    assert server.http.get("/setup/callback?code=x&state=y").status_code == 410
    assert server.parts.base.app_credentials().app_id == github.world.app.id


@pytest.mark.parametrize("how", ["no cookie", "no state", "another purpose", "another browser"])
def test_a_callback_that_was_not_begun_here_stores_nothing(
    server: Server, github: GitHub, how: str
):
    with server.client() as browser, server.client() as victim:
        back = post_manifest(browser.get(link(server)).text)
        path = back.removeprefix(server.url)
        if how == "no cookie":
            answer = victim.get(path)
        elif how == "another browser":
            victim.get(link(server))
            answer = victim.get(path)
        elif how == "no state":
            answer = browser.get(path.partition("&state")[0])
        else:
            state = server.parts.base.signer("sign-in").sign({"browser": "x"})
            answer = browser.get(f"{path.partition('&state')[0]}&state={state}")
    assert answer.status_code == 403
    assert "Nothing was stored" in answer.text
    assert server.parts.base.app_credentials() is None


def test_a_code_that_github_refuses_loses_nothing(server: Server, github: GitHub):
    with server.client() as browser:
        back = urlsplit(post_manifest(browser.get(link(server)).text))
        state = back.query.partition("state=")[2]
        answer = browser.get(f"/setup/callback?code=wrong&state={state}")
        assert answer.status_code == 400
        assert "Open the /setup link of the terminal again" in answer.text
        # The real code still works.
        assert browser.get(f"{back.path}?{back.query}").status_code == 200


def test_github_down_says_that_the_code_may_still_work(server: Server, github: GitHub):
    with server.client() as browser:
        back = post_manifest(browser.get(link(server)).text)
        fault = github.fault("status", path="/conversions$", status=502, times=None)
        answer = browser.get(back)
        assert answer.status_code == 503
        assert "Reload this page" in answer.text
        fault.times = fault.hits
        assert browser.get(back).status_code == 200


def test_two_at_once_leave_one_app(server: Server, github: GitHub):
    with server.client() as one, server.client() as two:
        first = post_manifest(one.get(link(server)).text)
        second = post_manifest(two.get(link(server)).text)
        assert one.get(first).status_code == 200
        answer = two.get(second)
    assert answer.status_code == 410
    assert server.parts.base.app_credentials().app_id == github.world.apps[1].id


def test_an_organisation_may_own_it(server: Server, github: GitHub):
    with server.client() as browser:
        page = browser.get(link(server) + "&organisation=acme").text
        assert "/organizations/acme/settings/apps/new" in page
        assert browser.get(post_manifest(page)).status_code == 200


def test_a_wrong_name_of_an_organisation_is_said_and_escaped(server: Server):
    page = server.http.get(link(server) + "&organisation=%22%3E%3Cscript%3E").text
    assert "letters, digits and hyphens" in page
    assert "<script" not in page
    assert 'name="manifest"' not in page


def test_an_address_of_this_machine_gets_no_button(serve):
    server = serve(github_webhook_secret="")
    page = server.http.get(link(server)).text
    assert "PUBLIC_URL=https://" in page
    assert 'name="manifest"' not in page


def test_the_manifest_names_our_public_address(serve, github: GitHub):
    server = serve(public_url="https://gate.example")
    token = link(server).rpartition("=")[2]
    assert link(server).startswith("https://gate.example/setup?token=")
    answer = server.http.get(f"/setup?token={token}", headers={"host": "gate.example"})
    manifest = json.loads(
        html.unescape(re.search(r'name="manifest" value="([^"]+)"', answer.text)[1])
    )
    assert manifest["hook_attributes"]["url"] == "https://gate.example/webhooks/github"
    assert manifest["redirect_url"] == "https://gate.example/setup/callback"
    assert manifest["callback_urls"] == ["https://gate.example/login/callback"]
    assert manifest["public"] is False
    assert "https://github.com" in answer.headers["content-security-policy"]


def test_the_environment_wins_over_what_was_stored(server: Server, github: GitHub, settings):
    with server.client() as browser:
        browser.get(post_manifest(browser.get(link(server)).text))
    made = github.world.apps[-1]
    rotated = Base(settings(github_webhook_secret="new,old"))
    assert rotated.webhook_secrets() == ("new", "old")
    assert rotated.app_credentials().app_id == made.id
    assert made.slug in rotated.app_page()
    rotated.close()
    other = Base(settings(github_app_id=99, github_private_key=made.private_key_pem,
                          github_webhook_secret=""))  # fmt: skip
    assert other.app_credentials().app_id == 99
    assert other.app_page() is None  # the page of another App
    assert other.webhook_secrets() == ()
    assert other.app_credentials().client_id == ""
    other.close()


def test_a_lost_secret_key_is_said_and_takes_nothing(server: Server, github: GitHub, serve):
    with server.client() as browser:
        browser.get(post_manifest(browser.get(link(server)).text))
    made = github.world.apps[-1]
    locked = serve(secret_key="z" * 40, github_webhook_secret="")
    answer = locked.deliver(b"{}", secret=made.webhook_secret)
    assert answer.status_code == 503
    assert "SECRET_KEY" in answer.json()["detail"]
    assert "SECRET_KEY" in locked.http.get("/").text
    rotated = serve(secret_key="z" * 40 + "," + "k" * 40, github_webhook_secret="")
    assert rotated.deliver(b"{}", secret=made.webhook_secret).status_code == 202
