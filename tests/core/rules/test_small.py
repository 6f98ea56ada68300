"""The small rules: paths, same issue, apps, pause, denied, asked for, bursts anywhere."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from app.core.facts import Rival, Trust
from app.core.github import Account
from app.core.modes import Mode
from app.core.rules import apps, asked_for, burst, denied, paths, pause, same_issue
from tests.core.rules.seeing import NOW, change, facts, found, pull, says

PATHS = {"patterns": [".github/", "*.lock", "!docs/*.lock", "/vendor"]}


@pytest.mark.parametrize(
    ("touched", "said"),
    [
        (["src/a.py"], None),
        ([".github/workflows/ci.yml"], ".github/workflows/ci.yml"),
        (["deep/down/uv.lock", "src/a.py"], "deep/down/uv.lock"),
        (["docs/x.lock"], None),
        (["src/vendor/x"], None),
        (["vendor/x"], "vendor/x"),
        ([f"vendor/{n}" for n in range(7)], "vendor/0, vendor/1, vendor/2, vendor/3, vendor/4, …"),
    ],
)
def test_paths_that_outsiders_may_not_touch(touched: list[str], said: str | None) -> None:
    wanted = said and f"It touches paths that are kept for the maintainers: {said}."
    assert says(paths.RULE, facts(change=change(*touched)), PATHS) == wanted
    assert says(paths.RULE, facts(change=change(*touched))) is None
    assert says(paths.RULE, facts(), PATHS) is None


def _rival(number: int, minutes: int, *, good: bool = True) -> Rival:
    at = NOW + timedelta(minutes=minutes)
    return Rival(issue=12, number=number, at=at, author_id=number, good=good)


@pytest.mark.parametrize(
    ("rivals", "first"),
    [
        ((), None),
        ((_rival(3, -9),), 3),
        ((_rival(3, -9, good=False),), None),
        ((_rival(3, -9, good=False), _rival(4, -8)), 4),
        ((_rival(4, -8), _rival(3, -9)), 3),
        ((_rival(9, 1),), None),
        ((_rival(4, 0),), 4),
        ((_rival(6, 0),), None),
    ],
)
def test_the_first_good_one_for_an_issue_is_kept(rivals: Any, first: int | None) -> None:
    said = says(same_issue.RULE, facts(rivals=rivals))
    wanted = f"The pull request #{first} came first and is for the same issue, #12."
    assert said == (wanted if first else None)


def test_apps_are_welcome_by_list_and_people_always() -> None:
    agent = facts(pull_=pull(user=Account(id=99, login="agent[bot]", type="Bot")))
    assert says(apps.RULE, agent) is not None
    assert says(apps.RULE, agent, {"allowed": [99]}) is None
    disclosed = pull(body="Co-authored-by: Claude <noreply@x.example>\nAssisted-by: an agent")
    assert says(apps.RULE, facts(pull_=disclosed)) is None
    assert says(apps.RULE, facts(pull_=pull(user=None))) is None


def _pause(start: Any, until: Any) -> dict[str, Any]:
    return {"start": start, "until": until}


@pytest.mark.parametrize(
    ("start", "until", "applies"),
    [
        ("2026-11-16", "2026-11-17", True),
        ("2026-11-17", "2026-11-18", False),
        ("2026-11-15", "2026-11-16", False),
        ("2026-11-16T13:00:00Z", "2026-11-20T00:00:00+08:00", True),
        (date(2026, 11, 16), datetime(2026, 12, 24, 18), True),  # noqa: DTZ001 - as YAML has it
    ],
)
def test_a_pause_has_a_start_and_an_end(start: Any, until: Any, applies: bool) -> None:
    answer = found(pause.RULE, facts(), _pause(start, until))
    assert (answer is not None) == applies
    if answer is not None:
        assert answer.until is not None
        assert answer.until > NOW
        config = pause.PauseRule.model_validate(_pause(start, until))
        assert pause.PauseRule.model_validate(config.model_dump(mode="json")) == config


def test_what_was_open_before_a_pause_is_not_meant() -> None:
    old = facts(pull_=pull(created_at=NOW - timedelta(days=3)))
    assert says(pause.RULE, old, _pause("2026-11-16", "2026-11-20")) is None


@pytest.mark.parametrize(
    ("start", "until"),
    [
        ("2026-11-16", None),
        (None, "2026-11-16"),
        ("2026-11-16", "2026-11-16"),
        ("2026-11-16", "2026-11-10"),
        ("2026-11-16", "2028-01-01"),
        ("soon", "2026-11-20"),
        (True, False),
    ],
)
def test_a_pause_that_makes_no_sense_is_refused(start: Any, until: Any) -> None:
    with pytest.raises(ValidationError):
        pause.PauseRule.model_validate(_pause(start, until))


def _trust(kind: Any, until: timedelta | None = None) -> Trust:
    return Trust(
        kind=kind, by_login="mark", at=NOW, until=NOW + until if until is not None else None,
        reason="spam, see thread",
    )  # fmt: skip


@pytest.mark.parametrize("rule", [denied.RULE, asked_for.RULE], ids=lambda r: r.name)
def test_a_maintainers_word_on_an_account(rule: Any) -> None:
    kind = {"denied": "denied", "asked_for": "to_verify"}[rule.name]
    other = {"denied": "to_verify", "asked_for": "denied"}[rule.name]
    assert says(rule, facts()) is None
    assert says(rule, facts(trust=_trust(other))) is None
    assert says(rule, facts(trust=_trust("vouched"))) is None
    assert says(rule, facts(trust=_trust(kind, timedelta()))) is None
    answer = found(rule, facts(trust=_trust(kind, timedelta(days=1))))
    assert answer is not None
    assert answer.until == NOW + timedelta(days=1)
    words = f"{answer.sentence} {answer.way}"
    # Neither who said it, nor why, nor that there is a list.
    for secret in ("mark", "spam", "den", "list"):
        assert secret not in words.lower()


ANYWHERE = {"everywhere": {"prs": 6, "minutes": 10}}


@pytest.mark.parametrize(
    ("minutes", "applies"),
    [
        ((-5, -4, -3, -2, -1, 0), True),
        ((0, 1, 2, 3, 4, 10), True),
        ((0, 1, 2, 3, 4), False),
        ((-9, -8, -7, 0, 3, 4), False),
        ((-30, -29, -28, -27, -26, -25, 0), False),
    ],
)
def test_a_burst_over_all_repositories(minutes: Any, applies: bool) -> None:
    times = tuple(NOW + timedelta(minutes=m) for m in minutes)
    known = facts(opened_anywhere=times)
    assert (says(burst.RULE, known, ANYWHERE) is not None) == applies
    assert says(burst.RULE, known) is None
    assert says(burst.RULE, known, {"everywhere": None}) is None


def test_utc_is_meant_where_no_zone_is_named() -> None:
    config = pause.PauseRule.model_validate(_pause("2026-11-16", "2026-11-17"))
    assert config.start == datetime(2026, 11, 16, tzinfo=UTC)


def test_of_a_very_large_change_nobody_can_say_and_the_author_is_asked_at_most() -> None:
    large = facts(change=change("docs/a.md", files_total=101))
    answer = found(paths.RULE, large, PATHS)
    assert answer is not None
    assert answer.most is Mode.ASK
    assert found(paths.RULE, large, {}) is None  # where no paths are kept, nothing is asked
