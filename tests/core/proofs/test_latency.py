"""How soon somebody answers: what that says, and what it never says."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.adapters.models import latency_bands
from app.core.proofs.latency import LEAST, Bands, pace

BANDS = latency_bands()
latencies = st.lists(st.integers(0, 10**7).map(lambda s: timedelta(seconds=s)), max_size=40)


def after(seconds: float, times: int) -> list[timedelta]:
    return [timedelta(seconds=seconds)] * times


def test_few_answers_say_nothing_however_quick() -> None:
    for count in range(LEAST):
        assert pace(after(300, count), BANDS).kind == "unknown"


def test_many_answers_within_minutes_read_as_a_machine_and_after_hours_as_a_person() -> None:
    assert pace(after(300, 12), BANDS).kind == "machine"
    assert pace(after(7200, 4), BANDS).kind == "alive"
    assert pace(after(300, 12), BANDS).answers < 12  # it stops where it is clear


@given(latencies, st.integers(3600, 10**7))
def test_slowness_never_counts_against_anybody(before: list[timedelta], slow: int) -> None:
    plain, with_slow = pace(before, BANDS), pace([*before, timedelta(seconds=slow)], BANDS)
    assert with_slow.evidence <= plain.evidence + 1e-9
    assert with_slow.kind == plain.kind or with_slow.kind == "alive"


@given(latencies)
def test_one_answer_never_decides(before: list[timedelta]) -> None:
    found = pace(before, BANDS)
    assert found.answers <= len(before)
    if found.kind != "unknown":
        assert found.answers >= LEAST


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValidationError, match="edges must rise"):
        Bands(edges=(2, 1), machine=(1, 1, 1), person=(1, 1, 1), source="")
    with pytest.raises(ValidationError, match="both shares"):
        Bands(edges=(1, 2), machine=(1, 1), person=(1, 1, 1), source="")


def test_the_numbers_name_their_source_and_licence() -> None:
    assert "CC-BY-4.0" in BANDS.source
