"""`pulsegate replay` of the recorded day: the story comes out, and nobody is asked or written to."""

import gzip
import json
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import ProgrammingError

from app.adapters.embedded import EmbeddedServers
from app.core.said import Sentence
from app.settings import Settings
from app.wiring.replay import opened, replay
from app.wiring.welcome import RECORDED_DAY
from ops import recorded_story as story
from tests.e2e.service import KEY, environment, pulsegate
from tests.fakes.github.world import key_pair
from tests.fakes.loopback import Listener

Sql = Callable[..., list[dict[str, Any]]]
IDS = {login: person.id for login, person in story.PEOPLE.items()}
FLOOD = IDS[story.FLOOD]


@pytest.fixture
def env(database_url: str, redis_url: str) -> dict[str, str]:
    return {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "SECRET_KEY": KEY}


@pytest.fixture
def github(env: dict[str, str], folder: Path) -> Iterator[Listener]:
    """A configured GitHub that must hear nothing."""
    (folder / "app.pem").write_text(key_pair(0)[0])
    with Listener() as listener:
        env |= {
            "GITHUB_API_URL": listener.url,
            "GITHUB_WEB_URL": listener.url,
            "GITHUB_APP_ID": "4242",
            "GITHUB_PRIVATE_KEY_FILE": str(folder / "app.pem"),
        }
        yield listener


def _replay(folder: Path, env: dict[str, str]) -> dict[str, int]:
    done = pulsegate(folder, "replay", str(RECORDED_DAY), "--json", **env)
    assert (done.returncode, done.stderr) == (0, "")
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


def test_the_story_comes_out_once_and_nobody_is_asked(
    folder: Path, env: dict[str, str], github: Listener, sql: Sql
) -> None:
    deliveries = len(RECORDED_DAY.read_text().splitlines()) - 1
    assert _replay(folder, env) == {"replayed": deliveries, "seen_before": 0}
    _the_flood_and_nobody_else_is_flagged(sql)
    _everybody_else_came_out_as_they_are(sql)
    _no_decision_rests_on_what_came_later(sql)
    assert sql("SELECT event, last_error FROM inbox WHERE handled_at IS NULL OR attempts > 0") == []
    assert {r["state"] for r in sql("SELECT state FROM outbox")} == {"observed"}

    everything = "SELECT * FROM {} ORDER BY id"
    tables = ("inbox", "cases", "decisions", "outbox", "installations", "repositories")
    before = [sql(everything.format(table)) for table in tables]
    assert _replay(folder, env) == {"replayed": 0, "seen_before": deliveries}
    assert [sql(everything.format(table)) for table in tables] == before
    assert github.received == []


def _the_flood_and_nobody_else_is_flagged(sql: Sql) -> None:
    flagged = sql("SELECT author_id, count(*) AS n FROM cases WHERE state = 'flagged' GROUP BY 1")
    assert flagged == [{"author_id": FLOOD, "n": 43}]
    last = sql(
        "SELECT d.decision FROM cases c JOIN decisions d ON d.case_id = c.id"
        " AND d.version = c.version WHERE c.author_id = :flood",
        flood=FLOOD,
    )
    for row in last:
        decision = row["decision"]
        assert decision["findings"][0]["rule"] == "burst"
        closes = [p for p in decision["planned"] if p["effect"]["kind"] == "close"]
        assert [p["observe"] for p in closes] == [True], "would have closed"
    closes = sql("SELECT state FROM outbox WHERE kind = 'close'")
    assert [row["state"] for row in closes] == ["observed"] * 43


