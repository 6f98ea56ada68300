"""An answer touches the question where it names what was asked about, in any language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.proofs.answers import touch

NAMES = ("1024", "max_batch_tokens", "src/engine/scheduler.py", "512")


@pytest.mark.parametrize(
    "answer",
    [
        "I took 1024 since the tests ran out of memory above it",
        "1,024 was the largest that fit",
        "Because scheduler.py decides it",
        "the scheduler reads it",
        "max_batch_tokens is doubled",
        "we double the batch tokens there",
        "maxBatchTokens, that is",
        "max_bacth_tokens was too small",
        "我把它从512改成1024，因为显存不够",
        "調度器 scheduler 需要這個值",
        "Из-за max_batch_tokens",
        "\uff11\uff10\uff12\uff14 で動きました",
    ],
)
def test_it_touches(answer: str) -> None:
    assert touch(answer, NAMES) == "touches"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Great question! I have updated the code.",
        "> In src/engine/scheduler.py, max_batch_tokens goes from 512 to 1024\n\nDone, thanks",
        "21024 rows and 1024.5 more",
        "👍",
    ],
)
def test_it_is_unclear(answer: str) -> None:
    assert touch(answer, NAMES) == "unclear"


@given(st.text(max_size=500), st.lists(st.text(max_size=80), max_size=6))
def test_any_answer_and_any_names(answer: str, names: list[str]) -> None:
    assert touch(answer, names) in {"touches", "unclear"}
