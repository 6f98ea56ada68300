"""Every payload that GitHub's own examples show, and odd ones: taken in, worked off, no error.

The web app answers over HTTP, the real tasks work, and GitHub is the stand-in, which knows none of
the installations and repositories of the examples and says so, as GitHub would.
"""

import gzip
import json
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from structlog.testing import capture_logs

from app.core.ports import Task
from app.settings import Settings
from app.wiring.worker import WorkerParts
from app.worker.tasks import register
from tests.e2e.service import KEY, pulsegate
from tests.fakes.fixtures import github as github  # noqa: PLC0414 - a fixture
from tests.fakes.github import GitHub
from tests.fakes.node import require_package
from tests.web.serving import Server

Sql = Callable[..., list[dict[str, Any]]]


class Bell:
    """Rings that the test carries out itself."""

    def __init__(self) -> None:
        self.rings: deque[tuple[Task, int]] = deque()

    def ring(self, task: Task, id: int) -> None:
        self.rings.append((task, id))


class Gate:
    """The web app on a port, and the worker's real tasks in this process."""

    def __init__(self, server: Server, parts: WorkerParts, bell: Bell, secret: str) -> None:
        self.server = server
        self._bell = bell
        self._secret = secret
        self._parts = parts
        self._celery = Celery(set_as_current=False)
        register(self._celery, parts.flows)

    def deliver(self, event: str, body: bytes) -> int:
        """The status that GitHub would see."""
        answer = self.server.deliver(
            body,
            secret=self._secret,
            x_github_event=event,
            x_github_delivery=str(uuid.uuid4()),
        )
        return answer.status_code

    def work(self, ids: list[int]) -> None:
        """What the doorbell of web rang for, then whatever the workers ring for."""
        self._bell.rings.extend(("triage", id_) for id_ in ids)
        while self._bell.rings:
            task, id_ = self._bell.rings.popleft()
            self._celery.tasks[f"pulsegate.{task}"](id_)


@pytest.fixture
def gate(
    github: GitHub,
    database_url: str,
    redis_url: str,
    engine: object,
    wait_for: Callable[..., None],
) -> Iterator[Gate]:
    app = github.world.app
    given = {
        "database_url": database_url,
        "redis_url": redis_url,
        "secret_key": KEY,
        "github_api_url": github.api_url,
        "github_web_url": github.web_url,
        "github_app_id": app.id,
        "github_private_key": app.private_key_pem,
        "github_webhook_secret": app.webhook_secret,
        "github_client_id": app.client_id,
        "github_client_secret": app.client_secret,
    }

    def settings(**more: Any) -> Settings:
        return Settings(_env_file=None, **given, **more)

    bell = Bell()
    parts = WorkerParts(settings(), doorbell=bell)
    with Server(settings).running(wait_for) as server:
        yield Gate(server, parts, bell, app.webhook_secret)
    parts.close()


def _examples() -> list[tuple[str, dict[str, Any]]]:
    folder = require_package("@octokit/webhooks-examples")
    events = json.loads((folder / "api.github.com" / "index.json").read_text())
    return [(event["name"], example) for event in events for example in event["examples"]]


@pytest.fixture
def said() -> Iterator[list[Any]]:
    """What the service logs in this process."""
    with capture_logs() as lines:
        yield lines


def _all_went_well(sql: Sql, said: list[Any]) -> dict[str, int]:
    """No row waits, was tried twice or failed, and nothing was logged; how often what came of it."""
    trouble = sql(
        "SELECT event, action, attempts, outcome, last_error FROM inbox"
        " WHERE handled_at IS NULL OR attempts > 0 OR last_error IS NOT NULL"
    )
    assert trouble == []
    assert said == []
    rows = sql("SELECT outcome, count(*) AS n FROM inbox GROUP BY outcome")
    return {row["outcome"]: row["n"] for row in rows}


def test_every_example_of_github_is_taken_and_worked_off(
    gate: Gate, github: GitHub, sql: Sql, said: list[Any]
) -> None:
    examples = _examples()
    assert len(examples) == 329
    for event, payload in examples:
        assert gate.deliver(event, json.dumps(payload).encode()) == 202, event
    ids = [row["id"] for row in sql("SELECT id FROM inbox ORDER BY id")]
    assert len(ids) == 329
    gate.work(ids)
    outcomes = _all_went_well(sql, said)
    assert outcomes["left: unknown installation"] == 9
    assert outcomes["noted: not a check run of ours"] > 5
    assert sum(outcomes.values()) == 329
    assert not any(outcome.startswith("decided") for outcome in outcomes)
    assert sql("SELECT 1 FROM outbox") == []
    asked = [r.path for r in github.requests if r.method != "GET" and "access_tokens" not in r.path]
    assert asked == []


