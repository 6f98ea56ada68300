"""The clock of a question: what stops it, what does not, and what a lost webhook would have told."""

from typing import Any

import pytest

POLICY = (
    "version: 1\nmode: close\nladder: {grace_hours: 24}\nrules: {accepted_issue: {mode: close}}\n"
)


def _later(gate: Any, **by: float) -> None:
    gate.clock.pass_(**by)
    gate.sweep.ring()
    gate.settle()


@pytest.fixture
def number(gate: Any) -> int:
    """A pull request that was asked an hour ago."""
    gate.world.clock = gate.clock
    gate.policy(POLICY)
    made = gate.world.open_pull(by="stranger", files=("src/a.py",)).number
    gate.settle()
    assert any("24 hours" in c.body for c in gate.world.pull(made).comments)
    _later(gate, hours=1)
    return int(made)


@pytest.mark.parametrize(
    "act",
    [
        lambda w, n: w.comment(n, "I am here.", by="stranger"),
        lambda w, n: w.review(n, by="stranger", state="commented", body="I am here."),
        lambda w, n: w.write_note(n, "I am here.", by="stranger"),
        lambda w, n: w.push(n, by="stranger"),
        lambda w, n: w.edit_pull(n, by="stranger", body="What it is for."),
        lambda w, n: w.set_draft(n, True, by="stranger"),
    ],
    ids=["comment", "review", "review comment", "push", "edit", "draft"],
)
def test_what_the_author_does_stops_it(gate: Any, number: int, act: Any) -> None:
    act(gate.world, number)
    gate.settle()
    _later(gate, hours=100)
    assert gate.world.pull(number).state == "open"


@pytest.mark.parametrize(
    "act",
    [
        lambda w, n: w.comment(n, "Are you there?", by="mark"),
        lambda w, n: w.review(n, by="mark", state="changes_requested", body="No."),
        lambda w, n: w.push(n, by="mark"),
        lambda w, n: w.push(n, by="mark", update=True),
        lambda w, n: w.push(n, by="stranger", update=True),
        lambda w, n: w.edit_pull(n, by="mark", title="A better title"),
        lambda w, n: w.label(n, "needs-triage", by="mark"),
        lambda w, n: w.comment(n, "Stale.", by="renovate[bot]"),
    ],
    ids=[
        "a maintainer's comment", "a maintainer's review", "a maintainer's push",
        "a maintainer updates the branch", "the author updates the branch", "a maintainer's edit",
        "another label", "a bot",
    ],
)  # fmt: skip
def test_what_nobody_or_somebody_else_does_does_not(gate: Any, number: int, act: Any) -> None:
    act(gate.world, number)
    gate.settle()
    _later(gate, hours=24)
    assert gate.world.pull(number).state == "closed"


def test_our_own_comments_and_labels_keep_nothing_alive(gate: Any, number: int) -> None:
    assert gate.world.pull(number).comments
    _later(gate, hours=24)
    assert gate.world.pull(number).state == "closed"


@pytest.mark.parametrize(
    "act",
    [
        lambda w, n: w.comment(n, "I am here.", by="stranger"),
        lambda w, n: w.review(n, by="stranger", state="commented", body="I am here."),
        lambda w, n: w.write_note(n, "I am here.", by="stranger"),
    ],
    ids=["comment", "review", "review comment"],
)
def test_a_webhook_that_was_lost_closes_nothing(gate: Any, number: int, act: Any) -> None:
    act(gate.world, number)
    gate.taken = len(gate.world.hooks.deliveries)
    _later(gate, hours=48)
    assert gate.world.pull(number).state == "open"
    assert gate.state(number) == "flagged"


def test_while_github_does_not_say_whether_somebody_spoke_nothing_is_closed(
    gate: Any, number: int
) -> None:
    gate.github.fault("status", status=500, method="GET", path="/reviews$", times=99)
    _later(gate, hours=24)
    assert gate.world.pull(number).state == "open"
    gate.github.faults.clear()
    _later(gate, hours=2)
    assert gate.world.pull(number).state == "closed"
