"""`pulsegate score` as somebody runs it: a process, GitHub's stand-in, words or JSON."""

import json
import math
from pathlib import Path

import pytest

from tests.e2e.service import pulsegate
from tests.fakes.fixtures import github as github  # noqa: PLC0414 - a fixture
from tests.fakes.github import GitHub

BODY = "## Summary\n- Add the cache\n\n## Testing\n- `pytest`\n"


@pytest.fixture
def address(github: GitHub) -> str:
    """A pull request's address."""
    pull = github.world.open_pull(by="stranger", title="Add a cache", body=BODY)
    return f"{github.web_url}/acme/widgets/pull/{pull.number}"


def test_a_pull_request_by_its_address_is_scored_and_explained(
    github: GitHub, address: str, tmp_path: Path
) -> None:
    done = pulsegate(tmp_path, "score", address, GITHUB_API_URL=github.api_url)
    assert done.returncode == 0, done.stderr
    assert "Add a cache" in done.stdout
    assert "Score: **unknown**" in done.stdout
    assert "counts for nothing else" in done.stdout
    assert [r.path for r in github.requests if "/events/public" in r.path]


def test_what_is_printed_as_json_adds_up(github: GitHub, address: str, tmp_path: Path) -> None:
    done = pulsegate(tmp_path, "score", address, "--json", GITHUB_API_URL=github.api_url)
    assert done.returncode == 0, done.stderr
    score = json.loads(done.stdout)["score"]
    odds = score["base"] + sum(s["weight"] for s in score["signals"])
    assert score["probability"] == pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-3)
    assert score["low"] <= score["probability"] <= score["high"]


def test_one_that_is_not_there_ends_in_a_sentence(
    github: GitHub, address: str, tmp_path: Path
) -> None:
    done = pulsegate(tmp_path, "score", f"{address}999", GITHUB_API_URL=github.api_url)
    assert done.returncode == 2
    assert "GitHub does not show" in done.stderr
    assert "Traceback" not in done.stderr