def _odd(installation: int, repository: int) -> list[tuple[str, Any]]:
    """Payloads as nobody should send them, some of them addressed to what we know."""
    here = {
        "installation": {"id": installation},
        "repository": {"id": repository, "name": "widgets", "full_name": "acme/widgets"},
    }
    hostile = "\x00\u202egnp.exe 𝕏 👩‍👩‍👧 \ufffe\ufeff " + "e\u0301" * 500
    nested: Any = {}
    for _ in range(80):
        nested = {"a": [nested]}
    return [
        ("never_heard_of", {"action": "born", **here}),
        ("pull_request", {}),
        ("pull_request", []),
        ("pull_request", [here, here]),
        ("pull_request", None),
        ("pull_request", "opened"),
        ("pull_request", {**here, "action": "opened", "pull_request": {"number": 7}}),
        ("pull_request", {**here, "action": "opened", "pull_request": {"number": -7, "id": 1}}),
        ("pull_request", {**here, "action": {}, "pull_request": {"number": 8, "title": []}}),
        ("pull_request", {**here, "pull_request": {"number": 2**62, "user": 5, "head": "x"}}),
        ("pull_request", {**here, "pull_request": {"number": 2**80}}),
        ("pull_request", {**here, "action": hostile, "pull_request": {"number": 9}}),
        ("pull_request", {"installation": {"id": True}, "repository": {"id": 0}}),
        ("pull_request", {"pad": "x" * 24_000_000, **here}),
        ("issue_comment", {**here, "issue": {"number": 7, "pull_request": {}}, "comment": []}),
        ("pull_request_review", {**here, "pull_request": {"number": 7}, "review": hostile}),
        ("check_run", {**here, "check_run": {"pull_requests": [[], 3]}}),
        ("check_run", {**here, "check_run": {"id": 1, "head_sha": "", "pull_requests": {}}}),
        ("push", {**here, "ref": 5, "commits": [None, {"added": "x"}]}),
        ("push", {**here, "ref": hostile, "commits": [{"added": [hostile]}]}),
        ("member", {**here, "member": {"id": "x", "login": hostile}}),
        ("merge_group", {**here, "action": "checks_requested", "merge_group": {}}),
        ("installation", {"action": "created", "installation": {"id": hostile}}),
        ("installation", {"action": "suspend", "installation": []}),
        ("installation_repositories", {"action": "removed", "repositories_removed": {"id": 1}}),
        ("repository", {"action": "deleted", "repository": {"id": 1}}),
        ("ping", {"zen": hostile, "hook": nested}),
        (hostile.encode("ascii", "ignore").decode()[1:20], {}),
    ]


def test_odd_payloads_are_stored_and_ignored(
    gate: Gate, github: GitHub, sql: Sql, said: list[Any]
) -> None:
    github.world.hooks.stop()
    odd = _odd(github.world.installation.id, github.world.repository().id)
    for event, payload in odd:
        assert gate.deliver(event, json.dumps(payload).encode()) == 202, (event, payload)
    gate.work([row["id"] for row in sql("SELECT id FROM inbox ORDER BY id")])
    outcomes = _all_went_well(sql, said)
    assert sum(outcomes.values()) == len(odd)
    assert {outcome.split(":")[0] for outcome in outcomes} <= {"ignored", "left", "noted"}, outcomes
    assert sql("SELECT 1 FROM cases UNION ALL SELECT 1 FROM outbox") == []


@pytest.mark.parametrize("name", ["webhooks-examples", "payload-examples"])
def test_examples_are_replayed(
    name: str, folder: Path, database_url: str, redis_url: str, sql: Sql, root: Path
) -> None:
    if name == "webhooks-examples":
        file, wanted = folder / "examples.jsonl.gz", 329
        with gzip.open(file, "wt") as lines:
            for event, payload in _examples():
                lines.write(json.dumps({"event": event, "payload": payload}) + "\n")
    else:
        path = "shared/data/webhooks/octokit_payload_examples.jsonl.gz"
        found = [p / path for p in root.parents if (p / path).exists()]
        if not found:
            # Also under CI=true: no checkout has them.
            pytest.skip("these payloads are never shipped; they lie beside some checkouts only")
        file, wanted = found[0], 171
    env = {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "SECRET_KEY": KEY}
    done = pulsegate(folder, "replay", str(file), "--json", **env)
    assert (done.returncode, done.stderr) == (0, "")
    counts = json.loads(done.stdout)
    assert sum(counts.values()) == wanted
    trouble = sql(
        "SELECT event, last_error FROM inbox"
        " WHERE handled_at IS NULL OR attempts > 0 OR last_error IS NOT NULL"
    )
    assert trouble == []
    assert sql("SELECT count(*) AS n FROM inbox")[0]["n"] == counts["replayed"]
    assert sql("SELECT 1 FROM cases WHERE state <> 'new'") != []
    assert {r["state"] for r in sql("SELECT state FROM outbox")} <= {"observed"}
