"""Everything is killed, in turn and more than once, while some hundred deliveries come in.

The product runs as a stranger starts it, with its own web, workers, beat, PostgreSQL and Valkey; the
GitHub stand-in is a process of its own that drops answers after it carried a write out, at every
kind of write. At the end nothing may be lost, doubled or stuck. `CHAOS_SEED=N` repeats a run.
"""

import os
import random
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.e2e.chaos_product import VICTIMS, Product, free_port, patiently, temporary_folder
from tests.e2e.chaos_world import Seen, World
from tests.fakes.github.process import GitHubProcess

ROUNDS = 2
PAUSE = 0.8  # seconds between two kills, on top of the time that the victim needs to come back
DELIVERIES = 200

# Every kind of write: its answer is lost after it was carried out.
WRITES: dict[str, dict[str, Any]] = {
    "label": {"method": "POST", "path": r"/issues/\d+/labels$", "times": 2},
    "new label": {"method": "POST", "path": r"/widgets/labels$"},
    "label off": {"method": "DELETE", "path": r"/issues/\d+/labels/"},
    "comment": {"method": "POST", "path": r"/comments$", "times": 4},
    "comment edit": {"method": "PATCH", "path": r"/issues/comments/\d+$"},
    "check run": {"method": "POST", "path": r"/check-runs$", "times": 3},
    "check run again": {"method": "PATCH", "path": r"/check-runs/\d+$"},
    "close": {"method": "PATCH", "path": r"/pulls/\d+$", "body": '"closed"', "times": 3},
    "reopen": {"method": "PATCH", "path": r"/pulls/\d+$", "body": '"open"', "times": 2},
}
# And what GitHub does on a bad day: nothing of it was carried out, or some page says so.
BAD_DAY: list[dict[str, Any]] = [
    {"kind": "status", "method": "GET", "path": r"/pulls/\d+$", "status": 502, "times": 4},
    {"kind": "status", "method": "GET", "path": r"/contents/", "status": 500, "times": 3},
    {"kind": "status", "method": "GET", "path": r"/permission$", "status": 500, "times": 3},
    {"kind": "status", "method": "POST", "path": r"/access_tokens$", "status": 502},
    {"kind": "status", "method": "PATCH", "path": r"/pulls/\d+$", "status": 500},
    {"kind": "status_after", "method": "POST", "path": r"/comments$", "status": 502},
    {"kind": "drop_before", "method": "POST", "path": r"/check-runs$"},
    {"kind": "drop_after", "method": "POST", "path": r"/attempts$"},
    {"kind": "secondary_limit", "method": "POST", "path": r"/comments$", "seconds": 1},
    {"kind": "secondary_limit", "method": "POST", "path": r"/labels$", "status": 429, "seconds": 1},
    {"kind": "primary_limit", "method": "GET", "path": r"/permission$", "seconds": 1},
]


@dataclass
class Run:
    """One run and its figures."""

    product: Product
    github: GitHubProcess
    world: World
    chance: random.Random
    killed: Counter[str] = field(default_factory=Counter)
    begin: float = field(default_factory=time.monotonic)

    def seen(self) -> Seen:
        return Seen(self.github.state())

    def people(self, ended: threading.Event) -> None:
        """All acts, spread over the time of the kills, each as soon as people have a reason to."""
        members = False
        while not ended.is_set() and (self.world.waiting or not members):
            seen = self.seen()
            for _ in range(6):
                if not self.world.step(seen):
                    break
                time.sleep(0.03)
            if not members and not self.world.waiting:
                for n in range(2):
                    self.world.member(n)
                members = True
            time.sleep(0.2)

    def kills(self) -> None:
        """Each process in turn, and the broker's memory, as often as there are rounds."""
        for _ in range(ROUNDS):
            for victim in self.chance.sample(VICTIMS, len(VICTIMS)):
                patiently(lambda victim=victim: self.product.kill(victim))
                self.killed[victim] += 1
                time.sleep(PAUSE * self.chance.uniform(0.5, 1.5))
            patiently(self.product.flush_broker)
            self.killed["the broker's memory"] += 1

    def left(self) -> list[str]:
        """What is not done yet."""
        sent = {d["guid"]: d for d in self.github.state()["deliveries"]}
        here = self.product.rows(
            "SELECT split_part(key, ':', 2) AS guid, handled_at FROM inbox WHERE source = 'github'"
        )
        waits = self.product.rows(
            "SELECT event, attempts, due_at, rung_at, last_error FROM inbox"
            " WHERE handled_at IS NULL"
        )
        acts = self.product.rows(
            "SELECT key, state, attempts, due_at, rung_at, lease_until, reason"
            " FROM outbox WHERE state IN ('pending', 'doing')"
        )
        if here is None or waits is None or acts is None:
            return ["the database does not answer"]
        known = {row["guid"] for row in here}
        return [
            *(f"act of a person: {len(self.world.waiting)} more" for _ in self.world.waiting[:1]),
            *(f"never came: {d['event']} {d}" for guid, d in sent.items() if guid not in known),
            *(f"not handled: {row}" for row in waits),
            *(f"not carried out: {row}" for row in acts),
        ]


