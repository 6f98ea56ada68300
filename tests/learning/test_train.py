"""Training and judging, on small tables made up here: the same bytes twice, and any table missing."""

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from app.adapters.model import load
from app.cli import app
from app.core.activity import ACTIVITY_FEATURES
from app.core.errors import UserError
from app.learning import accounts, tables
from app.learning.evaluate import evaluate
from app.learning.figures import write
from app.learning.train import train

START = datetime(2025, 5, 1, tzinfo=UTC)


def quiet(_: str) -> None:
    return None


def _pull(n: int, rng: random.Random) -> dict[str, Any]:
    agent = n % 3 > 0
    words = ["cache", "parser", "index", "docs", "route", "token", "build", "test"]
    some = [rng.choice(words) for _ in range(6)]
    if agent:
        body = f"## Summary\n- Add {some[0]} to {some[1]}\n- Update `{some[2]}`\n\n## Testing\n- `pytest`\n"
    else:
        body = (
            f"The {some[0]} was broken when the {some[1]} came twice, so I look at {some[2]} first."
        )
    return {
        "pr_id": n, "repo_hash": f"r{n % 24}", "number": n,
        "agent": ("Copilot" if n % 3 == 1 else "Devin") if agent else "Human",
        "label": int(agent), "label_quality": "agent" if agent else "human_clean",
        "source": "aidev_pop_v1", "in_core": True, "author_hash": f"a{n % 30}",
        "discloses_agent": agent and n % 2 == 0,
        "created_at": START + timedelta(hours=n), "closed_at": START + timedelta(hours=n + 2),
        "merged_at": None, "title": f"Fix the {some[3]}" if agent else f"{some[4]} again",
        "body": body,
    }  # fmt: skip


