"""What would be decided under another configuration: the same pipeline, and nothing written."""

from typing import Any

import pytest

from app.adapters.policy_file import parse_policy
from app.core.errors import UserError
from app.core.policy import Policy
from app.db import simulations
from app.flows.simulate import MOST_A_MINUTE, ask

CLOSE = "version: 1\nmode: close\nrules: {burst: {mode: close, prs: 3, minutes: 10}}\n"


def _ask(gate: Any, number: int, text: str | None) -> int:
    return ask(
        gate.database,
        gate.bell,
        repository_id=gate.world.repository("acme/widgets").id,
        number=number,
        account_id=1,
        policy=None if text is None else parse_policy(text),
        now=gate.clock(),
    )


def _simulated(gate: Any, number: int, text: str | None) -> simulations.Simulation:
    asked = _ask(gate, number, text)
    gate.work()
    with gate.database.begin() as tx:
        found = simulations.get(tx, asked)
    assert found is not None
    return found


def _flood(gate: Any) -> list[int]:
    numbers = [gate.world.open_pull(by="stranger", title=f"Part {n}").number for n in range(3)]
    gate.settle()
    return numbers


def _rows(gate: Any) -> Any:
    tables = ("inbox", "outbox", "decisions", "hands")
    return [gate.sql(f"SELECT count(*) AS n FROM {t}")[0]["n"] for t in tables]


def test_what_would_be_is_told_and_nothing_is_written(gate: Any) -> None:
    numbers = _flood(gate)
    before, state = _rows(gate), gate.state(numbers[0])
    found = _simulated(gate, numbers[0], CLOSE)
    assert found.decision is not None
    assert (found.decision.state, found.decision.policy_version) == ("flagged", "simulated")
    kinds = [p.effect.kind for p in found.decision.planned if not p.observe]
    assert kinds[-2:] == ["close_comment", "close"]
    # Under the one in force the same pull request is clear.
    found = _simulated(gate, numbers[0], None)
    assert found.decision is not None
    assert (found.decision.state, found.decision.policy_version) == ("clear", "default")
    assert (_rows(gate), gate.state(numbers[0])) == (before, state)
    assert gate.writes() == []


def test_one_that_ended_is_judged_as_if_it_were_open(gate: Any) -> None:
    numbers = _flood(gate)
    gate.world.close_pull(numbers[0], by="mark")
    gate.settle()
    assert gate.state(numbers[0]) == "ended"
    found = _simulated(gate, numbers[0], CLOSE)
    assert found.decision is not None
    assert [f.rule for f in found.decision.findings] == ["burst"]


def test_one_that_no_delivery_told_of_is_read(gate: Any) -> None:
    gate.world.hooks.stop()
    _flood(gate)
    number = gate.world.open_pull(by="stranger", title="Unheard").number
    gate.taken = len(gate.world.hooks.deliveries)
    found = _simulated(gate, number, CLOSE)
    assert found.decision is not None
    assert found.decision.state == "clear"
    assert gate.state(number) == "unknown"


def test_one_that_is_not_there_is_said_to_be_so(gate: Any) -> None:
    _flood(gate)
    found = _simulated(gate, 4711, CLOSE)
    assert found.decision is None
    assert found.error


def test_where_github_fails_nobody_is_told_a_guess(gate: Any) -> None:
    numbers = _flood(gate)
    gate.clock.pass_(minutes=6)
    gate.github.fault("status", status=502, method="GET", path="/permission$", times=9)
    found = _simulated(gate, numbers[0], CLOSE)
    assert found.decision is None
    assert "ask again" in (found.error or "")


def test_a_lost_bell_is_rung_again_and_a_dead_worker_does_not_keep_it_for_ever(gate: Any) -> None:
    numbers = _flood(gate)
    asked = _ask(gate, numbers[0], CLOSE)
    gate.bell.rings.clear()
    gate.clock.pass_(seconds=10)
    gate.sweep.ring()
    assert ("simulate", asked) in gate.bell.rings
    gate.bell.rings.clear()
    gate.clock.pass_(minutes=11)
    gate.sweep.ring()
    gate.work()
    with gate.database.begin() as tx:
        found = simulations.get(tx, asked)
    assert found is not None
    assert "given up" in (found.error or "")
    gate.clock.pass_(days=8)
    gate.sweep.forget()
    with gate.database.begin() as tx:
        assert simulations.get(tx, asked) is None


def test_nobody_asks_for_ever(gate: Any) -> None:
    numbers = _flood(gate)
    for _ in range(MOST_A_MINUTE):
        _ask(gate, numbers[0], None)
    with pytest.raises(UserError, match="within a minute"):
        _ask(gate, numbers[0], None)
    gate.clock.pass_(seconds=61)
    assert _ask(gate, numbers[0], None)


def test_a_policy_survives_its_row(gate: Any) -> None:
    policy = parse_policy(CLOSE)
    assert Policy.model_validate(policy.model_dump(mode="json")) == policy
