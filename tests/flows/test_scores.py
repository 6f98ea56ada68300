"""What the score rests on in life: public activity, and what came of earlier scores."""

from datetime import timedelta
from typing import Any

import pytest

OBSERVE = "version: 1\nmode: label\n"


def _score(gate: Any, number: int) -> dict[str, Any]:
    rows = gate.sql(
        "SELECT d.decision->'score' AS score FROM decisions d JOIN cases c ON c.id = d.case_id "
        "WHERE c.number = :n ORDER BY d.version DESC LIMIT 1",
        n=number,
    )
    return dict(rows[0]["score"])


def _signals(gate: Any, number: int) -> dict[str, dict[str, Any]]:
    return {s["name"]: s for s in _score(gate, number)["signals"]}


def _busy(gate: Any, login: str, repositories: int = 15, each: int = 2) -> None:
    """Pull requests all over within an hour."""
    user, at = gate.world.users[login], gate.clock() - timedelta(hours=2)
    for n in range(repositories * each):
        where = f"others/project-{n % repositories}"
        moment = at + timedelta(minutes=2 * n)
        user.elsewhere.append(("PullRequestEvent", "opened", where, moment))


def _asked(gate: Any) -> int:
    return sum(r.path.endswith("/events/public") for r in gate.github.requests)


def test_what_an_account_does_elsewhere_is_a_part_of_its_score(gate: Any) -> None:
    gate.policy(OBSERVE)
    gate.world.add_user("busy")
    _busy(gate, "busy")
    first = gate.world.open_pull(by="busy").number
    gate.settle()
    assert _signals(gate, first)["account"]["value"] == "automation"
    # One part alone flags nobody, and a second pull request asks GitHub no second time.
    assert _score(gate, first)["low"] < 0.5
    gate.clock.pass_(hours=1)
    gate.world.open_pull(by="busy")
    gate.settle()
    assert _asked(gate) == 1
    gate.clock.pass_(hours=24)
    gate.sweep.forget()
    assert gate.sql("SELECT account_id FROM account_activity") == []


def test_a_quiet_account_is_unknown_and_the_team_is_not_looked_up(gate: Any) -> None:
    gate.policy(OBSERVE)
    quiet = gate.world.open_pull(by="stranger").number
    gate.settle()
    assert "account" not in _signals(gate, quiet)
    before = _asked(gate)
    gate.world.open_pull(by="wendy")
    gate.world.merge_pull(quiet, by="wendy")
    gate.settle()
    gate.clock.pass_(days=2)
    gate.world.open_pull(by="stranger")
    gate.settle()
    assert _asked(gate) == before


@pytest.mark.parametrize("status", [500, 403])
def test_activity_that_cannot_be_read_holds_up_nothing(gate: Any, status: int) -> None:
    gate.policy(OBSERVE)
    gate.world.add_user("busy")
    _busy(gate, "busy")
    gate.github.fault("status", status=status, method="GET", path="/events/public", times=99)
    number = gate.world.open_pull(by="busy").number
    gate.settle()
    assert gate.state(number) == "clear"
    assert "account" not in _signals(gate, number)


def _ended(gate: Any, count: int, *, answers: bool) -> None:
    for n in range(count):
        login = f"author-{len(gate.world.users)}"
        gate.world.add_user(login)
        number = gate.world.open_pull(by=login, title=f"Change {n} of {login}").number
        gate.settle()
        gate.world.comment(number, "What is this for?", by="wendy")
        gate.settle()
        if answers:
            gate.clock.pass_(minutes=30)
            gate.world.comment(number, "For the tests.", by=login)
        gate.world.close_pull(number, by="wendy")
        gate.settle()


def _learn(gate: Any) -> None:
    gate.reconcile.run(gate.world.installations[0].id)
    gate.settle()


@pytest.mark.parametrize("answers", [True, False])
def test_a_repository_learns_from_what_came_of_its_scores(gate: Any, answers: bool) -> None:
    gate.policy(OBSERVE)
    _ended(gate, 6, answers=answers)
    _learn(gate)
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    here = _signals(gate, number)["here"]
    assert here["value"] == "6"
    assert (here["weight"] < 0) is answers
    score = _score(gate, number)
    assert score["unknown"]  # nothing is known of this author


def test_a_maintainers_word_goes_before_what_was_seen(gate: Any) -> None:
    gate.policy("version: 1\nmode: close\nrules: {cap: {mode: close, open: 1, grace_hours: 0}}\n")
    numbers = [gate.world.open_pull(by="stranger", title=f"T {n}").number for n in range(2)]
    gate.settle()
    assert gate.world.pull(numbers[1]).state == "closed"
    gate.world.reopen_pull(numbers[1], by="wendy")
    gate.settle()
    gate.world.add_user("other")
    denied = gate.world.open_pull(by="other").number
    gate.settle()
    gate.world.comment(denied, "/pulse deny @other", by="wendy")
    gate.settle()
    _learn(gate)
    (row,) = gate.sql("SELECT local FROM experience")
    assert (row["local"]["outcomes"], row["local"]["unattended"]) == (2, 1)


def test_what_nobody_asked_about_says_nothing(gate: Any) -> None:
    gate.policy(OBSERVE)
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    gate.world.merge_pull(number, by="wendy")
    gate.settle()
    _learn(gate)
    (row,) = gate.sql("SELECT local FROM experience")
    assert row["local"]["outcomes"] == 0


def _tier(gate: Any, number: int) -> int:
    (row,) = gate.sql("SELECT queue_tier FROM cases WHERE number = :n", n=number)
    return int(row["queue_tier"])


def test_a_word_moves_it_in_the_queue_and_disclosure_drops_the_text(gate: Any) -> None:
    gate.policy(OBSERVE)
    number = gate.world.open_pull(by="stranger", body="## Summary\n- Add a cache\n").number
    gate.world.add_user("other")
    told = gate.world.open_pull(
        by="other", body="## Summary\n- Add a cache\n\nAssisted-by: a tool\n"
    ).number
    gate.settle()
    assert _tier(gate, number) == 1
    assert "text" in _signals(gate, number)
    # What an agent's use was said of stands where its author's behaviour puts it.
    assert "text" not in _signals(gate, told)
    assert _score(gate, told)["order"] == pytest.approx(_score(gate, told)["base"], abs=1e-3)
    gate.world.comment(number, "/pulse vouch @stranger for 30d", by="wendy")
    gate.settle()
    assert _tier(gate, number) == 0
