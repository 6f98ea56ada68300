"""Every act on the world, as a row before it happens and as its record afterwards."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import and_, func, or_, select, text, update
from sqlalchemy import case as sql_case
from sqlalchemy.dialects.postgresql import insert

from app.core.decision import Decision, Planned
from app.core.effects import HEAD_MOVED, REQUIRES, Effect, EffectKind, EffectState, Notice, Receipt
from app.core.facts import Fact, RepositoryRef
from app.core.patience import backoff
from app.db.engine import Tx
from app.db.tables import outbox

_EFFECT: TypeAdapter[Effect] = TypeAdapter(Effect)
_OPEN = (EffectState.PENDING, EffectState.DOING)
_UNHEARD = timedelta(seconds=5)
_LOST = timedelta(seconds=60)
MOST_ATTEMPTS = 30

# GitHub's secondary limits are 80 content writes a minute and 500 an hour for an installation;
# some room is left for what the maintainers' other tools write under the same limits.
PACE = ((timedelta(minutes=1), 75), (timedelta(hours=1), 480))


class Claim(Fact):
    """An effect that this worker now carries out. `again`: it may have been done already."""

    id: int
    key: str
    case_id: int | None
    installation_id: int
    repository_id: int
    number: int
    effect: Effect
    decided_sha: str
    attempts: int
    again: bool


class Wait(Fact):
    """The installation has written as much as it may; nothing more before `until`."""

    until: datetime


def add_all(  # noqa: PLR0913 - the columns of the rows
    tx: Tx,
    *,
    case_id: int,
    number: int,
    repository: RepositoryRef,
    decision: Decision,
    now: datetime,
) -> list[int]:
    """Stores the effects of a decision, in order; answers the ids of those to carry out."""
    renewed = _renew(tx, case_id, decision, now)
    dropped = [kind for kind in decision.dropped_kinds if kind not in renewed]
    if dropped:
        reason = f"decision {decision.version} took its place"
        _drop_kinds(tx, case_id, (repository.id, number), dropped, reason, now)
    # One statement: PostgreSQL numbers the rows in the order of the list.
    rows = [
        _row(case_id, number, repository, decision, planned, renewed, now)
        for planned in decision.effects
        if planned.effect.kind not in renewed
    ]
    if not rows:
        return []
    made = insert(outbox).on_conflict_do_nothing(index_elements=["key"])
    stored = tx.execute(made.returning(outbox.c.id, outbox.c.state), rows)
    return sorted(row.id for row in stored if row.state == EffectState.PENDING)


def _renew(tx: Tx, case_id: int, decision: Decision, now: datetime) -> dict[EffectKind, str]:
    """Comments asked for anew of which an earlier one waits or stands there, by kind: their keys.

    A push asks for a close anew, but not for a second comment that explains it.
    """
    found: dict[EffectKind, str] = {}
    for planned in decision.effects:
        kind: EffectKind = planned.effect.kind
        if planned.observe or not isinstance(planned.effect, Notice):
            continue
        if kind not in decision.dropped_kinds:
            continue
        earlier = (
            select(outbox.c.id, outbox.c.key)
            .where(
                outbox.c.case_id == case_id,
                outbox.c.kind == kind,
                outbox.c.state.in_((*_OPEN, EffectState.DONE)),
            )
            .order_by(outbox.c.id.desc())
            .limit(1)
        )
        row = tx.execute(earlier).one_or_none()
        if row is None:
            continue
        found[kind] = row.key
        tx.execute(
            update(outbox)
            .where(outbox.c.id == row.id, outbox.c.state.in_(_OPEN))
            .values(
                decided_sha=decision.head_sha,
                # Due, unless it is something else that it waits for.
                due_at=sql_case((outbox.c.reason == HEAD_MOVED, now), else_=outbox.c.due_at),
                rung_at=None,
            )
        )
    return found


def _row(  # noqa: PLR0913
    case_id: int,
    number: int,
    repository: RepositoryRef,
    decision: Decision,
    planned: Planned,
    renewed: dict[EffectKind, str],
    now: datetime,
) -> dict[str, Any]:
    kind: EffectKind = planned.effect.kind
    before = REQUIRES.get(kind)
    requires = renewed.get(before) or _key(case_id, decision.version, before) if before else None
    return {
        "key": _key(case_id, decision.version, kind),
        "case_id": case_id,
        "installation_id": repository.installation_id,
        "repository_id": repository.id,
        "number": number,
        "kind": kind,
        "effect": planned.effect.model_dump(mode="json"),
        "decided_sha": decision.head_sha,
        "requires": requires,
        "state": EffectState.OBSERVED if planned.observe else EffectState.PENDING,
        "due_at": now,
        "created_at": now,
    }


def _key(case_id: int, version: int, kind: EffectKind) -> str:
    return f"{case_id}:{version}:{kind}"


def add_loose(  # noqa: PLR0913 - the columns of one row
    tx: Tx, *, key: str, repository: RepositoryRef, effect: Effect, sha: str, now: datetime
) -> int | None:
    """Stores an effect that belongs to no pull request (a check run for a merge queue)."""
    return _insert(
        tx,
        key=key,
        installation_id=repository.installation_id,
        repository_id=repository.id,
        number=0,
        kind=effect.kind,
        effect=effect.model_dump(mode="json"),
        decided_sha=sha,
        state=EffectState.PENDING,
        due_at=now,
        created_at=now,
    )


def _insert(tx: Tx, **values: Any) -> int | None:
    row = insert(outbox).values(**values).on_conflict_do_nothing(index_elements=["key"])
    return tx.execute(row.returning(outbox.c.id)).scalar_one_or_none()


def _drop_kinds(  # noqa: PLR0913
    tx: Tx,
    case_id: int,
    pull: tuple[int, int],
    kinds: Sequence[EffectKind],
    reason: str,
    now: datetime,
) -> None:
    """Drops what waits of these kinds for a case: a newer decision wants something else.

    A comment or check run that may exist already is not dropped: it must first be found again, or
    the newer one would be its double.
    """
    tx.execute(
        update(outbox)
        .where(
            # By the index on the pull request; there is none on the case.
            outbox.c.repository_id == pull[0],
            outbox.c.number == pull[1],
            outbox.c.case_id == case_id,
            outbox.c.kind.in_(kinds),
            outbox.c.state.in_(_OPEN),
            or_(outbox.c.attempts == 0, outbox.c.kind.not_in(("status_comment", "check_run"))),
        )
        .values(state=EffectState.DROPPED, reason=reason, ended_at=now)
    )


def closing(tx: Tx, case_id: int) -> bool:
    """Whether a close of ours is decided and neither carried out nor given up yet."""
    rows = select(outbox.c.id).where(
        outbox.c.case_id == case_id, outbox.c.kind == "close", outbox.c.state.in_(_OPEN)
    )
    return tx.execute(rows.limit(1)).scalar_one_or_none() is not None


def pull_of(tx: Tx, effect_id: int) -> tuple[int, int] | None:
    """The pull request of an effect, as (repository id, number)."""
    row = tx.execute(
        select(outbox.c.repository_id, outbox.c.number).where(outbox.c.id == effect_id)
    ).one_or_none()
    return (row.repository_id, row.number) if row else None


def claim_next(
    tx: Tx, repository_id: int, number: int, now: datetime, lease: timedelta
) -> Claim | Wait | None:
    """Takes the next effect of a pull request that is due; None where there is none.

    A row that another worker holds is left until its lease ends. What requires an effect that
    failed or was dropped is dropped with it.
    """
    while True:
        row = tx.execute(_next_due(repository_id, number, now)).mappings().one_or_none()
        if row is None:
            return None
        if row["requires"] and not _required_done(tx, row["requires"]):
            why = "what it requires was not carried out"
            _end(tx, outbox.c.id == row["id"], EffectState.DROPPED, why, now)
            continue
        wait = _paced(tx, row["installation_id"], now)
        if wait:
            _put_off_pull(tx, repository_id, number, wait.until)
            return wait
        tx.execute(
            update(outbox)
            .where(outbox.c.id == row["id"])
            .values(
                state=EffectState.DOING,
                attempts=outbox.c.attempts + 1,
                attempted_at=now,
                lease_until=now + lease,
                # If this worker dies, the end of its lease is rung for at once.
                rung_at=None,
            )
        )
        return Claim(
            effect=_EFFECT.validate_python(row["effect"]),
            again=row["attempts"] > 0,
            **{n: row[n] for n in set(Claim.model_fields) - {"effect", "again"}},
        )


def _next_due(repository_id: int, number: int, now: datetime) -> Any:
    waits = and_(outbox.c.state == EffectState.PENDING, outbox.c.due_at <= now)
    abandoned = and_(outbox.c.state == EffectState.DOING, outbox.c.lease_until <= now)
    before = outbox.alias("before")
    # Not its turn while what it requires, or its own forerunner, is under way or put off.
    forerunner = and_(
        before.c.case_id == outbox.c.case_id,
        before.c.kind == outbox.c.kind,
        before.c.id < outbox.c.id,
    )
    blocked = (
        select(before.c.id)
        .where(
            # Both are of the same pull request, and that is what there is an index on.
            before.c.repository_id == outbox.c.repository_id,
            before.c.number == outbox.c.number,
            or_(before.c.key == outbox.c.requires, forerunner),
            before.c.state.in_(_OPEN),
        )
        .exists()
    )
    return (
        select(outbox)
        .where(
            outbox.c.repository_id == repository_id,
            outbox.c.number == number,
            or_(waits, abandoned),
            ~blocked,
        )
        .order_by(outbox.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )


def _required_done(tx: Tx, key: str) -> bool:
    state = tx.execute(select(outbox.c.state).where(outbox.c.key == key)).scalar_one_or_none()
    return state == EffectState.DONE


def _paced(tx: Tx, installation_id: int, now: datetime) -> Wait | None:
    """Whether the installation may write now. Serialised, so that workers do not overshoot."""
    tx.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"),
        {"key": f"pace:{installation_id}"},
    )
    for window, most in PACE:
        recent = (
            select(outbox.c.attempted_at)
            .where(
                outbox.c.installation_id == installation_id,
                outbox.c.attempted_at > now - window,
            )
            .order_by(outbox.c.attempted_at.desc())
            .limit(most)
        )
        times = tx.execute(recent).scalars().all()
        if len(times) >= most:
            return Wait(until=times[-1] + window)
    return None


def _put_off_pull(tx: Tx, repository_id: int, number: int, until: datetime) -> None:
    tx.execute(
        update(outbox)
        .where(
            outbox.c.repository_id == repository_id,
            outbox.c.number == number,
            outbox.c.state == EffectState.PENDING,
        )
        .values(due_at=func.greatest(outbox.c.due_at, until), rung_at=None)
    )


def _held(claim: Claim, *states: EffectState) -> Any:
    """The row, as long as the claim is its newest: a worker whose lease ended records nothing."""
    return and_(
        outbox.c.id == claim.id,
        outbox.c.attempts == claim.attempts + 1,
        outbox.c.state.in_(states),
    )


def done(tx: Tx, claim: Claim, receipt: Receipt, now: datetime) -> bool:
    """The wanted state is there. False where another worker took the effect over meanwhile.

    One that was dropped while it was being carried out is done all the same.
    """
    changed = tx.execute(
        update(outbox)
        .where(_held(claim, EffectState.DOING, EffectState.DROPPED))
        .values(
            state=EffectState.DONE,
            receipt=receipt.model_dump(mode="json"),
            ended_at=now,
            reason=None,
        )
    )
    return changed.rowcount == 1


def drop(tx: Tx, claim: Claim, reason: str, now: datetime) -> None:
    """It is no longer wanted as the world is now."""
    _end(tx, _held(claim, EffectState.DOING), EffectState.DROPPED, reason, now)


def fail(tx: Tx, claim: Claim, reason: str, now: datetime) -> None:
    """GitHub refused it for good."""
    _end(tx, _held(claim, EffectState.DOING), EffectState.FAILED, reason, now)


def _end(tx: Tx, where: Any, state: EffectState, reason: str, now: datetime) -> None:
    tx.execute(update(outbox).where(where).values(state=state, reason=reason[:500], ended_at=now))


def put_off(tx: Tx, claim: Claim, reason: str, now: datetime, after: timedelta | None) -> None:
    """It could not be carried out now; after too many attempts it fails."""
    attempts = claim.attempts + 1
    if attempts >= MOST_ATTEMPTS:
        fail(tx, claim, f"given up after {attempts} attempts: {reason}", now)
        return
    tx.execute(
        update(outbox)
        .where(_held(claim, EffectState.DOING))
        .values(
            state=EffectState.PENDING,
            due_at=now + backoff(attempts, after),
            rung_at=None,
            reason=reason[:500],
        )
    )


def hand_back(tx: Tx, claim: Claim, until: datetime, reason: str) -> None:
    """Nothing was attempted (suspended installation): it waits and its attempt does not count."""
    tx.execute(
        update(outbox)
        .where(_held(claim, EffectState.DOING))
        .values(
            state=EffectState.PENDING,
            attempts=claim.attempts,
            attempted_at=None,
            due_at=until,
            rung_at=None,
            reason=reason,
        )
    )


def drop_of_installation(tx: Tx, installation_id: int, reason: str, now: datetime) -> None:
    """Stops all that waits for an installation that is gone."""
    _drop_where(tx, outbox.c.installation_id == installation_id, reason, now)


def drop_of_repository(tx: Tx, repository_id: int, reason: str, now: datetime) -> None:
    """Stops all that waits for a repository that is gone."""
    _drop_where(tx, outbox.c.repository_id == repository_id, reason, now)


def _drop_where(tx: Tx, where: Any, reason: str, now: datetime) -> None:
    tx.execute(
        update(outbox)
        .where(where, outbox.c.state.in_(_OPEN))
        .values(state=EffectState.DROPPED, reason=reason, ended_at=now)
    )


def wake_installation(tx: Tx, installation_id: int, now: datetime) -> None:
    """The installation acts again: all that waits for it is due."""
    tx.execute(
        update(outbox)
        .where(outbox.c.installation_id == installation_id, outbox.c.state == EffectState.PENDING)
        .values(due_at=now, rung_at=None)
    )


def to_ring(tx: Tx, now: datetime, again: timedelta = _LOST, limit: int = 500) -> list[int]:
    """Effects that wait unheard, one for each pull request; they count as rung from now on.

    One that was rung for counts as unheard `again` later.
    """
    waits = and_(
        outbox.c.state == EffectState.PENDING,
        outbox.c.due_at <= now,
        outbox.c.created_at < now - _UNHEARD,
    )
    abandoned = and_(outbox.c.state == EffectState.DOING, outbox.c.lease_until <= now)
    unheard = (
        select(outbox.c.id)
        .where(
            or_(waits, abandoned),
            or_(outbox.c.rung_at.is_(None), outbox.c.rung_at < now - again),
        )
        .order_by(outbox.c.due_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    rows = tx.execute(
        update(outbox)
        .where(outbox.c.id.in_(unheard.scalar_subquery()))
        .values(rung_at=now)
        .returning(outbox.c.id, outbox.c.repository_id, outbox.c.number)
    ).all()
    first: dict[tuple[int, int], int] = {}
    for row in sorted(rows):
        first.setdefault((row.repository_id, row.number), row.id)
    return list(first.values())


def counts(tx: Tx) -> dict[str, int]:
    """Rows that wait, are under way, and failed, for the metrics."""
    rows = select(outbox.c.state, func.count()).where(
        outbox.c.state.in_([*_OPEN, EffectState.FAILED])
    )
    return {state: int(n) for state, n in tx.execute(rows.group_by(outbox.c.state)).all()}