def _events(pulls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for p in pulls:
        common = {"pr_id": p["pr_id"], "author_hash": p["author_hash"], "src": "aidev_reviews"}
        asked = p["created_at"] + timedelta(minutes=5)
        found.append({**common, "role": "human", "kind": "comment", "actor_hash": "x", "at": asked})
        if p["pr_id"] % 5:
            late = asked + timedelta(minutes=1)
            found.append(
                {**common, "role": "author", "kind": "comment", "actor_hash": "y", "at": late}
            )
    return found


def _accounts(rng: random.Random) -> list[dict[str, Any]]:
    found = []
    for n in range(160):
        bot = n % 4 == 0
        row = {("NA_" if f == "NA" else f): rng.random() + 2 * bot for f in ACTIVITY_FEATURES}
        found.append({**row, "label_2026": "Bot" if bot else "Human"})
    return found


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    rng = random.Random(1)
    pulls = [_pull(n, rng) for n in range(300)]
    replies = [
        {
            "pr_id": n, "actor_class": "autonomous_app" if n % 2 else "human", "repo_hash": "r",
            "author_hash": f"a{n % 4}", "at": START, "lat_last_s": 20.0 if n % 2 else 20_000.0,
        }
        for n in range(60)
    ]  # fmt: skip
    reviewers = [{"pr_id": n, "agent": "Devin", "lat_s": 30_000.0} for n in range(60)]
    old = [
        {
            "title": "Correct a word (#1)", "body": None, "repo": "a/b", "author_is_bot": 0,
            "authored_at": "2021-01-01T00:00:00+00:00",
        }
    ]  # fmt: skip
    scanned = [
        {
            "fixture": f"f{k}", "label": "automation" if k == 0 else "organic",
            "type": "PullRequestEvent", "action": "opened", "repo_hash": f"r{k}{n % 40}",
            "own_repo": False, "number": n, "at": (START + timedelta(minutes=n * (1 + 4000 * k))).isoformat(),
            "body": "",
        }
        for k in range(2)
        for n in range(60)
    ]  # fmt: skip
    made = {
        "prs": pulls, "pr_events": _events(pulls), "accounts_rabbit_bothawk": _accounts(rng),
        "reply_latency": replies, "reviewer_latency": reviewers, "merged_pr_commits": old,
        "agentscan_events": scanned,
    }  # fmt: skip
    for name, rows in made.items():
        pq.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")
    return folder


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("models")
    train(data, out, quiet, judge=False)
    return out


def test_the_same_rows_give_the_same_bytes(data: Path, trained: Path, tmp_path: Path) -> None:
    train(data, tmp_path, quiet, judge=False)
    names = sorted(p.name for p in trained.iterdir())
    assert names == sorted(p.name for p in tmp_path.iterdir())
    assert all((trained / n).read_bytes() == (tmp_path / n).read_bytes() for n in names)
    assert str(tmp_path) not in (tmp_path / "manifest.json").read_text()


def test_it_learns_what_there_is_to_learn(data: Path, trained: Path) -> None:
    found = evaluate(load(trained), data, quiet)
    prs = found.shipped["prs"]
    assert prs["n"] == 300
    assert prs["auc"] > 0.95
    assert set(prs) >= {
        *("n", "auc", "recall_at_1pct", "flagged_people_at_threshold", "unknown_share", "ece"),
        *("undisclosed", "families"),
    }
    assert set(prs["families"]) == {"Copilot", "Devin"}
    assert set(prs["families"]["Devin"]) == {"auc", "recall_at_1pct"}
    assert found.shipped["before_2022_11_30"] == {"flagged": 0, "of": 1}
    scan = found.shipped["agentscan"]
    assert (scan["found"], scan["of_automation"], scan["of_organic"]) == (1, 1, 1)
    assert set(found.shipped["reply_latency"]) == {"autonomous_app", "human"}
    assert 0 <= found.shipped["unattended"]["auc"] <= 1
    # It says that it is judged on what it learnt from.
    assert any("prs is the very table" in note for note in found.notes)
    json.dumps(found.as_json({}), allow_nan=False)


@pytest.mark.parametrize("missing", ["prs", "pr_events", "agentscan_events", "merged_pr_commits"])
def test_a_missing_table_leaves_its_figures_out(
    data: Path, trained: Path, tmp_path: Path, missing: str
) -> None:
    for file in data.glob("*.parquet"):
        if file.stem != missing:
            (tmp_path / file.name).symlink_to(file)
    found = evaluate(load(trained), tmp_path, quiet).shipped
    gone = {
        "prs": {"prs", "unattended"},
        "pr_events": {"unattended"},
        "agentscan_events": {"agentscan"},
        "merged_pr_commits": {"before_2022_11_30"},
    }[missing]
    every = {"prs", "unattended", "agentscan", "before_2022_11_30", "reply_latency"}
    assert set(found) == every - gone


def test_the_commands_write_what_they_say(data: Path, trained: Path, tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    args = ["evaluate", "--data", str(data), "--models", str(trained), "--json", str(out)]
    done = CliRunner().invoke(app, [*args, "--figures", str(tmp_path / "drawn")])
    assert done.exit_code == 0, done.output
    assert set(json.loads(out.read_text())) == {"shipped", "intervals", "notes", "protocol"}
    assert sorted(p.name for p in (tmp_path / "drawn").iterdir()) == [
        *("calibration.svg", "families.svg", "months.svg", "roc.svg")
    ]
    nothing = CliRunner().invoke(app, ["evaluate", "--data", str(tmp_path / "no")])
    assert isinstance(nothing.exception, UserError)


def test_no_rows_no_figures(data: Path, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "agentscan_events.parquet").symlink_to(data / "agentscan_events.parquet")
    found = evaluate(load(trained), tmp_path, quiet)
    assert set(found.shipped) == {"agentscan"}
    assert write(found, tmp_path / "drawn") == []


def test_rows_without_a_licence_train_nothing() -> None:
    assert not tables.licensed("purdue_perf")
    assert not tables.licensed("renato_reviews")
    assert tables.licensed("aidev_pop_v1")


def test_training_without_its_tables_is_a_sentence(tmp_path: Path, data: Path) -> None:
    (tmp_path / "prs.parquet").symlink_to(data / "prs.parquet")
    with pytest.raises(UserError, match="is missing"):
        train(tmp_path, tmp_path / "out", quiet, judge=False)
    with pytest.raises(UserError, match="no table"):
        tables.folder(tmp_path / "..")
    (tmp_path / "prs.parquet").unlink()
    (tmp_path / "prs.parquet").write_bytes(b"no parquet")
    with pytest.raises(UserError, match="cannot be read"):
        tables.read(tmp_path, "prs")
    assert accounts.bimbas(tmp_path) is None