def _everybody_else_came_out_as_they_are(sql: Sql) -> None:
    seen: dict[int | None, Counter[str]] = {}
    for row in sql("SELECT c.author_id, d.state FROM cases c JOIN decisions d ON d.case_id = c.id"):
        seen.setdefault(row["author_id"], Counter())[row["state"]] += 1
    regular = seen[IDS["oyelaran-dev"]]
    assert regular["clear"] >= 3
    assert set(regular) <= {"clear", "ended"}
    assert "flagged" not in seen[IDS["claude-moreau"]]
    assert seen[IDS["claude-moreau"]]["clear"] >= 2
    team = [login for login, person in story.PEOPLE.items() if person.role]
    opened = [login for login in team if IDS[login] in seen]
    assert len(opened) >= 4
    for login in opened:
        assert set(seen[IDS[login]]) <= {"exempt", "ended"}, login
    bot = seen[IDS["dependabot[bot]"]]
    assert bot["exempt"] >= 1
    assert set(bot) <= {"exempt", "ended"}

    ghosts = sql("SELECT state, pull_state FROM cases WHERE snapshot->'user' = 'null'")
    assert ghosts == [{"state": "left_alone", "pull_state": "open"}]
    merged = sql("SELECT state FROM cases WHERE merged")
    assert len(merged) > 15
    assert {row["state"] for row in merged} == {"ended"}
    old = sql("SELECT state FROM cases WHERE number = 2437")
    assert [row["state"] for row in old] == ["left_alone"]


def _no_decision_rests_on_what_came_later(sql: Sql) -> None:
    flood = sql(
        "SELECT c.number, c.opened_at, d.version, d.state, d.decided_at, d.decision"
        " FROM cases c JOIN decisions d ON d.case_id = c.id WHERE c.author_id = :flood"
        " ORDER BY c.opened_at, d.version",
        flood=FLOOD,
    )
    numbers = list(dict.fromkeys(row["number"] for row in flood))
    opened = {row["number"]: row["opened_at"] for row in flood}
    stands = {n: [r["state"] for r in flood if r["number"] == n] for n in numbers}
    assert [stands[n][0] for n in numbers[:5]] == ["clear"] * 4 + ["flagged"]
    assert all(stands[n][:2] == ["clear", "flagged"] for n in numbers[:4])
    fifth = next(r["decided_at"] for r in flood if r["number"] == numbers[4])
    for number in numbers[:4]:
        again = next(r for r in flood if r["number"] == number and r["version"] == 2)
        assert again["decided_at"] == fifth
    for row in flood:
        assert row["decided_at"] >= opened[row["number"]]
        before = sum(1 for at in opened.values() if at <= row["decided_at"])
        for finding in row["decision"]["findings"]:
            said = f"opened {before} pull requests"
            assert finding["rule"] != "burst" or said in str(
                Sentence.model_validate(finding["sentence"])
            )
    # Each was made at a time at which something happened, none by the clock of the machine.
    odd = "SELECT 1 FROM decisions WHERE decided_at NOT IN (SELECT received_at FROM inbox)"
    assert sql(odd) == []


def test_a_broken_line_is_named_and_what_came_before_it_is_kept(
    folder: Path, env: dict[str, str], sql: Sql
) -> None:
    lines = RECORDED_DAY.read_text().splitlines()
    broken = folder / "broken.jsonl"
    broken.write_text(
        "\n".join([*lines[:12], '{"event": "pull_request", "payload": {', *lines[12:]])
    )
    done = pulsegate(folder, "replay", str(broken), **env)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "line 13 of the recording is not JSON" in done.stderr
    assert "what to do: " in done.stderr
    assert "Traceback" not in done.stderr
    kept = sql("SELECT outcome FROM inbox WHERE source = 'replay'")
    assert len(kept) == 11
    assert None not in {row["outcome"] for row in kept}
    broken.write_text("\n".join(lines[:20]))
    settings = Settings(_env_file=None, **{name.lower(): value for name, value in env.items()})
    assert [step.new for step in replay(settings, broken)] == [False] * 11 + [True] * 8


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file"),
        (gzip.compress(b"{}" * 5000)[:-9], "ended before"),
        (b"\x1f\x8bnothing", "cannot be read"),
        (gzip.compress(bytes(range(256)))[:20] + b"\xff" * 60, "cannot be read"),
    ],
    # The bytes carry the time, and every process of xdist must collect the same names.
    ids=["absent", "cut off", "not gzip", "damaged"],
)
def test_a_file_that_cannot_be_read(
    folder: Path, complains: Callable[..., str], content: bytes | None, problem: str
) -> None:
    file = folder / "recording.gz"
    if content is not None:
        file.write_bytes(content)

    def read() -> None:
        with opened(file) as lines:
            lines.read()

    said = complains(read)
    assert f"{file} cannot be read" in said
    assert problem in said


