"""The report: what counts as a false alarm, what is saved, and how it reads."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from app.core.modes import Mode
from app.core.report import MINUTES_EACH, Outcome, as_markdown, report
from tests.core.strategies import hostile

SINCE, UNTIL = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 8, tzinfo=UTC)


def one(number: int = 1, **more: object) -> Outcome:
    given = {
        "number": number,
        "title": "A title",
        "author": "somebody",
        "rule": "burst",
        "rung": Mode.CLOSE,
        "done": Mode.OBSERVE,
        "fate": "open",
    }
    return Outcome(**{**given, **more})


def of(*outcomes: Outcome):
    return report("acme/widgets", SINCE, UNTIL, Mode.OBSERVE, 10, outcomes)


def test_what_people_merged_or_took_back_is_a_false_alarm() -> None:
    found = of(
        one(1),
        one(2, fate="merged"),
        one(3, overturned_by="tom", done=Mode.CLOSE),
        one(4, rung=Mode.LABEL, fate="merged"),
        one(5, fate="closed"),
    )
    [rule] = found.rules
    assert [a.number for a in rule.false_alarms] == [2, 3]
    assert rule.would == {"close": 4, "label": 1}
    assert rule.did == {"close": 1}
    assert (rule.fates["merged"], rule.fates["closed"], rule.overturned) == (2, 1, 1)


def test_one_that_two_rules_would_close_saves_its_minutes_once() -> None:
    found = of(one(1), one(1, rule="cap"), one(2, fate="merged"), one(3, rung=Mode.ASK))
    assert found.minutes == MINUTES_EACH


def test_it_reads_as_markdown_and_names_its_assumption() -> None:
    words = as_markdown(of(one(1), one(2, fate="merged", title="Fix `it` @all")), "https://gate/x")
    assert "| burst | 2 | 2 | 0 | 0 | 0 | 0 | 1 | 0 | 1 | 0 |" in words
    assert "acme/widgets#2" in words
    assert "@\u2060all" in words
    assert "That figure is an assumption" in words
    assert words.endswith("All of it: https://gate/x")


def test_without_any_it_says_so() -> None:
    assert "No rule applied" in as_markdown(of())
    assert "No false alarm is known" in as_markdown(of(one(1)))


@given(
    st.lists(st.builds(one, st.integers(1, 99), title=hostile, fate=st.just("merged")), max_size=80)
)
def test_any_titles_are_shown_as_typed_and_bounded(outcomes: list[Outcome]) -> None:
    words = as_markdown(of(*outcomes))
    assert "@octocat" not in words
    assert "\u202e" not in words
    assert len(words) < 60_000
