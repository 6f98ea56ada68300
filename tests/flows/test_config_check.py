"""The check run on a pull request that changes the configuration."""

from typing import Any

import pytest

PATH = ".github/pulsegate.yml"
GOOD = "version: 1\nmode: close\nrules: {cap: {mode: label}}\n"
BAD = "version: 1\nmode: clsoe\nrules:\n  burst: {pr: 3}\n"


def _run(gate: Any, name: str = "pulsegate/config") -> Any:
    found = [run for run in gate.world.repository().checks if run.name == name]
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize("by", ["olivia", "stranger"])
def test_an_error_is_shown_at_its_line_and_never_blocks(gate: Any, by: str) -> None:
    gate.world.open_pull(by=by, head_files={PATH: BAD})
    gate.settle()
    run = _run(gate)
    assert (run.status, run.conclusion) == ("completed", "neutral")
    assert "errors: 2" in run.output["title"]
    assert "last good version" in run.output["summary"]
    where = [(a["path"], a["start_line"]) for a in run.output["annotations"]]
    assert where == [(PATH, 2), (PATH, 4)]
    assert "did you mean prs" in run.output["annotations"][1]["message"]
    # Nothing else is written in observe mode.
    assert [w for w in gate.writes() if "check-runs" not in w] == []
    assert _run(gate, "pulsegate") is None


def test_a_good_one_says_what_would_be_in_force(gate: Any) -> None:
    gate.world.open_pull(by="olivia", head_files={PATH: GOOD})
    gate.settle()
    run = _run(gate)
    assert run.conclusion == "success"
    assert "the repository: observe → close" in run.output["summary"]
    assert "`cap`: off → label" in run.output["summary"]


def test_each_head_is_checked_once(gate: Any) -> None:
    number = gate.world.open_pull(by="olivia", head_files={PATH: BAD}).number
    gate.settle()
    gate.world.edit_pull(number, by="olivia", title="Another title")
    gate.settle()
    assert len([w for w in gate.writes() if "check-runs" in w]) == 1
    gate.world.pull(number).head_files[PATH] = GOOD.encode()
    gate.world.push(number, by="olivia")
    gate.settle()
    runs = [r for r in gate.world.repository().checks if r.name == "pulsegate/config"]
    assert [r.conclusion for r in runs] == ["neutral", "success"]


def test_what_does_not_touch_the_file_gets_none(gate: Any) -> None:
    gate.world.open_pull(by="olivia", files=("src/a.py",))
    gate.settle()
    assert _run(gate) is None


def test_a_file_that_is_no_file_is_an_error_too(gate: Any) -> None:
    gate.world.open_pull(by="olivia", head_files={PATH: "x" * 200_000})
    gate.settle()
    run = _run(gate)
    assert run.conclusion == "neutral"
    assert "larger than" in run.output["summary"]


def test_where_github_does_not_show_the_file_it_is_checked_later(gate: Any) -> None:
    gate.github.fault("status", status=500, method="GET", path="/contents/", times=6)
    gate.world.open_pull(by="stranger")
    gate.settle()
    gate.github.faults.clear()
    gate.clock.pass_(minutes=20)
    gate.sweep.ring()
    gate.settle()
    gate.github.fault("status", status=500, method="GET", path="/contents/", times=6)
    gate.world.open_pull(by="olivia", head_files={PATH: BAD})
    gate.settle()
    assert _run(gate) is None
    gate.github.faults.clear()
    gate.clock.pass_(minutes=20)
    gate.sweep.ring()
    gate.settle()
    assert _run(gate).conclusion == "neutral"


def test_what_stands_in_the_file_is_shown_as_text(gate: Any) -> None:
    hostile = '"@octocat <b>[x](https://evil.example)": 1\n'
    gate.world.open_pull(by="stranger", head_files={PATH: hostile})
    gate.settle()
    summary = _run(gate).output["summary"]
    for bare in ("@octocat", "<b>", "](", "https://"):
        assert bare not in summary
