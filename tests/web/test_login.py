from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from sqlalchemy import Engine, text

from app.core.facts import Role
from app.db import configurations, sessions
from app.web.viewer import hashed
from tests.fakes.github import GitHub
from tests.web.deciding import NOON, Decided
from tests.web.serving import Server

SAME = {"sec-fetch-site": "same-origin"}


@contextmanager
def sign_in(server: Server, github: GitHub, login: str, to: str = "/") -> Iterator[httpx.Client]:
    """A browser that went through GitHub."""
    github.world.browser = login
    with server.client(follow_redirects=True, headers=SAME) as browser:
        answer = browser.get("/login", params={"next": to})
        assert answer.status_code == 200, answer.text
        assert answer.url.path == to
        yield browser


@pytest.fixture
def server(gate) -> Server:
    return gate()


@pytest.fixture
def widgets(decided: Decided, github: GitHub):
    """`acme/widgets` of the stand-in, with a decision."""
    repository = decided.repository("acme/widgets", id=github.world.repository().id)
    decided.pull(repository, 7, title="Seven in widgets")
    return repository


def test_somebody_with_triage_rights_sees_the_repository(server: Server, github: GitHub, widgets):
    with sign_in(server, github, "tom", "/pull/acme/widgets/7") as browser:
        page = browser.get("/").text
        assert "Seven in widgets" in page
        assert "tom" in page
        assert "Seven in widgets" in browser.get("/?repository=acme/widgets").text
        assert "Seven in widgets" in browser.get("/pull/acme/widgets/7").text


def test_somebody_without_sees_nothing_of_it(server: Server, github: GitHub, widgets):
    with sign_in(server, github, "stranger") as browser:
        page = browser.get("/").text
        assert "Seven" not in page
        assert "acme" not in page
        assert browser.get("/?repository=acme/widgets").status_code == 404
        hidden, missing = browser.get("/pull/acme/widgets/7"), browser.get("/pull/acme/nothing/7")
        assert hidden.status_code == missing.status_code == 404
        assert hidden.text == missing.text


def test_a_wrong_configuration_is_said_to_maintainers_only(
    server: Server, github: GitHub, widgets, decided: Decided
):
    with decided.database.begin() as tx:
        configurations.policy_failed(tx, widgets.id, "mode: must be <one> of off, …", NOON)
    said = "The configuration of acme/widgets is wrong"
    with sign_in(server, github, "tom") as browser:
        for address in ("/", "/?repository=acme/widgets"):
            page = browser.get(address).text
            assert said in page
            assert "must be &lt;one&gt; of" in page
    with sign_in(server, github, "stranger") as browser:
        assert said not in browser.get("/").text
    with decided.database.begin() as tx:
        configurations.keep_own(tx, widgets.id, {}, "abc", NOON)
    with sign_in(server, github, "tom") as browser:
        assert said not in browser.get("/").text


def test_permission_is_asked_for_each_repository(
    server: Server, github: GitHub, widgets, decided: Decided
):
    github.world.add_repository("acme/vault", private=True)
    vault = decided.repository("acme/vault", id=github.world.repository("acme/vault").id)
    decided.pull(vault, 8, title="Eight in the vault")
    with sign_in(server, github, "tom") as browser:
        page = browser.get("/").text
        assert "Seven in widgets" in page
        assert "vault" not in page
        assert browser.get("/pull/acme/vault/8").status_code == 404
    github.world.set_role("wendy", "triage", "acme/vault")
    with sign_in(server, github, "wendy") as browser:
        assert "Eight in the vault" in browser.get("/").text


def test_a_permission_is_believed_for_five_minutes(
    server: Server, github: GitHub, widgets, engine: Engine
):
    def asked() -> int:
        return sum(r.path.endswith("/tom/permission") for r in github.requests)

    with sign_in(server, github, "tom") as browser:
        browser.get("/")
        browser.get("/pull/acme/widgets/7")
        assert asked() == 1
        github.world.set_role("tom", "none")
        assert "Seven in widgets" in browser.get("/").text
        with engine.begin() as connection:
            connection.execute(
                text("update permissions set read_at = read_at - interval '6 minutes'")
            )
        assert "Seven in widgets" not in browser.get("/").text
        assert asked() == 2


