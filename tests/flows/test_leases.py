"""Two workers at once, and workers that die: each effect once, whoever carries it out."""

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from app.core.decision import Decision
from app.core.effects import Receipt
from app.core.errors import RetryLater
from app.core.facts import RepositoryRef
from app.db import cases, claims, inbox
from app.db.claims import Claim
from app.db.engine import Database

CLOSE = "version: 1\nmode: close\nrules:\n  burst: {mode: close, prs: 3, minutes: 10}\n"
LEASE = timedelta(seconds=30)


def _decided(gate: Any, count: int = 3) -> list[int]:
    """A flood that is decided and not acted on yet."""
    gate.policy(CLOSE)
    numbers = [gate.world.open_pull(by="stranger", title=f"No. {n}").number for n in range(count)]
    gate.deliver()
    _triage(gate)
    return numbers


def _triage(gate: Any) -> None:
    """Every bell of triage; those of perform are lost."""
    while gate.bell.rings:
        task, id_ = gate.bell.rings.popleft()
        if task == "triage":
            gate.triage.run(id_)


def _effect(gate: Any, number: int, kind: str) -> dict[str, Any]:
    sql = "SELECT * FROM outbox WHERE number = :n AND kind = :k ORDER BY id"
    found: dict[str, Any] = gate.sql(sql, n=number, k=kind)[-1]
    return found


def _claim(gate: Any, number: int) -> Claim:
    repository = gate.world.repository().id
    with gate.database.begin() as tx:
        claim = claims.claim_next(tx, repository, number, gate.clock(), LEASE)
    assert isinstance(claim, Claim)
    return claim


def _claim_kind(gate: Any, number: int, kind: str) -> Claim:
    """Claims that effect; what comes before it is held by workers that died as well."""
    while (claim := _claim(gate, number)).effect.kind != kind:
        pass
    return claim


def _write(gate: Any, number: int, claim: Claim) -> Receipt:
    """The act itself, as a worker carries it out that then dies without a word."""
    with gate.database.begin() as tx:
        known = cases.known(tx, claim.case_id)
    repository = gate.sql("SELECT * FROM repositories")[0]
    ref = RepositoryRef(
        id=repository["id"],
        installation_id=repository["installation_id"],
        owner=repository["owner"],
        name=repository["name"],
    )
    receipt: Receipt = gate.perform.writer.carry_out(
        ref, number, claim.effect, key=claim.key, known=known, again=claim.again
    )
    return receipt


def _later(gate: Any, **by: float) -> None:
    gate.clock.pass_(**by)
    gate.sweep.ring()
    gate.settle()


def _once(gate: Any, number: int) -> None:
    """Closed, with each comment and check run once."""
    pull = gate.world.pull(number)
    assert pull.state == "closed"
    bodies = Counter(c.body.split("<!--")[0] for c in pull.comments)
    assert len(bodies) == 2
    assert set(bodies.values()) == {1}
    runs = Counter(r.external_id for r in gate.world.repository().checks)
    assert set(runs.values()) == {1}
    assert [label.name for label in pull.labels] == ["needs-verification"]


