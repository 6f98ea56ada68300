"""The page where an author shows that somebody is there."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, text

from app.core.effects import Notice, Receipt
from app.core.github import Account
from app.core.modes import Mode
from app.core.proofs.mails import Mail
from app.core.proofs.probe import Probe
from app.core.said import say
from app.db import cases, challenges
from tests.fakes.github import GitHub
from tests.fakes.letters import written
from tests.fakes.names import Names
from tests.web.deciding import Decided
from tests.web.serving import Server
from tests.web.test_login import sign_in

PAGE = "/verify/acme/widgets/7"
HOOK = {"authorization": "Bearer a-secret-of-16-letters", "x-mail-to": "x@gate.example"}


@pytest.fixture
def server(gate) -> Server:
    return gate(
        smtp_url="smtp://127.0.0.1:9",
        mail_from="gate@gate.example",
        mail_inbound="hook://a-secret-of-16-letters?domain=gate.example",
    )


@pytest.fixture
def mine(decided: Decided, github: GitHub) -> Any:
    """A pull request of `stranger` that was closed."""
    where = decided.repository("acme/widgets", id=github.world.repository().id)
    me = github.world.user("stranger")
    author = Account(id=me.id, login=me.login)
    decided.pull(where, 7, title="<i>Mine</i>", author=author, mode=Mode.CLOSE, flood=6)
    with decided.database.begin() as tx:
        tx.execute(text("UPDATE cases SET closed_at = now(), pull_state = 'closed'"))
    return where


@pytest.fixture
def author(server: Server, github: GitHub, mine: Any) -> Iterator[httpx.Client]:
    with sign_in(server, github, "stranger", PAGE) as browser:
        yield browser


def mails(server: Server, engine: Engine) -> list[Mail]:
    with engine.connect() as tx:
        sealed = tx.execute(text("SELECT sealed FROM mails ORDER BY id")).scalars()
        return [Mail.model_validate_json(server.parts.base.vault.open(bytes(s))) for s in sealed]


def test_it_is_for_the_author_and_nobody_else(server: Server, github: GitHub, mine: Any) -> None:
    assert server.http.get(PAGE).status_code == 303
    for login in ("tom", "olivia"):
        with sign_in(server, github, login) as browser:
            assert browser.get(PAGE).status_code == 404
            assert browser.post(f"{PAGE}/mail", data={"address": "a@b.example"}).status_code == 404
            assert browser.post(f"{PAGE}/maintainer").status_code == 404
    with sign_in(server, github, "stranger", PAGE) as browser:
        assert browser.get("/verify/acme/widgets/8").status_code == 404
        assert browser.get("/verify/acme/%00/7").status_code == 404


def test_all_ways_are_there_and_work_without_scripts(author: httpx.Client) -> None:
    page = author.get(PAGE).text
    assert "<script" not in page
    assert "&lt;i&gt;Mine&lt;/i&gt;" in page
    for words in ("Write a mail", "Get a mail", "Ask a maintainer", "Answer on the pull request"):
        assert words in page
    assert "@gate.example" in page
    assert author.get(PAGE).text == page  # the same address each time


def test_a_link_is_mailed_looked_at_and_confirmed(
    author: httpx.Client, server: Server, github: GitHub, engine: Engine
) -> None:
    answer = author.post(f"{PAGE}/mail", data={"address": "alice@corp.example"})
    assert "If that address can be used" in answer.text
    [mail] = mails(server, engine)
    link = mail.text.split(server.url)[1].split()[0]
    assert "Yes, confirm it" in author.get(link).text
    assert "Yes, confirm it" in author.get(link).text  # a scanner that opens it changes nothing
    with sign_in(server, github, "tom") as other:
        assert other.post(link).status_code == 409
    assert "Confirmed" in author.post(link).text
    assert author.post(link).status_code == 409
    page = author.get(PAGE).text
    assert "Nothing more is asked" in page
    mine = author.get("/mine").text
    assert "an address that you confirmed (own domain)" in mine
    assert "alice" not in mine
    author.post("/mine/proofs/erase")
    assert "Nothing so far" in author.get("/mine").text


def test_what_became_of_the_mail_is_told(
    author: httpx.Client, server: Server, engine: Engine
) -> None:
    def page(change: str) -> str:
        with engine.begin() as tx:
            tx.execute(text(f"UPDATE mails SET {change}"))
        return author.get(PAGE).text

    assert "The code from the mail" not in author.get(PAGE).text
    author.post(f"{PAGE}/mail", data={"address": "alice@corp.example"})
    # Also for who comes back later, without the form's answer in the address.
    for words in ("a mail is on its way", "The code from the mail"):
        assert words in page("failure = NULL")
    held = page("held_until = '2099-01-01T00:00Z'")
    assert "waits until 2099-01-01 00:00 UTC" in held
    assert "on its way" not in held
    for failure in ("bounced", "refused"):
        assert "The last mail came back" in page(f"failure = '{failure}'")
    assert "could not be sent" in page("failure = 'given up'")
    with engine.begin() as tx:
        tx.execute(text('UPDATE repositories SET policy = \'{"language": "zh-CN"}\''))
    assert "上一封邮件未能发出" in author.get(PAGE).text
    assert "上一封邮件被退回" in page("failure = 'bounced'")
    # What is older than its link says nothing.
    old = "'2020-01-01'"
    gone = page(f"created_at = {old}, sent_at = {old}, held_until = {old}")
    assert "上一封邮件" not in gone


def test_nobody_sees_whether_an_address_is_known(
    author: httpx.Client, server: Server, engine: Engine
) -> None:
    """One that proves another account, or that got as many mails as it may, looks like any other."""

    def asked(address: str) -> tuple[object, ...]:
        answer = author.post(f"{PAGE}/mail", data={"address": address}, follow_redirects=False)
        page = author.get(answer.headers["location"]).text
        return answer.status_code, answer.headers["location"], page

    fresh = asked("alice@corp.example")
    keyed = server.parts.proving.keyed
    with engine.begin() as tx:
        known = {"a": keyed("proof address", "bob@corp.example"), "d": keyed("proof domain", "x")}
        tx.execute(
            text(
                "INSERT INTO proofs (account_id, installation_id, way, tier, address_hash,"
                " domain_hash, at, until) VALUES (1, 1, 'link', 'own', :a, :d, now(), '2099-01-01')"
            ),
            known,
        )
        full = keyed("link to address", "carol@corp.example")
        tx.execute(
            text("INSERT INTO proof_tries (whose, at) SELECT :w, now() FROM generate_series(1, 9)"),
            {"w": full},
        )
    assert asked("bob@corp.example") == fresh
    assert asked("carol@corp.example") == fresh
    with engine.connect() as tx:
        muted = tx.execute(text("SELECT muted FROM mails ORDER BY id")).scalars().all()
    assert muted == [False, False, True]


def test_limits_are_told_and_count_networks_behind_named_proxies(
    gate: Any, github: GitHub, mine: Any, engine: Engine
) -> None:
    server = gate(
        smtp_url="smtp://127.0.0.1:9", mail_from="gate@gate.example", trusted_proxies="127.0.0.1"
    )
    network = server.parts.proving.keyed("link from network", "203.0.113.7")
    with engine.begin() as tx:
        tx.execute(
            text(
                "INSERT INTO proof_tries (whose, at) SELECT :w, now() FROM generate_series(1, 20)"
            ),
            {"w": network},
        )
    form = {"address": "alice@corp.example"}
    with sign_in(server, github, "stranger", PAGE) as browser:
        late = browser.post(
            f"{PAGE}/mail", data=form, headers={"x-forwarded-for": "6.6.6.6, 203.0.113.7"}
        )
        assert late.status_code == 422
        assert "Many mails were asked for by you, or from where you are" in late.text
        assert "choose another way" in late.text
        other = browser.post(f"{PAGE}/mail", data=form, headers={"x-forwarded-for": "203.0.113.8"})
        assert other.status_code == 200


def test_the_domain_is_shown_where_the_repository_asks_for_it(
    author: httpx.Client, server: Server, github: GitHub, engine: Engine
) -> None:
    assert "the domain behind the @" not in author.get(PAGE).text
    with engine.begin() as tx:
        asks = text('UPDATE repositories SET policy = \'{"proofs": {"domain_days": 9}}\'')
        tx.execute(asks)
    assert "the domain behind the @, never the address, for 9 days" in author.get(PAGE).text
    author.post(f"{PAGE}/mail", data={"address": "alice@lab.corp.example"})
    [mail] = mails(server, engine)
    author.post(mail.text.split(server.url)[1].split()[0])
    assert "<code>corp.example</code>" in author.get("/mine").text
    with sign_in(server, github, "olivia") as maintainer:
        page = maintainer.get("/pull/acme/widgets/7").text
        assert "<code>corp.example</code> (own domain, shown until" in page
        assert "alice" not in page
        with engine.begin() as tx:
            tx.execute(text("UPDATE repositories SET policy = NULL"))
        assert "corp.example" not in maintainer.get("/pull/acme/widgets/7").text


def test_a_code_does_as_well(author: httpx.Client, server: Server, engine: Engine) -> None:
    author.post(f"{PAGE}/mail", data={"address": "alice@corp.example"})
    [mail] = mails(server, engine)
    code = next(word for word in mail.text.split() if len(word) == 8 and word.isdecimal())
    assert author.post(f"{PAGE}/code", data={"code": "11111111"}).status_code == 409
    assert "Nothing more is asked" in author.post(f"{PAGE}/code", data={"code": code}).text


@pytest.mark.parametrize(
    "address", ["nobody", "x@mailinator.com", "a@b.example\r\nBcc: c@d.example"]
)
def test_what_is_no_address_is_told_and_mails_nobody(
    author: httpx.Client, server: Server, engine: Engine, address: str
) -> None:
    assert author.post(f"{PAGE}/mail", data={"address": address}).status_code == 422
    assert mails(server, engine) == []


def test_a_maintainer_is_asked_once(author: httpx.Client, engine: Engine) -> None:
    assert "A maintainer is asked." in author.post(f"{PAGE}/maintainer", data={"words": "me"}).text
    assert author.post(f"{PAGE}/maintainer").status_code == 409
    with engine.connect() as tx:
        assert tx.execute(text("SELECT words FROM appeals")).scalars().all() == ["me"]


def test_the_page_speaks_the_repositorys_language(
    author: httpx.Client, decided: Decided, mine: Any
) -> None:
    with decided.database.begin() as tx:
        tx.execute(text('UPDATE repositories SET policy = \'{"language": "zh-CN"}\''))
    page = author.get(PAGE).text
    assert 'lang="zh-CN"' in page
    assert "Write a mail" not in page


def test_a_mail_server_hands_mails_in_over_http(server: Server, engine: Engine) -> None:
    raw = written(to="x@gate.example")
    assert server.http.post("/webhooks/mail", content=raw).status_code == 401
    wrong = {**HOOK, "authorization": "Bearer another"}
    assert server.http.post("/webhooks/mail", content=raw, headers=wrong).status_code == 401
    answer = server.http.post("/webhooks/mail", content=raw, headers=HOOK)
    assert (answer.status_code, answer.json()) == (202, {"status": "taken"})
    broken = server.http.post("/webhooks/mail", content=b"\x00\xff", headers=HOOK)
    assert (broken.status_code, broken.json()) == (202, {"status": "taken"})
    huge = server.http.post("/webhooks/mail", content=b"x" * 6_000_000, headers=HOOK)
    assert huge.status_code == 413
    with engine.connect() as tx:
        outcomes = tx.execute(text("SELECT outcome FROM letters")).scalars().all()
    assert "refused: it is a bounce or from a machine's address" in outcomes


def test_without_mail_there_are_two_ways(gate: Any, github: GitHub, mine: Any) -> None:
    server = gate()
    with sign_in(server, github, "stranger", PAGE) as browser:
        page = browser.get(PAGE).text
        assert "Get a mail" not in page
        assert "Write a mail" not in page
        assert "Ask a maintainer" in page
        asked = browser.post(f"{PAGE}/mail", data={"address": "alice@corp.example"})
        assert asked.status_code == 409
    assert server.http.post("/webhooks/mail", content=b"x", headers=HOOK).status_code == 404


def test_a_domain_that_takes_no_mail_is_told_plainly(
    gate: Any, github: GitHub, mine: Any, engine: Engine
) -> None:
    with Names(others={("corp.example", "MX"): ["10 mx.corp.example."]}) as names:
        server = gate(
            smtp_url="smtp://127.0.0.1:9",
            mail_from="gate@gate.example",
            mail_check_domain=True,
            name_server=f"127.0.0.1:{names.port}",
        )
        with sign_in(server, github, "stranger", PAGE) as author:
            answer = author.post(f"{PAGE}/mail", data={"address": "alice@crop.example"})
            assert answer.status_code == 422
            assert "crop.example takes no mail" in answer.text
            assert mails(server, engine) == []
            author.post(f"{PAGE}/mail", data={"address": "alice@corp.example"})
            assert len(mails(server, engine)) == 1


def test_it_says_where_it_stands_and_what_was_asked(
    author: httpx.Client, decided: Decided, mine: Any
) -> None:
    assert "Its author is asked nothing." in author.get(PAGE).text
    with decided.database.begin() as tx:
        row = cases.get(tx, mine.id, 7)
        assert row is not None
        probe = Probe(kind="added", sentence=say("Why **{name}**?", name="<b>"), names=("<b>",))
        asked = Notice(kind="ask_comment", body="", grace_hours=24, probe=probe)
        now = datetime.now(UTC)
        challenges.asked(tx, row.case.id, asked, Receipt(id=1, at=now), now, now)
    page = author.get(PAGE).text
    assert f"has until {now + timedelta(hours=24):%Y-%m-%d %H:%M} (UTC) to answer" in page
    assert "Why &lt;b&gt;?" in page