@pytest.mark.parametrize("kind", ["status", "secondary_limit", "drop_before"])
def test_an_error_at_github_shows_nothing(server: Server, github: GitHub, widgets, kind: str):
    with sign_in(server, github, "tom") as browser:
        with server.parts.base.database.begin() as tx:
            tx.execute(text("delete from permissions"))
        more = {"status": 500} if kind == "status" else {"seconds": 60}
        fault = github.fault(kind, path="/permission$", times=None, **more)
        page = browser.get("/").text
        assert "GitHub did not answer for 1 of the repositories" in page
        assert "Seven" not in page
        assert "acme" not in page
        answer = browser.get("/pull/acme/widgets/7")
        assert answer.status_code == 503
        assert "Seven" not in answer.text
        fault.times = fault.hits
        assert "Seven in widgets" in browser.get("/").text


def test_one_page_asks_about_fifty_repositories_at_most(
    server: Server, github: GitHub, decided: Decided
):
    for number in range(60):
        github.world.add_repository(f"acme/r{number}")
        made = decided.repository(
            f"acme/r{number}", id=github.world.repository(f"acme/r{number}").id
        )
        decided.pull(made, 1, title=f"One of r{number}")
    with sign_in(server, github, "stranger", "/healthz") as browser:
        before = len(github.requests)
        page = browser.get("/").text
        asked = [r for r in github.requests[before:] if r.path.endswith("/permission")]
        assert len(asked) == 50
        assert "10 more repositories were not asked about" in page
        browser.get("/")
        asked = [r for r in github.requests[before:] if r.path.endswith("/permission")]
        assert len(asked) == 60


def test_somebody_without_rights_cannot_use_up_the_requests(
    server: Server, github: GitHub, widgets, engine: Engine
):
    stranger = github.world.user("stranger")
    with engine.begin() as connection:
        connection.execute(
            text("insert into permissions select g, :id, 1, now() from generate_series(1, 200) g"),
            {"id": stranger.id},
        )
    with sign_in(server, github, "stranger", "/healthz") as browser:
        assert browser.get("/pull/acme/widgets/7").status_code == 503
    assert not any(r.path.endswith("/permission") for r in github.requests)


def test_a_recycled_login_has_no_rights(server: Server, github: GitHub, widgets):
    with sign_in(server, github, "tom") as browser:
        with server.parts.base.database.begin() as tx:
            tx.execute(text("delete from permissions"))
        github.world.rename_user("tom", "thomas")
        github.world.add_user("tom")
        github.world.set_role("tom", "admin")
        assert browser.get("/pull/acme/widgets/7").status_code == 404


def test_an_app_that_is_gone_shows_nothing(server: Server, github: GitHub, widgets, engine: Engine):
    with sign_in(server, github, "tom") as browser:
        with engine.begin() as connection:
            connection.execute(text("update installations set deleted_at = now()"))
        assert "Seven" not in browser.get("/").text
        assert browser.get("/pull/acme/widgets/7").status_code == 404


def test_the_session_is_new_at_each_sign_in_and_only_its_hash_is_stored(
    server: Server, github: GitHub, engine: Engine
):
    with sign_in(server, github, "tom") as browser:
        first = browser.cookies["pulsegate-session"]
        browser.get("/login")
        second = browser.cookies["pulsegate-session"]
        assert first != second
        with engine.connect() as connection:
            rows = (
                connection.execute(text("select * from sessions order by created_at"))
                .mappings()
                .all()
            )
        assert [r["id_hash"] for r in rows] == [hashed(first), hashed(second)]
        assert rows[0]["revoked_at"] is not None
        assert first not in str(rows)
    with server.client(cookies={"pulsegate-session": first}) as old:
        assert old.get("/account").status_code == 303


def test_a_session_given_before_is_not_taken_over(server: Server, github: GitHub):
    github.world.browser = "tom"
    with server.client(follow_redirects=True, cookies={"pulsegate-session": "planted"}) as browser:
        browser.get("/login")
        values = [c.value for c in browser.cookies.jar if c.name == "pulsegate-session"]
        assert any(v != "planted" for v in values)
    with server.client(cookies={"pulsegate-session": "planted"}) as attacker:
        assert attacker.get("/account").status_code == 303


def test_cookies_are_closed_to_scripts_and_other_sites(gate, github: GitHub):
    server = gate(public_url="https://gate.example")
    answer = server.http.get("/login", headers={"host": "gate.example"})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-pulsegate-sign-in=")
    for part in ("HttpOnly", "Secure", "SameSite=lax", "Path=/"):
        assert part in cookie
    assert "Domain" not in cookie