def _pull(**more: Any) -> str:
    times = {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
    branch = {"ref": "x", "sha": "0" * 40}
    pull = {"id": 1, "number": 1, "state": "open", "title": "x", "head": branch, "base": branch}
    repository = {"id": 1, "name": "n", "full_name": "o/n"}
    payload = {"pull_request": {**pull, **times, **more}, "repository": repository}
    return json.dumps({"event": "pull_request", "payload": {"action": "opened", **payload}})


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (_pull(title="\ud800"), 2),
        (_pull(**{"\ud800": 1}), 2),
        ('{"event": "push", "payload": {"x": ' + "[" * 240 + "]" * 240 + "}}", 2),
        ('{"event": "push", "payload": {"x": ' + "[" * 900 + "]" * 900 + "}}", 2),
        ('{"event": "push", "payload": {"installation": {"id": 99999999999999999999}}}', 0),
        (_pull(created_at="0001-01-01T00:00:00Z"), 0),
        (_pull(created_at="9999-12-31T23:59:59Z"), 0),
        ('{"recording": 1, "policies": {"o/n": "mode: !!bool x"}}', 2),
    ],
)
def test_a_hostile_recording_ends_in_words_and_leaves_no_row_behind(
    folder: Path, env: dict[str, str], sql: Sql, line: str, code: int
) -> None:
    hostile = folder / "hostile.jsonl"
    hostile.write_text(f"{line}\n{_pull()}\n")
    done = pulsegate(folder, "replay", str(hostile), **env)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert sql("SELECT id FROM inbox WHERE handled_at IS NULL") == []


@pytest.mark.parametrize("depth", [240, 900])
def test_a_line_that_could_not_be_stored_is_named(
    folder: Path, env: dict[str, str], sql: Sql, depth: int
) -> None:
    file = folder / "recording.jsonl"
    deep = '{"event": "push", "payload": {"x": ' + "[" * depth + "]" * depth + "}}"
    file.write_text(f"{_pull()}\n{deep}\n")
    done = pulsegate(folder, "replay", str(file), **env)
    assert done.returncode == 2
    assert "line 2 of the recording is nested too deeply" in done.stderr
    assert [row["outcome"] for row in sql("SELECT outcome FROM inbox")] == ["decided: left_alone"]


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(
    folder: Path, env: dict[str, str], complains: Callable[..., str]
) -> None:
    file = folder / "bomb.gz"
    file.write_bytes(gzip.compress(b"x" * 300_000_000, 1))
    settings = Settings(_env_file=None, **{name.lower(): value for name, value in env.items()})
    tracemalloc.start()
    try:
        assert "line 1 of the recording is longer" in complains(
            lambda: list(replay(settings, file))
        )
        assert tracemalloc.get_traced_memory()[1] < 150_000_000
    finally:
        tracemalloc.stop()


def test_a_database_that_dies_meanwhile_is_a_sentence(folder: Path, wait_for: Any) -> None:
    servers = EmbeddedServers(folder / "own", durable=False)
    servers.start()
    try:
        env = {"DATABASE_URL": servers.database_url, "REDIS_URL": servers.redis_url}
        running = subprocess.Popen(
            [sys.executable, "-m", "app.cli", "replay", str(RECORDED_DAY)],
            env=environment(folder, SECRET_KEY=KEY, **env),
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        engine = create_engine(servers.database_url)

        def begun() -> bool:
            with suppress(ProgrammingError), engine.begin() as tx:
                return bool(tx.execute(text("SELECT count(*) FROM inbox")).scalar_one())
            return False

        wait_for(begun, "the first delivery is stored")
        engine.dispose()
    finally:
        servers.stop()
    _, said = running.communicate(timeout=60)
    assert running.returncode == 2, said
    assert "Traceback" not in said
    assert "the database did not answer" in said
    assert "try again" in said
