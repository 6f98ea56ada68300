"""The burst: the union of all windows that hold a pull request and are full enough."""

import time
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.events import Branch, PullRequest
from app.core.facts import Facts, Opened, Role
from tests.core.strategies import NOW, opened

BRANCH = Branch(ref="main", sha="a" * 40)
PULL = PullRequest(
    id=1,
    number=5,
    state="open",
    title="t",
    created_at=NOW,
    updated_at=NOW,
    head=BRANCH,
    base=BRANCH,
)


def facts(*others: Opened) -> Facts:
    return Facts(pull=PULL, role=None, opened=others, installed_at=NOW)


def at(*seconds: float) -> tuple[Opened, ...]:
    """This pull request at 0 and others so many seconds from it."""
    rest = (Opened(number=100 + i, at=NOW + timedelta(seconds=s)) for i, s in enumerate(seconds))
    return (Opened(number=5, at=NOW), *rest)


def oracle(found: Facts, prs: int, minutes: int) -> set[int]:
    """All windows, one by one."""
    union: set[int] = set()
    for first in found.opened:
        window = {
            o.number
            for o in found.opened
            if timedelta() <= o.at - first.at <= timedelta(minutes=minutes)
        }
        if 5 in window and len(window) >= prs:
            union |= window
    return union


@given(opened(NOW), st.integers(2, 6), st.integers(1, 20))
def test_burst_is_what_looking_at_every_window_finds(
    others: tuple[Opened, ...], prs: int, minutes: int
) -> None:
    one = facts(*others)
    assert {o.number for o in one.burst(prs, minutes)} == oracle(one, prs, minutes)


@given(opened(NOW), st.randoms(use_true_random=False), st.integers(2, 6))
def test_order_of_arrival_does_not_matter(
    others: tuple[Opened, ...], random: object, prs: int
) -> None:
    shuffled = list(others)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert facts(*others).burst(prs, 10) == facts(*shuffled).burst(prs, 10)


@given(opened(NOW), st.integers(2, 6), st.integers(1, 20))
def test_a_lower_limit_and_a_longer_window_find_no_less(
    others: tuple[Opened, ...], prs: int, minutes: int
) -> None:
    one = facts(*others)
    assert set(one.burst(prs, minutes)) <= set(one.burst(prs, minutes + 1))
    assert set(one.burst(prs + 1, minutes)) <= set(one.burst(prs, minutes))


@pytest.mark.parametrize(
    ("seconds", "size"),
    [
        ((), 0),
        ((1, 2, 3), 0),  # four are under the limit of five
        ((1, 2, 3, 4), 5),
        ((0, 0, 0, 0), 5),
        ((-150, -300, -450, -600), 5),  # ten minutes apart are within ten minutes
        ((-150, -300, -450, -600.001), 0),
        ((-300, -200, 200, 300), 5),
        ((-301, -200, 200, 300), 0),
        ((-400, -300, 10, 20, 30, 500), 7),  # windows that overlap in this one join
        ((700, 710, 720, 730, 740), 0),  # a burst of the same account that this one is not part of
    ],
)
def test_exact_limit_and_edges_of_the_window(seconds: tuple[float, ...], size: int) -> None:
    assert len(facts(*at(*seconds)).burst(5, 10)) == size


def test_pull_request_that_is_not_listed_is_no_part_of_a_burst() -> None:
    assert facts(*at(1, 2, 3, 4, 5)[1:]).burst(2, 10) == ()


def test_two_thousand_are_judged_in_no_time() -> None:
    flood = facts(*at(*range(2000)))
    start = time.process_time()
    assert len(flood.burst(5, 60)) == 2001
    assert time.process_time() - start < 0.2


def test_roles_are_in_githubs_order() -> None:
    assert [r.word for r in sorted(Role)] == [
        "none",
        "read",
        "triage",
        "write",
        "maintain",
        "admin",
    ]
