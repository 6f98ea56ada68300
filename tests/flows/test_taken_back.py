"""What the gate did is taken back whole, whatever came between: label, question, words."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.flows.test_commands import CLOSE, asked, closed, labels, later, reactions, say, status

__all__ = ["asked", "closed"]

NO_LONGER = "no longer counts"


def bodies(gate: Any, number: int) -> str:
    return "\n---\n".join(c.body for c in gate.world.pull(number).comments)


@pytest.mark.parametrize("words", ["adopt", "exempt", "undo", "vouch @stranger"])
@pytest.mark.parametrize("between", ["hold", None])
def test_label_and_question_are_taken_back_also_after_a_hold(
    gate: Any, asked: int, words: str, between: str | None
) -> None:
    assert "it is closed for now" in bodies(gate, asked)
    if between:
        say(gate, asked, f"/pulse {between}")
        assert labels(gate, asked) == ["needs-verification"]
        # Whoever reads the question is not told that a clock runs.
        assert "it is closed for now" not in bodies(gate, asked)
    say(gate, asked, f"/pulse {words}")
    if words.startswith("vouch") and between:
        # A word on the account is none on what a maintainer holds.
        assert gate.state(asked) == "left_alone"
        return
    assert "needs-verification" not in labels(gate, asked)
    assert "it is closed for now" not in bodies(gate, asked)
    assert NO_LONGER in bodies(gate, asked)


def test_who_is_asked_again_gets_a_question_with_the_whole_window(gate: Any, asked: int) -> None:
    later(gate, hours=20)
    say(gate, asked, "/pulse hold")
    say(gate, asked, "/pulse verify")
    assert bodies(gate, asked).count("it is closed for now") == 1
    assert labels(gate, asked) == ["needs-verification"]
    later(gate, hours=20)
    assert gate.world.pull(asked).state == "open"
    later(gate, hours=5)
    assert gate.world.pull(asked).state == "closed"


def test_an_ordered_close_leaves_no_question_that_promises_something_else(
    gate: Any, asked: int
) -> None:
    say(gate, asked, "/pulse close")
    assert gate.world.pull(asked).state == "closed"
    assert NO_LONGER in bodies(gate, asked)
    say(gate, asked, "/pulse status", by="stranger")
    assert "/pulse appeal" in status(gate, asked)
    assert "have it opened again by a comment" not in status(gate, asked)


def test_the_status_of_a_denied_authors_promises_nothing(gate: Any, asked: int) -> None:
    say(gate, asked, "/pulse deny @stranger for 1d")
    assert gate.world.pull(asked).state == "closed"
    say(gate, asked, "/pulse status", by="stranger")
    assert "/pulse appeal" in status(gate, asked)
    assert "have it opened again by a comment" not in status(gate, asked)


def test_a_denied_author_opens_nothing_again_by_himself(gate: Any, closed: int) -> None:
    other = gate.world.open_pull(by="stranger").number
    gate.settle()
    say(gate, other, "/pulse deny @stranger for 1d")
    refused = say(gate, closed, "/pulse reopen", by="stranger")
    assert reactions(refused) == ["confused"]
    assert gate.world.pull(closed).state == "closed"


def test_a_word_after_it_was_opened_again_counts(gate: Any, closed: int) -> None:
    say(gate, closed, "/pulse reopen", by="stranger")
    assert (gate.world.pull(closed).state, gate.state(closed)) == ("open", "reopened")
    say(gate, closed, "/pulse verify")
    # Asked, and not closed a second time for its burst.
    assert (gate.world.pull(closed).state, gate.state(closed)) == ("open", "flagged")
    assert "Is somebody there?" in bodies(gate, closed)
    say(gate, closed, "/pulse deny @stranger")
    assert gate.world.pull(closed).state == "closed"
    # And a maintainer who opens it by hand has the last word.
    gate.clock.pass_(seconds=5)
    gate.world.reopen_pull(closed, by="tom")
    gate.settle()
    assert (gate.world.pull(closed).state, gate.state(closed)) == ("open", "left_alone")


@pytest.mark.parametrize("words", ["adopt", "hold"])
def test_what_a_person_closed_is_opened_by_a_person_first(
    gate: Any, asked: int, words: str
) -> None:
    gate.world.close_pull(asked, by="mark")
    gate.settle()
    comment = say(gate, asked, f"/pulse {words}")
    assert reactions(comment) == ["confused"]
    assert "Open it first" in status(gate, asked)


@pytest.mark.parametrize("words", ["undo", "exempt"])
def test_what_the_gate_did_is_taken_back_on_what_a_person_closed_too(
    gate: Any, asked: int, words: str
) -> None:
    gate.world.close_pull(asked, by="mark")
    gate.settle()
    comment = say(gate, asked, f"/pulse {words}")
    assert reactions(comment) == ["+1"]
    assert labels(gate, asked) == []
    assert gate.world.pull(asked).state == "closed"


def test_a_maintainers_close_is_done_where_no_comment_can_be_written(gate: Any, asked: int) -> None:
    gate.world.lock_pull(asked, by="tom")
    gate.settle()
    before = len(gate.world.pull(asked).comments)
    say(gate, asked, "/pulse close")
    pull = gate.world.pull(asked)
    assert pull.state == "closed"
    assert len(pull.comments) == before + 1  # the command


def test_of_several_orders_in_one_comment_the_last_one_counts(gate: Any, asked: int) -> None:
    say(gate, asked, "/pulse hold\n/pulse close\n/pulse exempt\n/pulse status")
    assert gate.state(asked) == "exempt"
    said = status(gate, asked)
    assert "only the last one counts" in said
    assert "No rule applies to this pull request any more" in said
    assert "holds it" not in said
    assert gate.sql("SELECT act FROM hands") == [{"act": "exempted"}]


def test_the_sixth_command_of_a_comment_is_not_silently_left_out(gate: Any, asked: int) -> None:
    lines = [f"/pulse verify for {n}d" for n in range(1, 7)]
    say(gate, asked, "\n".join(lines))
    assert "only the first 5 are read" in status(gate, asked)


def test_status_names_the_time_and_explain_what_its_author_may_read(gate: Any, asked: int) -> None:
    ends = gate.clock() + timedelta(hours=24)
    say(gate, asked, "/pulse status", by="stranger")
    assert f"It is closed on {ends:%Y-%m-%d %H:%M} (UTC)" not in status(gate, asked)
    # The author's own word stopped the clock; a maintainer's does not.
    gate.world.add_user("mia")
    other = gate.world.open_pull(by="mia", files=("src/a.py",)).number
    gate.settle()
    say(gate, other, "/pulse status")
    (found,) = gate.sql(
        "SELECT challenge->>'due_at' AS at FROM challenges JOIN cases ON case_id = cases.id"
        " WHERE number = :n",
        n=other,
    )
    ends = datetime.fromisoformat(found["at"])
    assert f"It is closed on {ends:%Y-%m-%d %H:%M} (UTC)" in status(gate, other)
    say(gate, other, "/pulse explain")
    assert "/pull/acme/widgets/" in status(gate, other)
    say(gate, asked, "/pulse explain", by="stranger")
    assert "/mine)" in status(gate, asked)
    assert "/pull/acme/widgets/" not in status(gate, asked)


def test_an_authors_own_command_lifts_no_budget(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(CLOSE + "budgets: {github_requests: {newcomer: 1}}\n")
    numbers = [gate.world.open_pull(by="stranger", files=("src/a.py",)).number for _ in range(2)]
    gate.settle()
    waiting = next(n for n in numbers if gate.state(n) == "new")
    say(gate, waiting, "/pulse status", by="stranger")
    assert gate.state(waiting) == "new"
    say(gate, waiting, "/pulse status")
    assert gate.state(waiting) != "new"


def test_a_draft_that_becomes_ready_takes_the_last_place(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(
        "version: 1\nmode: close\n"
        "rules: {burst: {mode: off}, cap: {mode: close, open: 2, drafts: false, grace_hours: 0}}\n"
    )
    draft = gate.world.open_pull(by="stranger", draft=True).number
    stood = []
    for _ in range(2):
        gate.clock.pass_(minutes=20)
        stood.append(gate.world.open_pull(by="stranger").number)
        gate.settle()
    gate.clock.pass_(minutes=20)
    gate.world.set_draft(draft, False, by="stranger")
    gate.settle()
    assert [gate.world.pull(n).state for n in stood] == ["open", "open"]
    assert gate.world.pull(draft).state == "closed"
    # As soon as one of them ends there is a place.
    gate.clock.pass_(minutes=20)
    gate.world.close_pull(stood[0], by="stranger")
    gate.settle()
    assert gate.world.pull(draft).state == "open"
    # And whoever opens again what they closed comes last.
    gate.clock.pass_(minutes=20)
    gate.world.reopen_pull(stood[0], by="stranger")
    gate.settle()
    assert gate.world.pull(stood[0]).state == "closed"
    assert [gate.world.pull(n).state for n in (draft, stood[1])] == ["open", "open"]


def test_a_reopen_that_github_refused_can_be_asked_for_again(gate: Any, closed: int) -> None:
    """The branch was gone, and is there again."""
    gate.github.fault("status", method="PATCH", path=f"/pulls/{closed}$", times=None, status=422)
    say(gate, closed, "/pulse reopen", by="stranger")
    assert gate.world.pull(closed).state == "closed"
    gate.github.faults.clear()
    say(gate, closed, "/pulse reopen", by="stranger")
    assert gate.world.pull(closed).state == "open"


def test_a_rule_that_is_tried_out_is_told_to_nobody_who_asks(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy("version: 1\nmode: close\nrules: {template: {mode: observe, sections: [What]}}\n")
    number = gate.world.open_pull(by="stranger", body="nothing").number
    gate.settle()
    say(gate, number, "/pulse status", by="stranger")
    assert "What" not in status(gate, number)
    assert "needs-verification" not in status(gate, number)


@pytest.mark.parametrize("order", ["/pulse exempt", "/pulse hold"])
def test_an_old_order_to_close_is_no_word_on_what_came_after(gate: Any, order: str) -> None:
    gate.world.clock = gate.clock
    rules = "rules: {asked_for: {mode: close}}\n"
    gate.policy("version: 1\nmode: close\nladder: {grace_hours: 24}\n" + rules)
    number = gate.world.open_pull(by="stranger", files=("src/a.py",)).number
    gate.settle()
    say(gate, number, "/pulse close")
    assert gate.world.pull(number).state == "closed"
    gate.clock.pass_(seconds=5)
    gate.world.reopen_pull(number, by="tom")
    gate.settle()
    say(gate, number, order)
    gate.clock.pass_(seconds=5)
    say(gate, number, "/pulse verify")
    later(gate, hours=25)
    assert gate.world.pull(number).state == "closed"
    say(gate, number, "/pulse reopen", by="stranger")
    assert gate.world.pull(number).state == "open"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("/pulse close", "/pulse exempt"),
        ("/pulse close", "/pulse hold"),
        ("/pulse deny @stranger", "/pulse vouch @stranger"),
    ],
)
def test_a_word_that_is_delivered_late_does_not_come_after_a_later_one(
    gate: Any, asked: int, first: str, then: str
) -> None:
    gate.world.comment(asked, first, by="tom")
    gate.clock.pass_(seconds=60)
    gate.world.comment(asked, then, by="tom")
    early, late = gate.world.hooks.deliveries[gate.taken :]
    gate.taken = len(gate.world.hooks.deliveries)
    gate.take_in(late)
    gate.settle()
    gate.clock.pass_(minutes=5)
    gate.take_in(early)  # redelivered
    gate.settle()
    assert gate.world.pull(asked).state == "open"
