"""What a pull request changed on the day it was opened."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.change import Change, LinkedIssue
from app.core.past import Past, PastIssue, Turn, change_as_of

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
NOW = LinkedIssue(repository_id=1, number=7, open=False, labels=("done",), assignees=(9,))


def past(**more: Any) -> Past:
    return Past(number=5, change=Change(head_sha="a" * 40), committed_at=NOON, **more)


def issue(*turns: Turn, **more: Any) -> Past:
    known = {"issue": NOW, "created_at": NOON - HOUR, "turns": turns, **more}
    return past(issues=(PastIssue(**known),))


def turn(hours: float, kind: Any, **more: Any) -> Turn:
    return Turn(at=NOON + hours * HOUR, kind=kind, **more)


@pytest.mark.parametrize(
    ("more", "known"),
    [({}, True), ({"forced": True}, False), ({"committed_at": NOON + HOUR}, False), ({"committed_at": None}, False)],
)  # fmt: skip
def test_only_what_was_never_pushed_to_again_is_known(more: Any, known: bool) -> None:
    found = change_as_of(past().model_copy(update=more), NOON)
    assert (found is not None) is known


def test_an_issue_is_as_it_was() -> None:
    known = issue(
        turn(2, "labeled", label="done"),
        turn(-0.9, "labeled", label="accepted"),
        turn(-0.8, "labeled", label="triage"),
        turn(-0.7, "unlabeled", label="triage"),
        turn(-0.6, "assigned", account_id=3),
        turn(-0.5, "assigned", account_id=4),
        turn(-0.4, "unassigned", account_id=3),
        turn(-0.3, "assigned"),
        turn(1, "closed"),
    )
    change = change_as_of(known, NOON)
    assert change is not None
    assert change.issues == (
        LinkedIssue(repository_id=1, number=7, open=True, labels=("accepted",), assignees=(4,)),
    )
    change = change_as_of(known, NOON + 3 * HOUR)
    assert change is not None
    assert change.issues is not None
    assert (change.issues[0].open, change.issues[0].labels) == (False, ("accepted", "done"))


def test_an_issue_that_was_opened_later_was_not_linked_then() -> None:
    change = change_as_of(issue(created_at=NOON + HOUR), NOON)
    assert change is not None
    assert change.issues == ()


@pytest.mark.parametrize("more", [{"complete": False}, {"created_at": None}])
def test_what_github_did_not_show_whole_is_unknown(more: Any) -> None:
    change = change_as_of(issue(**more), NOON)
    assert change is not None
    assert change.issues is None


KINDS = ("labeled", "unlabeled", "closed", "reopened")


@given(
    st.lists(st.tuples(st.floats(-1, 5), st.sampled_from(KINDS), st.sampled_from("ab"))),
    st.floats(-1, 5),
)
def test_nothing_from_later_counts(turns: list[tuple[float, Any, str]], cut: float) -> None:
    every = [turn(hours, kind, label=label) for hours, kind, label in turns]
    at = max(NOON, NOON + cut * HOUR)
    earlier = [one for one in every if one.at <= at]
    assert change_as_of(issue(*every), at) == change_as_of(issue(*earlier), at)
