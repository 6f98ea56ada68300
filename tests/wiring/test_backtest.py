"""`pulsegate backtest`: history through the pipeline, each pull request as of its own day."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app.core.errors import UserError
from app.settings import Settings
from app.wiring.backtest import from_github, from_recording
from tests.fakes.github import GitHub


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
    assert found.pulls == 10
    burst = next(rule for rule in found.rules if rule.rule == "burst")
    assert burst.total == 6
    assert burst.fates["merged"] == 1
    assert [alarm.title for alarm in burst.false_alarms] == ["Improve it"]
    writes = [r for r in github.requests if r.method != "GET"]
    assert writes == []


def test_another_configuration_can_be_tried(github: GitHub, settings: Settings) -> None:
    history(github)
    found = from_github(settings, "acme/widgets", 500, "rules: {burst: {prs: 9}}\n", quiet)
    assert all(rule.rule != "burst" for rule in found.rules)


def test_a_run_that_was_stopped_goes_on(
    github: GitHub, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.wiring.backtest.PAGE", 10)
    history(github, flood=5, others=23)
    assert from_github(settings, "acme/widgets", 15, "mode: observe\n", quiet).pulls == 15
    before = len(github.requests)
    found = from_github(settings, "acme/widgets", 500, "mode: observe\n", quiet)
    assert found.pulls == 28
    pages = [r for r in github.requests[before:] if r.path.endswith("/pulls")]
    assert len(pages) == 2  # the newest, and the one that was never read


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
    by_rule: dict[str, Any] = {rule.rule: rule for rule in found.rules}
    assert "burst" not in by_rule
    assert by_rule["cap"].total > 30
    broken = tmp_path / "broken.jsonl"
    broken.write_text(json.dumps({"event": 5}))
    with pytest.raises(UserError):
        from_recording(settings, broken, None, quiet)
