"""What decisions cost, and what waits where the day's budget is spent; how soon it was."""

from datetime import timedelta
from typing import Any

from app.db import slo_report, usage
from app.flows.spending import Counted

POLICY = "version: 1\nmode: label\nbudgets: {{github_requests: {{newcomer: {}, known: null}}}}\n"


def _used(gate: Any) -> int:
    with gate.database.begin() as tx:
        where = gate.world.repository().id
        return usage.used(tx, where, "github_requests", "newcomer", gate.clock())


def _later(gate: Any, **by: float) -> None:
    gate.clock.pass_(**by)
    gate.sweep.ring()
    gate.settle()


def _to_morning(gate: Any) -> None:
    """To ten in the morning UTC of the next day, so that no day ends within a test."""
    now = gate.clock()
    gate.clock.pass_(seconds=((10 - now.hour) % 24 + 24) * 3600 - now.minute * 60)


def test_requests_are_counted_by_day_and_tier(gate: Any) -> None:
    _to_morning(gate)
    gate.world.open_pull(by="stranger")
    gate.settle()
    first = _used(gate)
    assert 2 <= first <= 5
    gate.world.open_pull(by="stranger")
    gate.settle()
    assert _used(gate) == first + 1
    gate.clock.pass_(days=1)
    assert _used(gate) == 0


def test_what_is_over_the_budget_waits_for_the_next_day_and_says_so(gate: Any) -> None:
    _to_morning(gate)
    gate.policy(POLICY.format(4))
    gate.world.open_pull(by="stranger")
    gate.settle()
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    assert gate.state(number) == "new"
    row = gate.sql("SELECT * FROM inbox WHERE pull_number = :n", n=number)[0]
    assert row["attempts"] == 0
    assert row["last_error"].startswith("the day's budget of requests to GitHub for newcomer")
    assert row["last_error"].endswith("00:00 UTC")
    _later(gate, hours=13)
    assert gate.state(number) == "new"
    _later(gate, hours=2)
    assert gate.state(number) == "clear"


def test_the_team_and_what_it_asks_for_go_on(gate: Any) -> None:
    _to_morning(gate)
    gate.world.clock = gate.clock
    gate.policy(POLICY.format(1))
    gate.world.open_pull(by="stranger")
    gate.settle()
    waits = gate.world.open_pull(by="stranger").number
    team = gate.world.open_pull(by="wendy").number
    gate.settle()
    assert (gate.state(waits), gate.state(team)) == ("new", "exempt")
    gate.world.comment(waits, "/pulse hold", by="tom")
    gate.settle()
    assert gate.state(waits) == "left_alone"


def test_nothing_is_held_up_without_a_limit(gate: Any) -> None:
    gate.policy(POLICY.format("null"))
    numbers = [gate.world.open_pull(by="stranger").number for _ in range(3)]
    gate.settle()
    assert {gate.state(n) for n in numbers} == {"clear"}


def test_every_read_is_counted() -> None:
    class Fake:
        def pull(self, number: int) -> int:
            return number

    counted = Counted(Fake())  # type: ignore[arg-type]
    assert counted.pull(5) == 5
    assert counted.pull(number=6) == 6
    assert (counted.take(), counted.take()) == (2, 0)


def _share(gate: Any, goal: Any, **limit: float) -> tuple[int, int]:
    with gate.database.begin() as tx:
        found = slo_report.share(
            tx,
            goal,
            [gate.world.repository().id],
            limit=timedelta(**limit),
            window=timedelta(days=28),
            now=gate.clock(),
        )
    return found.total, found.late


def test_how_soon_pull_requests_are_decided_on(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.world.open_pull(by="stranger")
    gate.settle()
    gate.world.open_pull(by="stranger")
    gate.clock.pass_(minutes=9)
    gate.settle()
    # Neither is counted before its time is over.
    assert _share(gate, "first_decision", minutes=20) == (0, 0)
    gate.clock.pass_(minutes=12)
    assert _share(gate, "first_decision", minutes=5) == (2, 1)
    assert _share(gate, "first_decision", minutes=10) == (2, 0)


def test_how_soon_a_person_of_the_team_looks_at_them(gate: Any) -> None:
    gate.world.clock = gate.clock
    looked, alone, merged = (gate.world.open_pull(by="stranger").number for _ in range(3))
    gate.settle()
    gate.world.add_user("passer-by")
    gate.world.comment(alone, "Me too!", by="passer-by")
    gate.world.comment(alone, "It works.", by="stranger")
    gate.clock.pass_(hours=2)
    gate.world.review(looked, by="mark", state="commented", body="Hm.")
    gate.world.merge_pull(merged, by="wendy")
    gate.settle()
    gate.clock.pass_(hours=50)
    assert _share(gate, "first_look", hours=1) == (3, 3)
    assert _share(gate, "first_look", hours=3) == (3, 1)
