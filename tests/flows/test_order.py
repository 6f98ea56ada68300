"""Deliveries come late, in any order and between our own acts; what people did still counts."""

from datetime import timedelta
from typing import Any

import pytest

CLOSE = "version: 1\nmode: close\nrules:\n  burst: {mode: close, prs: 3, minutes: 10}\n"


def _flood(gate: Any, count: int = 3) -> list[int]:
    gate.policy(CLOSE)
    return [gate.world.open_pull(by="stranger", title=f"No. {n}").number for n in range(count)]


def _work(gate: Any, task: str) -> None:
    """The bells of one kind, and what those ring for of that kind; the others wait."""
    left = []
    while gate.bell.rings:
        kind, id_ = gate.bell.rings.popleft()
        if kind == task:
            getattr(gate, task).run(id_)
        else:
            left.append((kind, id_))
    gate.bell.rings.extend(left)


def _sweep(gate: Any, times: int = 4) -> None:
    for _ in range(times):
        gate.clock.pass_(seconds=61)
        gate.sweep.ring()
        gate.settle()


def _close_comments(gate: Any, number: int) -> int:
    return sum("/pulse reopen" in c.body for c in gate.world.pull(number).comments)


@pytest.mark.parametrize("first", ["delivery", "act"])
def test_a_push_between_decision_and_act_does_not_save_a_flood(gate: Any, first: str) -> None:
    number = _flood(gate)[0]
    gate.deliver()
    _work(gate, "triage")
    gate.world.push(number)
    if first == "act":
        _work(gate, "perform")  # sees the new head, whose delivery has not come yet
        assert gate.world.pull(number).state == "open"
    gate.deliver()
    _work(gate, "triage")
    gate.settle()
    _sweep(gate)
    pull = gate.world.pull(number)
    assert pull.state == "closed"
    assert _close_comments(gate, number) == 1
    runs = [r for r in gate.world.repository().checks if r.head_sha == pull.head_sha]
    assert [r.conclusion for r in runs] == ["neutral"]


def test_a_push_after_the_comment_closes_with_that_one_comment(gate: Any) -> None:
    """The comment was written and its answer lost; then the head moves before the next attempt."""
    gate.github.fault("drop_after", method="POST", path="/comments$", skip=1)
    number = _flood(gate)[0]
    gate.deliver()
    _work(gate, "triage")
    rows = gate.sql("SELECT id FROM outbox WHERE number = :n ORDER BY id", n=number)
    gate.perform.run(rows[0]["id"])
    assert _close_comments(gate, number) == 1
    gate.world.push(number)
    gate.clock.pass_(seconds=30)
    gate.perform.run(rows[0]["id"])
    gate.settle()
    _sweep(gate)
    assert gate.world.pull(number).state == "closed"
    assert _close_comments(gate, number) == 1


def test_a_command_counts_also_before_the_delivery_of_our_own_close(gate: Any) -> None:
    number = _flood(gate)[0]
    gate.deliver()
    gate.work()
    assert gate.world.pull(number).state == "closed"
    echoes = list(gate.world.hooks.deliveries[gate.taken :])
    gate.world.comment(number, "/pulse reopen", by="stranger")
    gate.take_in(gate.world.hooks.deliveries[-1])
    gate.work()
    assert gate.world.pull(number).state == "open"
    for echo in echoes:
        gate.take_in(echo)
    gate.settle()
    _sweep(gate)
    assert gate.world.pull(number).state == "open"
    assert gate.state(number) == "reopened"


def test_a_command_between_our_comment_and_our_close(gate: Any) -> None:
    gate.github.fault("status", method="PATCH", path=r"/pulls/\d+$", status=502)
    number = _flood(gate)[0]
    gate.deliver()
    _work(gate, "triage")
    gate.perform.run(gate.sql("SELECT id FROM outbox WHERE number = :n", n=number)[0]["id"])
    assert _close_comments(gate, number) == 1
    assert gate.world.pull(number).state == "open"
    gate.world.comment(number, "/pulse reopen", by="stranger")
    gate.settle()
    _sweep(gate)
    assert gate.world.pull(number).state == "open"
    assert gate.state(number) == "reopened"


