"""A cap on the open pull requests of a newcomer."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.facts import History, OpenPull
from app.core.rules.cap import RULE
from tests.core.rules.seeing import NOW, facts, opened, pull, says


@pytest.mark.parametrize(
    ("pulls", "over"),
    [
        (opened(-2, -1, 0), False),
        (opened(-3, -2, -1, 0), True),
        (opened(-1, 0, 1, 2, 3), False),
        (opened(0), False),
        ((), False),
    ],
    ids=["at exactly the limit", "one more", "the earliest keep theirs", "alone", "none known"],
)
def test_where_the_limit_lies(pulls: Any, over: bool) -> None:
    assert (says(RULE, facts(open_pulls=pulls)) is not None) == over


def test_a_draft_takes_its_place_by_when_it_was_opened_once_it_is_ready() -> None:
    without = {"drafts": False}
    early_draft = opened(-3, -2, -1, 0, drafts=(-3,))
    assert says(RULE, facts(open_pulls=early_draft)) is not None
    assert says(RULE, facts(open_pulls=early_draft), without) is None
    # It becomes ready: now there are four, and it is the last that came, not the one that stood.
    ready = tuple(o.model_copy(update={"draft": False, "ready_at": NOW}) for o in early_draft[:1])
    line = (*ready, *early_draft[1:])
    assert says(RULE, facts(open_pulls=line), without) is None
    mine = pull(number=line[0].number, created_at=line[0].at)
    assert says(RULE, facts(pull_=mine, open_pulls=line), without) is not None
    # Where drafts count it had its place all the time.
    assert says(RULE, facts(pull_=mine, open_pulls=line)) is None
    assert says(RULE, facts(open_pulls=line)) is not None


def test_what_its_author_opens_again_comes_last() -> None:
    line = opened(-3, -2, -1, 0)
    again = (line[0].model_copy(update={"again_at": NOW + timedelta(minutes=1)}), *line[1:])
    assert says(RULE, facts(open_pulls=again)) is None
    mine = pull(number=line[0].number, created_at=line[0].at)
    assert says(RULE, facts(pull_=mine, open_pulls=again)) is not None


def test_a_draft_is_not_meant_where_drafts_do_not_count() -> None:
    mine = facts(pull_=pull(draft=True), open_pulls=opened(-3, -2, -1, 0, drafts=(0,)))
    assert says(RULE, mine) is not None
    assert says(RULE, mine, {"drafts": False}) is None


def test_who_had_one_merged_here_is_no_newcomer() -> None:
    many = opened(-4, -3, -2, -1, 0)
    assert says(RULE, facts(open_pulls=many, history=History(merged=1))) is None
    assert says(
        RULE, facts(open_pulls=many, history=History(merged=1)), {"newcomer_merged": 2}
    ) == (
        "Open here by its author beside this one: 4. Until one was merged, the limit is 3 at once."
    )


@pytest.mark.parametrize(("others", "free"), [((-3, -2, -1), False), ((-3, -2), True)])
def test_what_was_closed_for_it_waits_until_a_place_is_free(others: Any, free: bool) -> None:
    closed = facts(pull_=pull(state="closed"), open_pulls=opened(*others))
    assert (says(RULE, closed) is None) == free
    # Also later ones hold their places, since they are open and it is not.
    later = facts(pull_=pull(state="closed"), open_pulls=opened(*(-o for o in others)))
    assert (says(RULE, later) is None) == free


@given(st.permutations(range(-4, 5)), st.integers(1, 9))
def test_exactly_so_many_are_let_in_whatever_the_order(order: list[int], limit: int) -> None:
    every = opened(*order)
    over = 0
    for one in every:
        mine = pull(number=one.number, created_at=one.at)
        known = facts(pull_=mine, open_pulls=every)
        over += says(RULE, known, {"open": limit}) is not None
    assert over == max(0, len(every) - limit)


def test_two_of_the_same_second_are_told_apart_by_number() -> None:
    both = (OpenPull(number=4, at=NOW), OpenPull(number=5, at=NOW))
    assert says(RULE, facts(open_pulls=both), {"open": 1}) is not None
    first = facts(pull_=pull(number=4), open_pulls=both)
    assert says(RULE, first, {"open": 1}) is None


@pytest.mark.parametrize("turned", ["again_at", "ready_at"])
def test_within_one_second_what_came_back_stands_behind_what_was_opened(turned: str) -> None:
    back = OpenPull(number=4, at=NOW - timedelta(hours=1), **{turned: NOW})
    both = (back, OpenPull(number=5, at=NOW))
    rule = {"open": 1, "drafts": False}
    assert says(RULE, facts(open_pulls=both), rule) is None
    assert says(RULE, facts(pull_=pull(number=4), open_pulls=both), rule) is not None
