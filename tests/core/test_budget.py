"""Budgets and goals: pure figures."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.budget import Budgets, free_again, is_spent, tier_of
from app.core.facts import History, Trust
from app.core.slo import Share, Slo

NOW = datetime(2026, 11, 16, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    ("merged", "kind", "tier"),
    [
        (0, None, "newcomer"),
        (1, None, "known"),
        (2, None, "known"),
        (3, None, "trusted"),
        (0, "vouched", "trusted"),
        (0, "denied", "newcomer"),
        (1, "to_verify", "known"),
    ],
)
def test_the_tier_of_an_author(merged: int, kind: str | None, tier: str) -> None:
    word = Trust(kind=kind, by_login="mark", at=NOW) if kind else None  # type: ignore[arg-type]
    assert tier_of(History(merged=merged), word) == tier


@pytest.mark.parametrize("resource", ["github_requests", "mails", "runner_minutes"])
@pytest.mark.parametrize(
    ("limit", "used", "spent"),
    [(None, 10**9, False), (5, 4, False), (5, 5, True), (0, 0, True)],
)
def test_what_is_spent(resource: str, limit: int | None, used: int, spent: bool) -> None:
    budgets = Budgets.model_validate({resource: {"known": limit}})
    assert is_spent(budgets.of(resource), "known", used) == spent  # type: ignore[arg-type]


@given(st.datetimes(), st.integers(-12, 14))
def test_the_next_day_begins_at_midnight_in_utc_and_within_a_day(at: datetime, zone: int) -> None:
    if not 1990 < at.year < 2200:
        at = at.replace(year=2026, day=1)
    now = at.replace(tzinfo=timezone(timedelta(hours=zone)))
    free = free_again(now)
    assert timedelta() < free - now <= timedelta(days=1)
    assert (free.hour, free.minute, free.utcoffset()) == (0, 0, timedelta())


@pytest.mark.parametrize(
    ("total", "late", "met", "burn"),
    [(0, 0, 1.0, 0.0), (100, 0, 1.0, 0.0), (100, 5, 0.95, 1.0), (100, 72, 0.28, 14.4)],
)
def test_the_burn_rate(total: int, late: int, met: float, burn: float) -> None:
    found = Share(total=total, late=late)
    assert found.met() == pytest.approx(met)
    assert found.burn(Slo().target) == pytest.approx(burn)
