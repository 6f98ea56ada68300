"""A close for silence, through the whole gate: announced first, by a comment of its own."""

from typing import Any

ASK = (
    "version: 1\nmode: ask\nladder: {grace_hours: 24}\n"
    "rules: {burst: {mode: close, prs: 2, minutes: 10, grace_hours: 24}}\n"
)


def _questions(gate: Any, number: int) -> list[str]:
    comments = gate.world.pull(number).comments
    return [c.body for c in comments if "Is somebody there?" in c.body]


def _later(gate: Any, hours: float) -> None:
    gate.clock.pass_(hours=hours)
    gate.sweep.ring()
    gate.settle()


def test_a_repository_that_closes_from_now_on_announces_it_first(gate: Any) -> None:
    gate.policy(ASK)
    numbers = [gate.world.open_pull(by="stranger", title=f"Part {n}").number for n in range(2)]
    gate.settle()
    assert ["Nothing is closed" in q for q in _questions(gate, numbers[0])] == [True]
    _later(gate, 30)
    assert gate.world.pull(numbers[0]).state == "open"
    gate.world.push_files(
        {".github/pulsegate.yml": ASK.replace("mode: ask", "mode: close", 1)}, by="olivia"
    )
    gate.settle()
    gate.world.push(numbers[0], by="stranger")
    gate.settle()
    asked = _questions(gate, numbers[0])
    assert len(asked) == 2
    assert "24 hours" in asked[1]
    _later(gate, 23)
    assert gate.world.pull(numbers[0]).state == "open"
    _later(gate, 1.1)
    assert gate.world.pull(numbers[0]).state == "closed"
    # Nothing happened on the other one, so that nobody asked it anew.
    assert gate.world.pull(numbers[1]).state == "open"


def test_a_window_ends_by_the_clock_and_is_looked_at_once(gate: Any) -> None:
    gate.policy(ASK.replace("mode: ask", "mode: close", 1))
    numbers = [gate.world.open_pull(by="stranger", title=f"Part {n}").number for n in range(2)]
    gate.settle()
    _later(gate, 23.9)
    assert all(gate.world.pull(n).state == "open" for n in numbers)
    _later(gate, 0.2)
    assert all(gate.world.pull(n).state == "closed" for n in numbers)
    found = gate.sql("SELECT count(*) AS n FROM inbox WHERE key LIKE 'due:%'")
    assert found[0]["n"] == 2
    assert gate.sql("SELECT id FROM cases WHERE due_at IS NOT NULL") == []
