"""Bursts that are decided by several workers at once, in any order."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from app.core.facts import Facts
from app.core.scoring import Score
from tests.scorer import SCORER

CLOSE = "version: 1\nmode: close\nrules:\n  burst: {mode: close, prs: 4, minutes: 10}\n"


def test_a_burst_is_seen_whole_by_workers_that_decide_at_once(gate: Any) -> None:
    gate.policy(CLOSE)
    gate.world.open_pull(by="mark")
    gate.settle()
    numbers = [gate.world.open_pull(by="stranger", title=f"Change {n}").number for n in range(4)]
    gate.deliver()
    rung = [id_ for task, id_ in gate.bell.rings if task == "triage"]
    gate.bell.rings.clear()
    workers = [threading.Thread(target=gate.triage.run, args=(id_,)) for id_ in rung]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    gate.settle()
    assert {gate.state(n) for n in numbers} == {"closed"}


def test_who_else_is_looked_at_does_not_grow_with_the_backlog(gate: Any) -> None:
    gate.policy(CLOSE)
    for n in range(30):
        gate.world.open_pull(by="stranger", title=f"Change {n}")
    gate.only_decide()
    again = gate.sql("SELECT count(*) AS n FROM inbox WHERE source = 'again'")[0]["n"]
    # The first three, which were clear until the fourth came.
    assert again <= 3
    assert gate.sql("SELECT DISTINCT state FROM cases")[0]["state"] == "flagged"


class Meanwhile:
    """A scorer that lets something happen between the facts and the decision of the first."""

    def __init__(self, happens: Callable[[], None]) -> None:
        self._happens: Callable[[], None] | None = happens

    def of(self, facts: Facts) -> Score:
        happens, self._happens = self._happens, None
        if happens:
            happens()
        return SCORER.of(facts)


def test_one_whose_facts_are_older_than_the_burst_is_decided_anew(gate: Any) -> None:
    gate.policy(CLOSE)
    first = gate.world.open_pull(by="stranger").number
    gate.deliver()
    _, opened = gate.bell.rings.popleft()

    def three_more() -> None:
        for n in range(3):
            gate.world.open_pull(by="stranger", title=f"Change {n}")
        gate.only_decide()

    replace(gate.triage, scorer=Meanwhile(three_more)).run(opened)
    assert gate.state(first) == "clear"
    gate.settle()
    assert gate.world.pull(first).state == "closed"


def test_one_that_was_near_a_burst_is_asked_again_once_it_is_part_of_it(gate: Any) -> None:
    gate.policy(CLOSE)
    start = gate.clock()

    def opened(minute: int) -> int:
        gate.world.clock = lambda: start + timedelta(minutes=minute)
        return int(gate.world.open_pull(by="stranger", title=f"At {minute}").number)

    first = opened(1)
    burst = [opened(minute) for minute in (10, 11, 12, 13)]
    gate.settle()
    # Near the burst, and asked for that; but no ten minutes hold it with three others.
    assert gate.world.pull(first).state == "open"
    assert all(gate.world.pull(n).state == "closed" for n in burst)
    late = opened(5)
    gate.settle()
    assert gate.world.pull(late).state == "closed"
    assert gate.world.pull(first).state == "closed"


def test_a_comment_that_waits_keeps_nobody_from_being_decided_anew(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = [gate.world.open_pull(by="stranger", title=f"Change {n}").number for n in range(3)]
    gate.settle()
    gate.world.open_pull(by="stranger", title="The fourth")
    gate.deliver()
    _, fourth = gate.bell.rings.popleft()
    for number in numbers:
        gate.world.comment(number, "What is this for?", by="tom")
    gate.deliver()
    gate.triage.run(fourth)
    gate.settle()
    assert [gate.world.pull(n).state for n in numbers] == ["closed"] * 3