def test_a_late_reopening_from_before_does_not_hide_that_we_closed_it(gate: Any) -> None:
    number = _flood(gate, 2)[0]
    gate.settle()
    gate.world.close_pull(number, by="stranger")
    gate.settle()
    gate.world.reopen_pull(number, by="stranger")
    late = gate.world.hooks.deliveries[-1]
    gate.taken += 1
    gate.world.clock = lambda: gate.clock() + timedelta(seconds=5)
    gate.world.push(number)
    gate.world.open_pull(by="stranger")
    gate.settle()
    assert gate.world.pull(number).state == "closed"
    gate.take_in(late)
    gate.settle()
    gate.world.comment(number, "/pulse reopen", by="stranger")
    gate.settle()
    assert gate.world.pull(number).state == "open"


@pytest.mark.parametrize("backwards", [False, True])
def test_a_push_and_a_label_within_a_second_in_either_order(gate: Any, backwards: bool) -> None:
    gate.policy("version: 1\nmode: label\n")
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    still = gate.clock() + timedelta(seconds=5)
    gate.world.clock = lambda: still
    gate.world.label(number, "documentation", by="tom")
    gate.world.push(number)
    gate.deliver(order=lambda d: d[::-1] if backwards else d)
    gate.settle()
    head = gate.world.pull(number).head_sha
    assert gate.sql("SELECT snapshot->'head'->>'sha' AS sha FROM cases")[0]["sha"] == head
    assert [r.head_sha for r in gate.world.repository().checks].count(head) == 1


@pytest.mark.parametrize("backwards", [False, True])
def test_our_own_label_and_close_within_a_second_in_either_order(
    gate: Any, backwards: bool
) -> None:
    numbers = _flood(gate)
    gate.deliver()
    still = gate.clock() + timedelta(seconds=5)
    gate.world.clock = lambda: still
    gate.work()
    gate.deliver(order=lambda d: d[::-1] if backwards else d)
    gate.settle()
    rows = gate.sql("SELECT state, pull_state, closed_at FROM cases")
    assert {(r["state"], r["pull_state"]) for r in rows} == {("closed", "closed")}
    assert all(r["closed_at"] for r in rows)
    assert {gate.world.pull(n).state for n in numbers} == {"closed"}


def test_a_comment_that_comes_before_the_pull_request_does_not_hide_it(gate: Any) -> None:
    gate.policy("version: 1\nmode: label\n")
    number = gate.world.open_pull(by="stranger").number
    gate.world.clock = lambda: gate.clock() + timedelta(seconds=5)
    gate.world.comment(number, "Thanks!", by="stranger")
    opened, commented = gate.world.hooks.deliveries
    for delivery in (commented, opened):
        gate.take_in(delivery)
        gate.work()
    gate.taken = 2
    gate.settle()
    assert gate.state(number) == "clear"
    assert len(gate.world.repository().checks) == 1


def test_a_reopening_whose_answer_is_lost_is_ours(gate: Any) -> None:
    number = _flood(gate)[0]
    gate.settle()
    gate.github.fault("drop_after", method="PATCH", path=r"/pulls/\d+$")
    gate.world.comment(number, "/pulse reopen", by="stranger")
    gate.settle()
    _sweep(gate)
    row = gate.sql("SELECT closed_at, reopened_at FROM cases WHERE number = :n", n=number)[0]
    assert row["closed_at"] is None
    assert row["reopened_at"] is not None


@pytest.mark.parametrize("first", ["delivery", "act"])
def test_a_label_that_a_person_took_away_before_our_second_attempt(gate: Any, first: str) -> None:
    """It was put on, the answer was lost, and everything else went on."""
    gate.github.fault("drop_after", method="POST", path=r"/issues/1/labels$")
    number = _flood(gate)[0]
    gate.settle()
    gate.bell.rings.clear()
    rows = gate.sql("SELECT id FROM outbox WHERE number = :n AND state = 'pending'", n=number)
    gate.world.unlabel(number, "needs-verification", by="tom")
    if first == "delivery":
        gate.deliver()
        _work(gate, "triage")
    gate.clock.pass_(seconds=30)
    gate.perform.run(rows[0]["id"])
    gate.settle()
    _sweep(gate)
    pull = gate.world.pull(number)
    # Whose word on it has come before the close is carried out is not overruled by it.
    assert pull.state == ("open" if first == "delivery" else "closed")
    assert pull.labels == []