def _together(*jobs: Callable[[], object]) -> list[BaseException]:
    """Runs all at the same moment; what they raised."""
    ready, raised = threading.Barrier(len(jobs)), []

    def run(job: Callable[[], object]) -> None:
        ready.wait()
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - the test reads it
            raised.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_two_workers_at_the_same_pull_request(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = [gate.world.open_pull(by="stranger", title=f"No. {n}").number for n in range(3)]
    gate.deliver()
    ids = [id_ for _, id_ in gate.bell.rings]
    jobs = [lambda id_=id_: gate.triage.run(id_) for id_ in ids]
    assert _together(*jobs, *jobs) == []
    _triage(gate)
    assert gate.sql("SELECT count(*) AS n FROM inbox WHERE handled_at IS NULL")[0]["n"] == 0
    effects = [_effect(gate, n, "label")["id"] for n in numbers]
    jobs = [lambda id_=id_: gate.perform.run(id_) for id_ in effects]
    assert _together(*jobs, *jobs) == []
    for number in numbers:
        _once(gate, number)


@pytest.mark.parametrize("kind", ["label", "check_run", "status_comment", "close_comment", "close"])
def test_a_worker_that_dies_between_the_write_and_its_record(gate: Any, kind: str) -> None:
    number = _decided(gate)[0]
    if kind == "close":
        claim = _claim_kind(gate, number, "close_comment")
        with gate.database.begin() as tx:
            claims.done(tx, claim, _write(gate, number, claim), gate.clock())
    claim = _claim_kind(gate, number, kind)
    _write(gate, number, claim)
    gate.perform.run(claim.id)  # the lease is not over: nobody else touches it
    assert _effect(gate, number, kind)["state"] == "doing"
    _later(gate, seconds=31)
    assert _effect(gate, number, kind)["state"] == "done"
    _once(gate, number)


def test_the_end_of_a_lease_is_rung_for_at_once(gate: Any) -> None:
    number = _decided(gate)[0]
    gate.clock.pass_(seconds=6)
    gate.sweep.ring()  # rung for, and counts as heard for a minute
    gate.bell.rings.clear()
    claim = _claim(gate, number)
    gate.clock.pass_(seconds=31)
    gate.sweep.ring()
    assert ("perform", claim.id) in gate.bell.rings


def test_a_worker_whose_lease_ended_records_nothing(gate: Any) -> None:
    number = _decided(gate)[0]
    late = _claim_kind(gate, number, "close_comment")
    _later(gate, seconds=31)
    _once(gate, number)
    before = gate.sql("SELECT * FROM cases WHERE number = :n", n=number)
    rows = gate.sql("SELECT * FROM outbox WHERE number = :n ORDER BY id", n=number)
    with gate.database.begin() as tx:
        assert not claims.done(tx, late, Receipt(id=1), gate.clock())
        claims.put_off(tx, late, "no answer came", gate.clock(), None)
        claims.drop(tx, late, "no longer wanted", gate.clock())
        claims.fail(tx, late, "refused", gate.clock())
        claims.hand_back(tx, late, gate.clock(), "suspended")
    assert gate.sql("SELECT * FROM outbox WHERE number = :n ORDER BY id", n=number) == rows
    assert gate.sql("SELECT * FROM cases WHERE number = :n", n=number) == before


def test_what_was_carried_out_is_done_also_when_it_was_dropped_meanwhile(gate: Any) -> None:
    number = _decided(gate)[0]
    claim = _claim_kind(gate, number, "close_comment")
    receipt = _write(gate, number, claim)
    gate.world.change_role("stranger", "write", by="olivia")
    gate.deliver()
    _triage(gate)
    assert _effect(gate, number, "close_comment")["state"] == "dropped"
    with gate.database.begin() as tx:
        assert claims.done(tx, claim, receipt, gate.clock())
    assert _effect(gate, number, "close_comment")["state"] == "done"


def test_a_newer_comment_takes_the_place_of_one_that_may_be_there(gate: Any) -> None:
    """The first status comment was written and its answer lost; then another one is wanted."""
    numbers = _decided(gate)
    claim = _claim_kind(gate, numbers[0], "status_comment")
    _write(gate, numbers[0], claim)
    gate.world.change_role("stranger", "write", by="olivia")
    gate.deliver()
    _triage(gate)
    _later(gate, seconds=31)
    comments = [c.body for c in gate.world.pull(numbers[0]).comments]
    assert len(comments) == 1
    assert "No rule applies" in comments[0]
    assert gate.world.pull(numbers[0]).state == "open"


def test_no_row_is_rung_for_twice_within_a_minute(gate: Any) -> None:
    _decided(gate)
    gate.world.open_pull(by="wendy")
    gate.deliver()
    gate.bell.rings.clear()
    gate.clock.pass_(seconds=6)
    gate.sweep.ring()
    assert Counter(task for task, _ in gate.bell.rings) == {"perform": 3, "triage": 1}
    gate.bell.rings.clear()
    for _ in range(5):
        gate.clock.pass_(seconds=10)
        assert gate.sweep.ring() == 0
    gate.clock.pass_(seconds=11)
    assert gate.sweep.ring() == 4


def test_two_sweepers_at_once_ring_once_for_each(gate: Any) -> None:
    _decided(gate, 12)
    gate.bell.rings.clear()
    gate.clock.pass_(seconds=6)
    assert _together(*[gate.sweep.ring] * 4) == []
    assert len(gate.bell.rings) == 12
    assert len(set(gate.bell.rings)) == 12


def test_two_decisions_at_once_are_one(gate: Any) -> None:
    """A PostgreSQL that restarts frees the lock while its holder still decides."""
    gate.world.open_pull(by="stranger")
    gate.deliver()
    gate.triage.run(gate.bell.rings[0][1])
    with gate.database.begin() as tx:
        row = cases.get(tx, gate.world.repository().id, 1)
        assert row is not None
    old = row.case.model_copy(update={"version": 0})
    decision = gate.sql("SELECT decision FROM decisions")[0]["decision"]
    with pytest.raises(RetryLater), gate.database.begin() as tx:
        cases.save(tx, old, Decision.model_validate(decision))
    assert gate.sql("SELECT count(*) AS n FROM decisions")[0]["n"] == 1


def test_what_another_worker_handled_stays_handled(gate: Any) -> None:
    gate.world.open_pull(by="stranger")
    gate.deliver()
    with gate.database.begin() as tx:
        waiting = inbox.pending_of_pull(tx, gate.world.repository().id, 1, gate.clock())
    gate.work()
    with gate.database.begin() as tx:
        inbox.put_off(tx, waiting, "the database did not answer", gate.clock())
    row = gate.sql("SELECT handled_at, attempts FROM inbox WHERE action = 'opened'")[0]
    assert row["handled_at"] is not None
    assert row["attempts"] == 0


def test_a_database_that_restarts_under_a_lock(gate: Any, servers: Any, start_again: Any) -> None:
    """The holder ends without an error of its own, and others are let in."""
    number = _decided(gate)[0]
    with gate.database.pull_lock(7, 7) as mine:
        assert mine
        with pytest.raises(RetryLater), gate.database.begin() as tx:
            tx.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        os.kill(servers.pids["PostgreSQL"], signal.SIGKILL)
        with pytest.raises(RetryLater), gate.database.pull_lock(7, 8):
            pass
        start_again(servers)
        with gate.database.pull_lock(7, 7) as also:
            assert also
    _later(gate, seconds=6)
    _once(gate, number)


def test_a_lock_that_another_keeps_is_left_to_it(gate: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("app.db.engine._LOCK_WAIT", "50ms")
    with gate.database.pull_lock(7, 7) as mine, gate.database.pull_lock(7, 7) as also:
        assert mine
        assert not also


def test_a_pool_without_a_free_connection_is_no_fault(database_url: str) -> None:
    small = Database(database_url, pool_size=1)
    small._engine.pool._timeout = 0.05  # type: ignore[attr-defined]
    with small.begin(), small.begin(), pytest.raises(RetryLater), small.begin():
        pass
    small.close()