@pytest.fixture
def run() -> Iterator[Run]:
    seed = int(os.environ.get("CHAOS_SEED", "20261"))
    print(f"CHAOS_SEED={seed}")
    folder, port = temporary_folder(), free_port()
    with GitHubProcess(webhook_url=f"http://127.0.0.1:{port}/webhooks/github") as github:
        app = github.state()["app"]
        env = {
            "GITHUB_API_URL": github.api_url,
            "GITHUB_WEB_URL": github.web_url,
            "GITHUB_APP_ID": str(app["id"]),
            "GITHUB_PRIVATE_KEY": app["private_key_pem"].replace("\n", "\\n"),
            "GITHUB_WEBHOOK_SECRET": app["webhook_secret"],
            # Longer than any act takes here, however busy the machine is, and still short.
            "EFFECT_LEASE_SECONDS": "12",
            "SWEEP_SECONDS": "1",
            "RING_AGAIN_SECONDS": "4",
            "REDELIVER_SECONDS": "3",
        }
        with Product(folder, port, env) as product:
            world = World(github, seed)
            yield Run(product, github, world, random.Random(seed + 1))
    shutil.rmtree(folder, ignore_errors=True)


def faults(chance: random.Random) -> list[dict[str, Any]]:
    """Each strikes somewhere in the course of the run."""
    lost = [
        {"kind": "drop_after", "skip": chance.randrange(4), **where} for where in WRITES.values()
    ]
    bad = [{"skip": chance.randrange(12), **fault} for fault in BAD_DAY]
    return [*bad, *lost]


def until(condition: Callable[[], object], what: Callable[[], str], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what()}"
        time.sleep(0.2)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_nothing_is_lost_doubled_or_stuck_whatever_is_killed(run: Run) -> None:
    product, github = run.product, run.github
    until(product.ready, lambda: "\n".join(product.log), 60)
    up = time.monotonic()
    github.do("disorder", seed=run.chance.randrange(1000))
    github.set_faults(*faults(run.chance))

    ended = threading.Event()
    people = threading.Thread(target=run.people, args=(ended,))
    people.start()
    try:
        run.kills()
        calm = time.monotonic()
        until(
            lambda: not people.is_alive() and not run.left() and not run.left(),
            lambda: "\n".join(run.left()),
            90,
        )
    finally:
        ended.set()
        people.join()
    _tell(run, up, calm)
    _judge(run)
    assert product.stop() == 0


def _tell(run: Run, up: float, calm: float) -> None:
    now = time.monotonic()
    deliveries = run.github.state()["deliveries"]
    guids = {d["guid"] for d in deliveries}
    again = sum(d["redelivery"] for d in deliveries)
    acts = run.product.rows(
        "SELECT state, count(*) AS n, sum(attempts) AS tries FROM outbox GROUP BY 1"
    )
    busiest = run.product.rows(
        "SELECT max(n) AS n FROM (SELECT count(*) AS n FROM outbox WHERE attempted_at IS NOT NULL GROUP BY installation_id) x"
    )
    print(
        f"{run.world.acts} acts of people, {len(guids)} deliveries, {again} redelivered;"
        f" killed: {dict(run.killed)}; up in {up - run.begin:.1f} s, kills {calm - up:.1f} s, drained"
        f" {now - calm:.1f} s after the last one, {now - run.begin:.1f} s in all; effects: {acts}; {busiest}"
    )


def _tell_of(run: Run, problem: str) -> None:
    """Everything that was stored of one pull request, in order: what a fault is found by."""
    found = re.search(r"(org\d+)/widgets#(\d+)", problem)
    if not found:
        return
    owner, number = found.groups()
    where = f"r.owner = '{owner}' AND r.id = x.repository_id"
    print(f"== {problem}")
    for question in (
        "SELECT x.id, event, action, source, received_at, handled_at, attempts, outcome"
        f" FROM inbox x, repositories r WHERE {where} AND pull_number = {number} ORDER BY 1",
        "SELECT d.version, d.state, d.decided_at, d.decision->>'summary' AS why,"
        " d.decision->>'head_sha' AS head FROM decisions d JOIN cases x ON x.id = d.case_id,"
        f" repositories r WHERE {where} AND x.number = {number} ORDER BY 1",
        "SELECT x.id, x.key, x.state, x.attempts, x.attempted_at, x.ended_at, x.reason, x.receipt"
        f" FROM outbox x, repositories r WHERE {where} AND x.number = {number} ORDER BY 1",
        f"SELECT h.* FROM hands h JOIN cases x ON x.id = h.case_id, repositories r WHERE {where}"
        f" AND x.number = {number}",
        "SELECT x.closed_at, x.reopened_at, x.state, x.pull_state, x.updated_at FROM cases x,"
        f" repositories r WHERE {where} AND x.number = {number}",
    ):
        for row in run.product.rows(question) or []:
            print("  ", {k: str(v) for k, v in row.items()})


def _judge(run: Run) -> None:
    seen = run.seen()
    state = seen.state
    problems = run.world.problems(seen)
    for problem in problems:
        _tell_of(run, problem)
    assert problems == []
    assert state["violations"] == []
    assert len({d["guid"] for d in state["deliveries"]}) >= DELIVERIES
    assert run.world.acts >= DELIVERIES
    assert [f for f in state["faults"] if f["kind"] == "drop_after" and not f["hits"]] == []
    # A second attempt may find that a person was there in between, and then leaves it to them.
    rows = run.product.rows(
        "SELECT kind, state, reason FROM outbox WHERE state = 'failed'"
        " AND reason NOT LIKE 'somebody%' AND reason NOT LIKE 'we closed it, and somebody%'"
    )
    assert rows == []
    rows = run.product.rows(
        "SELECT event, outcome, last_error FROM inbox WHERE attempts > 50"
        " OR last_error LIKE 'fault%' OR outcome LIKE 'given up%'"
    )
    assert rows == []
    assert [line for line in run.product.log if "fault of ours" in line] == []