def test_a_close_by_a_person_before_our_second_attempt_to_reopen(gate: Any) -> None:
    number = _flood(gate)[0]
    gate.settle()
    gate.github.fault("drop_after", method="PATCH", path=r"/pulls/\d+$")
    gate.world.comment(number, "/pulse reopen", by="stranger")
    gate.deliver()
    gate.work()
    assert gate.world.pull(number).state == "open"
    gate.world.close_pull(number, by="mark")
    gate.clock.pass_(seconds=30)
    row = gate.sql("SELECT id FROM outbox WHERE number = :n AND kind = 'reopen'", n=number)[0]
    gate.perform.run(row["id"])
    assert gate.world.pull(number).state == "closed"
    gate.settle()
    _sweep(gate)
    assert gate.world.pull(number).state == "closed"
    assert gate.state(number) == "ended"


def test_a_push_that_comes_before_the_word_of_a_maintainers_reopening_closes_nothing(
    gate: Any,
) -> None:
    gate.policy(CLOSE)
    numbers = [gate.world.open_pull(by="stranger", title=f"Change {n}").number for n in range(5)]
    gate.deliver()
    gate.work()
    number = numbers[0]
    assert gate.world.pull(number).state == "closed"
    # Neither the word of our own close nor of her reopening has come when the push does.
    gate.taken = len(gate.world.hooks.deliveries)
    late = list(gate.world.hooks.deliveries)
    gate.world.reopen_pull(number, by="mark")
    gate.world.push(number)
    gate.take_in(gate.world.hooks.deliveries[-1])
    gate.taken = len(gate.world.hooks.deliveries)
    gate.work()
    gate.settle()
    assert gate.world.pull(number).state == "open"
    for delivery in [*late, *gate.world.hooks.deliveries]:
        gate.take_in(delivery)
    gate.settle()
    assert gate.world.pull(number).state == "open"
    assert gate.state(number) == "left_alone"


def test_an_edit_from_before_our_close_says_nothing_of_a_reopening(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = [gate.world.open_pull(by="stranger", title=f"Change {n}").number for n in range(5)]
    gate.deliver()
    gate.world.edit_pull(numbers[0], by="stranger", title="Other words")
    edit = gate.world.hooks.deliveries[-1]
    gate.taken = len(gate.world.hooks.deliveries)
    gate.work()
    assert gate.world.pull(numbers[0]).state == "closed"
    gate.taken = len(gate.world.hooks.deliveries)
    gate.take_in(edit)
    gate.work()
    assert gate.state(numbers[0]) == "closed"
    words = [c.body for c in gate.world.pull(numbers[0]).comments]
    assert not any("reopened" in body for body in words)


@pytest.mark.parametrize("hand", ["reopened", "unlabeled"])
def test_what_was_done_and_not_recorded_is_not_done_again_after_a_persons_hand(
    gate: Any, hand: str
) -> None:
    gate.policy(CLOSE)
    path = r"/pulls/\d+$" if hand == "reopened" else r"/issues/1/labels$"
    method = "PATCH" if hand == "reopened" else "POST"
    gate.github.fault("drop_after", method=method, path=path, times=None)
    numbers = [gate.world.open_pull(by="stranger", title=f"Change {n}").number for n in range(3)]
    gate.deliver()
    gate.work()
    number = numbers[0]
    pull = gate.world.pull(number)
    assert (pull.state == "closed") if hand == "reopened" else pull.labels
    gate.github.faults.clear()
    # Of what follows, only the word of the push comes.
    gate.taken = len(gate.world.hooks.deliveries)
    if hand == "reopened":
        gate.world.reopen_pull(number, by="mark")
    else:
        gate.world.unlabel(number, "needs-verification", by="mark")
    gate.world.push(number)
    gate.take_in(gate.world.hooks.deliveries[-1])
    gate.taken = len(gate.world.hooks.deliveries)
    for _ in range(4):
        gate.work()
        gate.clock.pass_(hours=2)
        gate.sweep.ring()
    if hand == "reopened":
        assert pull.state == "open"
    else:
        assert pull.labels == []
