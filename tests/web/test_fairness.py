"""Pages of due process: who sees them, who may act, and what a button leaves behind."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, text

from app.core.appeals import opened
from app.core.brakes import Trip
from app.core.campaigns import CampaignOrder
from app.core.due_process import Appeals
from app.core.effects import React
from app.core.facts import Trust
from app.core.github import Account
from app.core.modes import Mode
from app.db import account_notes, appeals, brakes, campaigns, outbox, rule_acts, trust
from tests.fakes.github import GitHub
from tests.web.deciding import NOON, Decided
from tests.web.serving import Server
from tests.web.test_login import SAME, sign_in

ZEPHYR = 4242
OLIVIA = Account(id=1, login="olivia")


@pytest.fixture
def server(gate) -> Server:
    return gate()


@pytest.fixture
def widgets(decided: Decided, github: GitHub) -> Any:
    """A burst of three that was closed, as one campaign, in `acme/widgets` of the stand-in."""
    where = decided.repository("acme/widgets", id=github.world.repository().id)
    decided.flood(where, 3, first=100, mode=Mode.CLOSE)
    with decided.database.begin() as tx:
        rows = tx.execute(text("SELECT id, number FROM cases ORDER BY number")).all()
        ids = [row.id for row in rows]
        campaigns.join(tx, where.id, None, (), ids, "burst")
        for id_ in ids:
            tx.execute(
                text(
                    "INSERT INTO rule_acts (case_id, rule, repository_id, at, rung, done)"
                    " VALUES (:id, 'burst', :here, now(), 4, 4)"
                ),
                {"id": id_, "here": where.id},
            )
        tx.execute(text("UPDATE cases SET closed_at = now(), pull_state = 'closed'"))
    return where


@pytest.fixture
def tom(server: Server, github: GitHub, widgets: Any) -> Iterator[Any]:
    with sign_in(server, github, "tom") as browser:
        yield browser


def rows(engine: Engine, query: str) -> list[Any]:
    with engine.connect() as tx:
        return list(tx.execute(text(query)).mappings())


PAGES = ("/fairness/acme/widgets", "/reports/acme/widgets", "/texts/acme/widgets")


def test_who_has_no_rights_sees_none_of_it(server: Server, github: GitHub, widgets: Any) -> None:
    with sign_in(server, github, "stranger") as browser:
        for page in (*PAGES, "/campaigns/1", f"/people/acme/widgets/{ZEPHYR}"):
            assert browser.get(page).status_code == 404, page
        for page in ("/fairness/acme/widgets/undo/preview", "/campaigns/1/preview"):
            answer = browser.post(page, data={"order": "close"})
            assert answer.status_code in {404, 422}, page
        answer = browser.post("/campaigns/1/decide", data={"order": "close"})
        assert answer.status_code == 404


def test_why_is_for_everybody_where_the_repository_is_public(
    server: Server, github: GitHub, decided: Decided, widgets: Any
) -> None:
    page = server.http.get("/why/acme/widgets")
    assert page.status_code == 200
    assert "Why was I asked?" in page.text
    decided.repository("acme/secret", private=True)
    assert server.http.get("/why/acme/secret").status_code == 404
    assert server.http.get("/why/acme/nothing").status_code == 404
    assert server.http.get("/why/acme/%00").status_code == 404


def test_the_page_lists_what_there_is(
    tom: Any, decided: Decided, widgets: Any, engine: Engine
) -> None:
    with decided.database.begin() as tx:
        case_id = rows(engine, "SELECT id FROM cases ORDER BY id")[0]["id"]
        appeals.add(
            tx,
            case_id,
            widgets.id,
            opened(Appeals(), None, NOON),
            "<b>mine</b>",
        )
        brakes.put(tx, widgets.id, "burst", Trip(cause="overturned", of=3, out_of=9), NOON)
    page = tom.get("/fairness/acme/widgets").text
    assert "&lt;b&gt;mine&lt;/b&gt;" in page
    assert "<strong>overdue</strong>" in page
    assert "People overturned 3 of the 9 acts of the rule burst." in page
    assert "Improve file 0" in page
    assert "lacks the optional grant" in page
    assert "it stopped by itself" in tom.get("/").text


def test_a_campaign_is_previewed_decided_and_taken_back(
    tom: Any, widgets: Any, engine: Engine
) -> None:
    [campaign] = rows(engine, "SELECT id FROM campaigns")
    own = f"/campaigns/{campaign['id']}"
    page = tom.get(own).text
    assert "3 pull requests by 1 account" in page
    for order in CampaignOrder.__args__:
        shown = tom.post(f"{own}/preview", data={"order": order}).text
        assert "Nothing is done yet" in shown
    assert rows(engine, "SELECT 1 FROM campaign_words") == []
    tom.post(f"{own}/decide", data={"order": "close", "reason": "a flood\nof them"})
    [word] = rows(engine, "SELECT word, reason, by_login, ended_at FROM campaign_words")
    assert (word["word"], word["reason"], word["by_login"]) == ("close", "a flood of them", "tom")
    assert len(rows(engine, "SELECT 1 FROM inbox WHERE source = 'again'")) == 3
    assert "decided by" in tom.get(own).text
    tom.post(f"{own}/take-back")
    assert rows(engine, "SELECT ended_by_login FROM campaign_words")[0]["ended_by_login"] == "tom"
    assert tom.post(f"{own}/decide", data={"order": "burn"}).status_code == 400
    assert tom.get("/campaigns/999").status_code == 404


def test_an_undo_is_shown_before_it_is_done_and_then_how_far_it_came(
    tom: Any, widgets: Any, engine: Engine
) -> None:
    shown = tom.post(
        "/fairness/acme/widgets/undo/preview", data={"rule": "burst", "hours": 24}
    ).text
    assert "3 pull requests are put back" in shown
    assert rows(engine, "SELECT 1 FROM undos") == []
    until = shown.split('name="until" value="')[1].split('"')[0]
    answer = tom.post(
        "/fairness/acme/widgets/undo", data={"rule": "burst", "hours": 24, "until": until}
    )
    assert "3 of 3 still wait" in answer.text
    assert len(rows(engine, "SELECT 1 FROM hands WHERE act = 'undone'")) == 3
    again = tom.post("/fairness/acme/widgets/undo/preview", data={"rule": "", "hours": 24}).text
    assert "nothing to put back" in again
    tom.post(f"{answer.url.path}/take-back")
    assert len(rows(engine, "SELECT 1 FROM hands WHERE act = 'released'")) == 3
    old = {"rule": "", "hours": 24, "until": "2020-01-01T00:00:00+00:00"}
    assert tom.post("/fairness/acme/widgets/undo", data=old).status_code == 409
    wrong = {"rule": "no_rule", "hours": 24}
    assert tom.post("/fairness/acme/widgets/undo/preview", data=wrong).status_code == 422


def test_settings_need_more_than_triage(
    server: Server, github: GitHub, decided: Decided, widgets: Any, engine: Engine
) -> None:
    with decided.database.begin() as tx:
        brakes.put(tx, widgets.id, None, Trip(cause="closes", of=9, out_of=9), NOON)
    [brake] = rows(engine, "SELECT id FROM brakes")
    on = {"control": "pull_cap", "on": "on"}
    with sign_in(server, github, "tom") as browser:
        answer = browser.post("/fairness/acme/widgets/go-on", data={"brake": brake["id"]})
        assert answer.status_code == 403
        assert "needs write permission" in answer.text
        assert browser.post("/fairness/acme/widgets/control", data=on).status_code == 403
    with sign_in(server, github, "olivia") as browser:
        answer = browser.post("/fairness/acme/widgets/control", data=on)
        assert answer.status_code == 409  # without the grant
        with decided.database.begin() as tx:
            tx.execute(
                text('UPDATE installations SET permissions = \'{"administration": "write"}\'')
            )
        browser.post("/fairness/acme/widgets/control", data=on)
        browser.post("/fairness/acme/widgets/go-on", data={"brake": brake["id"]})
    [effect] = rows(engine, "SELECT effect FROM outbox WHERE kind = 'control'")
    assert effect["effect"]["control"] == "pull_cap"
    assert rows(engine, "SELECT ended_by_login FROM brakes")[0]["ended_by_login"] == "olivia"


def test_notes_are_private_and_a_word_can_be_taken_back(
    tom: Any, decided: Decided, widgets: Any, engine: Engine
) -> None:
    own = f"/people/acme/widgets/{ZEPHYR}"
    word = Trust(kind="denied", by_login="olivia", at=NOON, reason="a flood")
    with decided.database.begin() as tx:
        trust.put(tx, widgets.id, Account(id=ZEPHYR, login="zephyr"), 1, word)
    tom.post(f"{own}/notes", data={"words": "wrote to me <i>nicely</i>"})
    page = tom.get(own).text
    assert "wrote to me &lt;i&gt;nicely&lt;/i&gt;" in page
    assert "denied" in page
    tom.post(f"{own}/end")
    assert "No word holds" in tom.get(own).text
    with decided.database.begin() as tx:
        [note] = account_notes.of_account(tx, widgets.id, ZEPHYR)
    tom.post(f"{own}/notes/{note.id}/remove")
    assert "nicely" not in tom.get(own).text
    assert tom.get("/people/acme/widgets/77").status_code == 404
    entries = rows(engine, "SELECT act, detail FROM audit WHERE act = 'trust.ended'")
    assert len(entries) == 1
    assert str(ZEPHYR) not in str(entries[0]["detail"])


def test_whoever_is_denied_reads_why_and_until_when_and_nobody_else_does(
    server: Server, github: GitHub, decided: Decided, engine: Engine
) -> None:
    where = decided.repository("acme/widgets", id=github.world.repository().id)
    me = github.world.user("stranger")
    author = Account(id=me.id, login=me.login)
    decided.pull(where, 7, title="Mine", author=author, mode=Mode.CLOSE, flood=6)
    word = Trust(
        kind="denied",
        by_login="olivia",
        at=NOON,
        until=NOON + timedelta(days=9000),
        reason="a flood",
    )
    with decided.database.begin() as tx:
        trust.put(tx, where.id, author, 1, word)
        tx.execute(text("UPDATE cases SET closed_at = now(), pull_state = 'closed'"))
    with sign_in(server, github, "stranger", "/mine") as browser:
        page = browser.get("/mine").text
        assert "takes in no pull requests of yours" in page
        assert "a flood" in page
        assert "until" in page
        sent = {"repository": where.id, "number": 7, "words": "I am here"}
        browser.post("/mine/appeal", data=sent)
        assert "Your appeal is open until" in browser.get("/mine").text
        assert browser.post("/mine/appeal", data=sent).status_code == 409
        other = {**sent, "number": 8}
        assert browser.post("/mine/appeal", data=other).status_code == 404
    [appeal] = rows(engine, "SELECT words FROM appeals")
    assert appeal["words"] == "I am here"
    with sign_in(server, github, "tom") as browser:
        assert "a flood" not in browser.get("/mine").text
        assert browser.post("/mine/appeal", data=sent).status_code == 404
    assert server.http.get("/mine", headers=SAME).status_code == 303


def test_nothing_can_be_done_in_a_recording(server: Server, decided: Decided) -> None:
    where = decided.repository("north/light", recorded=True)
    decided.flood(where, 2)
    assert server.http.get("/fairness/north/light").status_code == 200
    assert server.http.get("/reports/north/light").status_code == 200
    sent = {"rule": "", "hours": "24"}
    answer = server.http.post("/fairness/north/light/undo/preview", data=sent, headers=SAME)
    assert answer.status_code == 403
    assert "recording" in answer.text


def test_the_report_lists_false_alarms_one_by_one(tom: Any, widgets: Any, decided: Decided) -> None:
    with decided.database.begin() as tx:
        tx.execute(text("UPDATE cases SET merged = true WHERE number = 101"))
        rule_acts.overturn(
            tx,
            [r.id for r in tx.execute(text("SELECT id FROM cases WHERE number = 102"))],
            "tom",
            NOON,
        )
    page = tom.get("/reports/acme/widgets?days=3650").text
    assert "Improve file 1" in page
    assert "merged" in page
    assert "taken back by <bdi>tom</bdi>" in page
    assert "Improve file 0" not in page


def test_a_page_with_a_reaction_or_another_act_beside_the_decisions_is_shown(
    tom: Any, widgets: Any, decided: Decided, engine: Engine
) -> None:
    case = rows(engine, "SELECT id FROM cases WHERE number = 100")[0]["id"]
    with decided.database.begin() as tx:
        react = React(where="issue_comment", comment_id=5, content="+1")
        outbox.add_reactions(tx, case, 100, widgets, [react], NOON)
    page = tom.get("/pull/acme/widgets/100")
    assert page.status_code == 200
    assert "react" in page.text
    assert "part of a campaign" in page.text