def test_sign_out_ends_the_session_on_the_server(server: Server, github: GitHub):
    with sign_in(server, github, "tom") as browser:
        value = browser.cookies["pulsegate-session"]
        assert browser.post("/logout").status_code == 200
        assert "pulsegate-session" not in browser.cookies
    with server.client(cookies={"pulsegate-session": value}) as old:
        assert old.get("/account").status_code == 303


def test_another_browser_can_be_signed_out(server: Server, github: GitHub):
    with sign_in(server, github, "tom") as here, sign_in(server, github, "tom") as there:
        page = here.get("/account").text
        assert page.count("<button>End</button>") == 2
        other = hashed(there.cookies["pulsegate-session"])
        assert here.post("/account/end", data={"id": other}).status_code == 200
        assert there.get("/account", follow_redirects=False).status_code == 303
        assert here.get("/account", follow_redirects=False).status_code == 200
        assert here.post("/account/end", data={"id": other}).status_code == 404


def test_nobody_ends_somebody_elses_session(server: Server, github: GitHub):
    with sign_in(server, github, "tom") as tom, sign_in(server, github, "stranger") as stranger:
        other = hashed(tom.cookies["pulsegate-session"])
        assert stranger.post("/account/end", data={"id": other}).status_code == 404
        assert tom.get("/account", follow_redirects=False).status_code == 200


@pytest.mark.parametrize("column", ["seen_at", "expires_at"])
def test_a_session_ends_by_itself(server: Server, github: GitHub, engine: Engine, column: str):
    with sign_in(server, github, "tom") as browser:
        with engine.begin() as connection:
            ago = sessions.ABSOLUTE + timedelta(minutes=1)
            connection.execute(
                text(f"update sessions set {column} = {column} - :ago"), {"ago": ago}
            )
        assert browser.get("/account", follow_redirects=False).status_code == 303
        with server.parts.base.database.begin() as tx:
            sessions.forget_expired(tx, server.parts.clock() + timedelta(days=2))
        with engine.connect() as connection:
            assert connection.execute(text("select count(*) from sessions")).scalar_one() == 0


def test_a_sign_in_begun_elsewhere_is_refused(server: Server, github: GitHub):
    github.world.browser = "tom"
    with server.client() as attacker, server.client() as victim:
        to_github = attacker.get("/login").headers["location"]
        back = httpx.get(to_github, trust_env=False).headers["location"]
        # The attacker's own answer in the victim's browser, without and with a sign-in under way.
        assert victim.get(back).status_code == 400
        victim.get("/login")
        assert victim.get(back).status_code == 403
        assert "pulsegate-session" not in victim.cookies
        assert attacker.get(back).status_code == 303
        # A second time the code is used up, and so is the cookie.
        assert attacker.get(back).status_code == 400


def test_pkce_and_state_go_to_github(server: Server):
    query = parse_qs(urlsplit(server.http.get("/login").headers["location"]).query)
    assert query["code_challenge_method"] == ["S256"]
    assert len(query["state"][0]) >= 32
    assert query["redirect_uri"] == [f"{server.url}/login/callback"]


def test_next_leads_nowhere_else(server: Server, github: GitHub):
    with sign_in(server, github, "tom", "/") as browser:
        for to in ("https://attacker.example/", "//attacker.example", "/\\attacker.example"):
            answer = browser.get("/login", params={"next": to})
            assert answer.url.host == "127.0.0.1"
            assert answer.url.path == "/"


def test_a_refusal_at_github_signs_nobody_in(server: Server, github: GitHub):
    github.world.browser = None
    with server.client(follow_redirects=True) as browser:
        answer = browser.get("/login")
        assert answer.status_code == 403
        assert "pulsegate-session" not in browser.cookies


def test_github_down_at_sign_in_signs_nobody_in(server: Server, github: GitHub):
    github.world.browser = "tom"
    github.fault("status", path="/login/oauth/access_token", status=500, times=None)
    with server.client(follow_redirects=True) as browser:
        answer = browser.get("/login")
        assert answer.status_code == 503
        assert "pulsegate-session" not in browser.cookies


def test_without_an_app_nobody_can_sign_in(serve):
    server = serve()
    answer = server.http.get("/login")
    assert answer.status_code == 400
    assert "/setup" in answer.text


def test_least_is_triage():
    from app.web.sight import LEAST

    assert LEAST is Role.TRIAGE
