"""A repository's own experience: slow to move, right in the end, and honest about drift."""

import math
import random

from hypothesis import given
from hypothesis import strategies as st

from app.core.local import Outcome, fit_local

outcomes = st.lists(
    st.builds(Outcome, odds=st.floats(-6, 6), unattended=st.booleans()), max_size=80
)


def drawn(count: int, shift: float, seed: int) -> list[Outcome]:
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        odds = rng.gauss(-1, 1)
        p = 1 / (1 + math.exp(-(odds + shift)))
        found.append(Outcome(odds=odds, unattended=rng.random() < p))
    return found


def error(count: int, shift: float) -> float:
    """Mean distance of the offset from the truth."""
    return sum(abs(fit_local(drawn(count, shift, seed)).offset - shift) for seed in range(40)) / 40


def test_nothing_known_moves_nothing() -> None:
    assert fit_local([]).offset == 0


@given(outcomes)
def test_the_offset_is_finite_and_follows_what_happened(found: list[Outcome]) -> None:
    local = fit_local(found)
    assert math.isfinite(local.offset)
    assert abs(local.offset) <= 5
    worse = fit_local([o.model_copy(update={"unattended": True}) for o in found])
    assert worse.offset >= local.offset - 1e-6


def test_five_outcomes_are_safe_and_fifty_are_better() -> None:
    # Where the global model is right, five outcomes do little harm; where it is wrong, fifty mend most.
    assert error(5, 0.0) < 0.5
    assert error(50, 1.5) < error(5, 1.5) < 1.5
    assert error(50, 1.5) < 0.5


def test_drift_is_seen_and_seldom_where_there_is_none() -> None:
    false = sum(fit_local(drawn(90, 0.5, seed)).drifted for seed in range(300))
    assert false <= 3
    turned = sum(
        fit_local(drawn(100, 0.0, seed) + drawn(30, 4.0, seed + 1)).drifted for seed in range(50)
    )
    assert turned >= 45
    assert not fit_local(drawn(30, 5.0, 1)).drifted  # too few to know what was before
