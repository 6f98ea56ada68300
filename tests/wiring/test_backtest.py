"""`pulsegate backtest`: history through the pipeline, each pull request as of its own day."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from app.core.errors import UserError
from app.settings import Settings
from app.wiring.backtest import Backtest, from_github, from_recording
from tests.fakes.github import GitHub
from tests.fakes.github.graphql import GRAPHQL_SCHEMA
from tests.fakes.node import require_package


def quiet(*_: object) -> None:
    """No progress."""


@pytest.fixture
def github():
    with GitHub() as github:
        github.world.hooks.stop()
        yield github
        assert github.violations == []


@pytest.fixture
def settings(github: GitHub, tmp_path: Path) -> Settings:
    return Settings(_env_file=None, github_api_url=github.api_url, state_dir=tmp_path / "state")


def history(github: GitHub, flood: int = 6, others: int = 4) -> None:
    """A flood of one account, of which one was merged, among others' work over days."""
    world, now = github.world, github.world.now() - timedelta(days=30)
    world.clock = lambda: now
    for n in range(others):
        now += timedelta(days=1)
        made = world.open_pull(by="stranger", title=f"Honest {n}")
        now += timedelta(hours=3)
        world.merge_pull(made.number, by="olivia")
    world.add_user("zephyr")
    numbers = []
    for _ in range(flood):
        now += timedelta(minutes=1)
        numbers.append(world.open_pull(by="zephyr", title="Improve it").number)
    now += timedelta(days=1)
    world.merge_pull(numbers[0], by="olivia")


def test_history_is_read_once_and_decided(github: GitHub, settings: Settings) -> None:
    history(github)
    found = from_github(settings, "acme/widgets", 500, None, quiet)
    assert found.report.pulls == 10
    burst = next(rule for rule in found.report.rules if rule.rule == "burst")
    assert burst.total == 6
    assert burst.fates["merged"] == 1
    assert [alarm.title for alarm in burst.false_alarms] == ["Improve it"]
    writes = [r for r in github.requests if r.method != "GET"]
    assert writes == []


def test_another_configuration_can_be_tried(github: GitHub, settings: Settings) -> None:
    history(github)
    found = from_github(settings, "acme/widgets", 500, "rules: {burst: {prs: 9}}\n", quiet)
    assert all(rule.rule != "burst" for rule in found.report.rules)


def test_a_run_that_was_stopped_goes_on(
    github: GitHub, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.wiring.history.PAGE", 10)
    history(github, flood=5, others=23)
    assert from_github(settings, "acme/widgets", 15, "mode: observe\n", quiet).report.pulls == 15
    before = len(github.requests)
    found = from_github(settings, "acme/widgets", 500, "mode: observe\n", quiet)
    assert found.report.pulls == 28
    pages = [r for r in github.requests[before:] if r.path.endswith("/pulls")]
    assert len(pages) == 2  # the newest, and the one that was never read


RULES = """
mode: close
rules:
  accepted_issue: {mode: close, labels: [accepted]}
  paths: {mode: ask, patterns: [/secrets/]}
  diff_shape: {mode: 'off'}
"""


@pytest.fixture
def with_token(github: GitHub, settings: Settings) -> Settings:
    require_package(GRAPHQL_SCHEMA)
    token = github.world.issue_token(user=github.world.user("stranger"))
    return settings.model_copy(update={"github_token": SecretStr(token)})


def _by_rule(found: Backtest) -> dict[str, int]:
    return {rule.rule: rule.total for rule in found.report.rules}


def test_what_was_changed_is_judged_as_of_that_day(github: GitHub, with_token: Settings) -> None:
    world, now = github.world, github.world.now() - timedelta(days=30)
    world.clock = lambda: now
    early = world.open_issue(by="wendy").number
    world.label_issue(early, "accepted", by="tom")
    late = world.open_issue(by="wendy").number
    now += timedelta(days=1)
    code = [("src/a.py", 200, 9, "MODIFIED")]
    for issue in (early, late):
        world.open_pull(by="stranger", files=code, closes=[issue])
    world.open_pull(by="stranger", files=[("secrets/key", 200, 0, "ADDED")], closes=[early])
    pushed = world.open_pull(by="stranger", files=code).number
    now += timedelta(days=1)
    world.label_issue(late, "accepted", by="tom")
    world.push(pushed)
    found = from_github(with_token, "acme/widgets", 500, RULES, quiet)
    # The one for the issue that was accepted a day later; of the one pushed to nothing is known.
    assert _by_rule(found) == {"accepted_issue": 1, "paths": 1}
    assert any("known of 3 pull requests out of 4" in line for line in found.unknown)
    before = len(github.requests)
    assert from_github(with_token, "acme/widgets", 500, RULES, quiet) == found
    reads = [r.path for r in github.requests[before:]]
    assert reads.count("/graphql") == 0


def test_a_first_day_is_read_once(github: GitHub, with_token: Settings) -> None:
    world = github.world
    pull = world.open_pull(by="stranger", files=[("secrets/key", 200, 0, "ADDED")])
    first = from_github(with_token, "acme/widgets", 500, RULES, quiet)
    assert _by_rule(first) == {"accepted_issue": 1, "paths": 1}
    world.push(pull.number)
    world.close_pull(pull.number, by="olivia")
    before = len(github.requests)
    again = from_github(with_token, "acme/widgets", 500, RULES, quiet)
    assert _by_rule(again) == _by_rule(first)
    assert not any(r.path.endswith("/graphql") for r in github.requests[before:])
    assert not any("not judged" in line for line in again.unknown)


def test_without_a_token_what_was_changed_is_not_known_and_said_so(
    github: GitHub, settings: Settings
) -> None:
    history(github)
    found = from_github(settings, "acme/widgets", 500, RULES, quiet)
    assert _by_rule(found).get("accepted_issue") is None
    assert "these rules were not judged: accepted_issue" in found.unknown[-2]
    assert "Set GITHUB_TOKEN" in found.unknown[-1]


def test_who_is_not_there_is_told(github: GitHub, settings: Settings) -> None:
    with pytest.raises(UserError, match="does not show acme/nothing"):
        from_github(settings, "acme/nothing", 10, None, quiet)
    with pytest.raises(UserError, match="no repository"):
        from_github(settings, "widgets", 10, None, quiet)


def test_a_recording_is_judged_under_another_configuration(
    root: Path, settings: Settings, tmp_path: Path
) -> None:
    day = root / "app" / "demo" / "day.jsonl"
    policy = "rules: {burst: {mode: 'off'}, cap: {mode: close, open: 1}}\n"
    found = from_recording(settings, day, policy, quiet)
    by_rule: dict[str, Any] = {rule.rule: rule for rule in found.report.rules}
    assert "burst" not in by_rule
    assert by_rule["cap"].total > 30
    broken = tmp_path / "broken.jsonl"
    broken.write_text(json.dumps({"event": 5}))
    with pytest.raises(UserError):
        from_recording(settings, broken, None, quiet)
