"""The weekly report, GitHub's controls, and trust that is shared or earned."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.core.due_process import WEEKDAYS
from app.core.effects import SetControl
from app.core.facts import Trust
from app.core.github import Account
from app.db import installations, outbox, trust
from app.flows import trusting
from tests.flows.test_commands import later, say
from tests.flows.test_due_process import BURST, OLIVIA, act, flood


def test_once_a_week_it_comes_as_a_comment(gate: Any) -> None:
    gate.world.clock = gate.clock
    issue = gate.world.open_issue(by="olivia", title="Reports of the gate")
    today = WEEKDAYS[datetime.now(UTC).weekday()]
    gate.policy(BURST + f"report: {{issue: {issue.number}, weekday: {today}}}\n")
    flood(gate, size=3)
    gate.clock.pass_(days=7)
    assert gate.sweep.report() == 1
    assert gate.sweep.report() == 0
    gate.settle()
    [comment] = issue.comments
    assert "| burst | 3 | 3 |" in comment.body
    gate.clock.pass_(days=1)
    assert gate.sweep.report() == 0
    gate.clock.pass_(days=7)  # nobody was there on the day itself
    assert gate.sweep.report() == 1
    gate.clock.pass_(days=3)
    assert gate.sweep.report() == 0


def test_without_an_issue_there_is_none(gate: Any) -> None:
    gate.policy(BURST)
    flood(gate)
    assert gate.sweep.report() == 0


def test_a_report_whose_issue_is_gone_opens_a_new_one(gate: Any) -> None:
    gate.world.clock = gate.clock
    today = WEEKDAYS[datetime.now(UTC).weekday()]
    gate.policy(BURST + f"report: {{issue: 999, weekday: {today}}}\n")
    flood(gate)
    gate.clock.pass_(days=7)
    gate.sweep.report()
    gate.settle()
    [issue] = gate.world.repository().issues.values()
    assert issue.title == "Pulsegate's weekly report"


@pytest.mark.parametrize("where", ["drop_after", "status_after"])
def test_an_issue_whose_answer_is_lost_is_opened_once(gate: Any, where: str) -> None:
    gate.world.clock = gate.clock
    gate.policy(BURST + "breaker: {closes: 3, minutes: 60}\n")
    gate.github.fault(where, status=502, method="POST", path="/issues", times=1) if (
        where == "status_after"
    ) else gate.github.fault(where, method="POST", path="/issues", times=1)
    flood(gate, size=4)
    for _ in range(3):
        later(gate, minutes=10)
    assert len(gate.world.repository().issues) == 1


@pytest.mark.parametrize(
    ("control", "seen"),
    [
        ("interaction_limit", lambda r: bool(r.limit)),
        ("collaborators_only", lambda r: r.creation_policy == "collaborators_only"),
        ("pull_cap", lambda r: r.creation_cap == 3),
    ],
)
def test_githubs_own_controls_are_put_on_and_taken_off(gate: Any, control: str, seen: Any) -> None:
    gate.world.installation.permissions["administration"] = "write"
    gate.policy(BURST)
    flood(gate, size=1)
    here = gate.world.repository()
    for on in (True, False):
        with gate.database.begin() as tx:
            standing = installations.standing(tx, here.id)
            made = outbox.add_loose(
                tx,
                key=f"control:{control}:{on}",
                repository=standing.repository,
                effect=SetControl(control=control, on=on),
                sha="",
                now=gate.clock(),
            )
        gate.bell.ring("perform", made)
        gate.settle()
        assert seen(here) is on


def test_a_word_is_shared_where_both_share(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.world.installation.repositories = None
    gate.world.add_repository("acme/gadgets")
    shared = BURST + "trust: {shared: true}\n"
    gate.policy(shared)
    gate.world.push_files({".github/pulsegate.yml": shared}, by="olivia", repo="acme/gadgets")
    number = gate.world.open_pull(by="stranger", files=("a.py",)).number
    gate.settle()
    say(gate, number, "/pulse vouch @stranger", by="tom")
    other = gate.world.open_pull(by="stranger", repo="acme/gadgets", files=("a.py",)).number
    gate.settle()
    [row] = gate.sql(
        "SELECT c.state FROM cases c JOIN repositories r ON r.id = c.repository_id"
        " WHERE r.name = 'gadgets' AND c.number = :n",
        n=other,
    )
    assert row["state"] == "exempt"
    gate.world.push_files({".github/pulsegate.yml": BURST}, by="olivia", repo="acme/gadgets")
    gate.settle()
    third = gate.world.open_pull(by="stranger", repo="acme/gadgets", files=("a.py",)).number
    gate.settle()
    [row] = gate.sql(
        "SELECT c.state FROM cases c JOIN repositories r ON r.id = c.repository_id"
        " WHERE r.name = 'gadgets' AND c.number = :n",
        n=third,
    )
    assert row["state"] != "exempt"


def test_trust_is_earned_by_merges_and_fades(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(BURST + "trust: {earned: {merged: 2, days: 30}}\n")
    for _ in range(2):
        number = gate.world.open_pull(by="stranger", files=("a.py",)).number
        gate.clock.pass_(hours=1)
        gate.world.merge_pull(number, by="olivia")
        gate.settle()
    gate.clock.pass_(days=1)
    known = gate.world.open_pull(by="stranger", files=("a.py",)).number
    gate.settle()
    assert gate.state(known) == "exempt"
    # What was earned does not outweigh a maintainer's word against it.
    gate.world.comment(known, "/pulse deny @stranger because of spam", by="olivia")
    gate.settle()
    assert gate.world.pull(known).state == "closed"
    gate.world.comment(known, "/pulse vouch @stranger for 1d", by="olivia")
    gate.settle()
    assert gate.world.pull(known).state == "open"
    gate.clock.pass_(days=40)
    late = gate.world.open_pull(by="stranger", files=("a.py",)).number
    gate.settle()
    assert gate.state(late) == "clear"


def test_a_word_from_a_list_counts_and_is_taken_back(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(BURST)
    numbers = flood(gate)
    me = gate.world.user("stranger")
    of = Account(id=me.id, login=me.login)
    word = Trust(
        kind="vouched",
        by_login="operator",
        at=gate.clock(),
        until=gate.clock() + timedelta(days=365),
    )
    act(gate, trusting.put, of, Account(id=0, login="operator"), word)
    assert [gate.world.pull(n).state for n in numbers] == ["open", "open"]
    act(gate, trusting.end, of, OLIVIA, gate.clock())
    with gate.database.begin() as tx:
        assert trust.current(tx, gate.world.repository().id, of.id, gate.clock()) is None
    assert [gate.world.pull(n).state for n in numbers] == ["open", "open"]
