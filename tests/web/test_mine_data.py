"""The page of what is kept: only one's own, and each button does what it says."""

from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from sqlalchemy import Engine, text

from app.core.github import Account
from app.core.privacy import CLASSES
from tests.fakes.github import GitHub
from tests.web.deciding import Decided
from tests.web.serving import Server
from tests.web.test_login import sign_in


@pytest.fixture
def server(gate) -> Server:
    return gate()


@pytest.fixture
def stranger(server: Server, github: GitHub, decided: Decided) -> Iterator[Any]:
    """Signed in, with a pull request in `acme/widgets`; another account has one too."""
    where = decided.repository("acme/widgets", id=github.world.repository().id)
    user = github.world.users["stranger"]
    decided.pull(where, 1, title="<i>Mine</i>", author=Account(id=user.id, login=user.login))
    decided.pull(where, 2, title="Theirs")
    with sign_in(server, github, "stranger") as browser:
        yield browser


def test_nobody_sees_it_without_signing_in(server: Server) -> None:
    for page in ("/mine/data", "/mine/data.json"):
        assert server.http.get(page, follow_redirects=False).status_code in {302, 303, 307}


def test_all_classes_are_listed_with_what_there_is(stranger: Any) -> None:
    page = stranger.get("/mine/data").text
    for one in CLASSES.values():
        assert one.about in unescape(page)
    assert stranger.get("/mine").text.count("/mine/data") == 1


def test_the_export_is_ones_own_alone(stranger: Any) -> None:
    answer = stranger.get("/mine/data.json")
    assert "attachment" in answer.headers["content-disposition"]
    told = answer.json()
    assert told["format"] == 1
    assert told["account"]["login"] == "stranger"
    (case,) = told["data"]["pull_requests"]["tables"]["cases"]
    assert case["snapshot"]["title"] == "<i>Mine</i>"
    assert "Theirs" not in answer.text
    assert set(told["not_here"]) == {n for n, one in CLASSES.items() if not one.shown}


def test_ones_own_words_stand_beside_it_for_maintainers(
    server: Server, github: GitHub, stranger: Any
) -> None:
    said = "I was on <b>holiday</b>\u202e."
    stranger.post("/mine/data/statement", data={"words": said})
    assert "I was on &lt;b&gt;holiday" in stranger.get("/mine/data").text
    here = f"/people/acme/widgets/{github.world.users['stranger'].id}"
    with sign_in(server, github, "tom") as tom:
        assert "<bdi>I was on &lt;b&gt;holiday&lt;/b&gt;" in tom.get(here).text
        stranger.post("/mine/data/statement", data={"words": "  "})
        assert "holiday" not in tom.get(here).text
    assert stranger.post("/mine/data/statement", data={"words": "x" * 5000}).status_code == 400


def test_erasing_wants_a_tick_and_signs_out(stranger: Any, engine: Engine) -> None:
    refused = stranger.post("/mine/data/erase")
    assert refused.status_code == 422
    assert "Tick the box" in refused.text
    assert stranger.get("/mine/data").status_code == 200
    stranger.post("/mine/data/erase", data={"sure": "yes"})
    with engine.connect() as tx:
        assert tx.execute(text("SELECT count(*) FROM sessions")).scalar_one() == 0
        assert tx.execute(text("SELECT count(*) FROM erasures")).scalar_one() == 1
    assert stranger.get("/mine/data", follow_redirects=False).status_code in {302, 303, 307}


def test_another_site_cannot_erase(stranger: Any) -> None:
    there = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    answer = stranger.post("/mine/data/erase", data={"sure": "yes"}, headers=there)
    assert answer.status_code == 403
