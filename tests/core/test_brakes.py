"""When the gate stops by itself, and what goes on all the same."""

from datetime import UTC, datetime

import pytest

from app.adapters.policy_file import parse_policy
from app.core.appeals import in_turn, opened
from app.core.brakes import Brake, Closes, braked, too_many, too_often_wrong
from app.core.due_process import Appeals
from app.core.modes import Mode
from app.core.policy import Policy

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def seen(closes: int, authors: int, others: int) -> Closes:
    return Closes(closes=closes, authors=authors, authors_open=others)


@pytest.mark.parametrize(
    ("counts", "cause"),
    [
        ((99, 1, 0), None),  # a flood by one account is what the gate is there for
        ((100, 1, 500), "closes"),
        ((20, 9, 0), None),
        ((20, 10, 10), None),
        ((20, 11, 10), "share"),
        ((20, 11, 12), None),
    ],
)
def test_many_closes_or_many_authors(counts: tuple[int, int, int], cause: str | None) -> None:
    trip = too_many(Policy(), seen(*counts))
    assert (trip.cause if trip else None) == cause


def test_null_means_no_such_limit() -> None:
    policy = parse_policy("breaker: null\noverturned: null\n")
    assert too_many(policy, seen(10_000, 500, 0)) is None
    assert too_often_wrong(policy, 10, 10) is None


@pytest.mark.parametrize(
    ("overturned", "acted", "trips"), [(2, 10, False), (3, 10, True), (9, 9, False)]
)
def test_a_rule_that_is_wrong_too_often(overturned: int, acted: int, trips: bool) -> None:
    assert (too_often_wrong(Policy(), overturned, acted) is not None) is trips


def brake(rule: str | None) -> Brake:
    return Brake(id=1, rule=rule, cause="closes", of=1, out_of=1, at=NOON)


def test_what_is_braked_observes_and_a_maintainers_word_goes_on() -> None:
    policy = parse_policy("mode: close\nrules: {burst: {mode: close}, cap: {mode: ask}}\n")
    all_of_it = braked(policy, [brake(None)])
    assert all_of_it.rules.burst.mode is Mode.OBSERVE
    assert all_of_it.rules.cap.mode is Mode.OBSERVE
    assert all_of_it.rules.template.mode is Mode.OFF
    assert all_of_it.rules.denied.mode is policy.rules.denied.mode
    assert all_of_it.rules.campaign.mode is policy.rules.campaign.mode
    assert all_of_it.mode is Mode.CLOSE
    one = braked(policy, [brake("burst"), brake("gone_rule")])
    assert (one.rules.burst.mode, one.rules.cap.mode) == (Mode.OBSERVE, Mode.ASK)
    assert braked(policy, []) is policy


def test_whoever_was_not_asked_for_the_longest_answers_and_nobody_their_own() -> None:
    earlier = NOON.replace(hour=1)
    assert in_turn(["a", "b", "c"], {"a": NOON, "b": earlier}, "x") == ["c", "b", "a"]
    assert in_turn(["Tom", "olivia"], {}, "tom") == ["olivia"]
    assert in_turn([], {}, "tom") == []
    made = opened(Appeals(), "olivia", NOON)
    assert made.named == "olivia"
