"""Effects taken by one worker under a lease, and how each ended."""

from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import RowMapping, and_, func, or_, select, update

from app.core.effects import Effect, EffectState, Receipt
from app.core.fact import Fact
from app.core.patience import backoff
from app.db.engine import Tx, hold
from app.db.outbox import OPEN
from app.db.tables import outbox

_EFFECT: TypeAdapter[Effect] = TypeAdapter(Effect)


MOST_ATTEMPTS = 30
# What a person can undo by hand, and then must not be done a second time.
_TURNS = ("label", "close", "reopen")


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
        if row["attempts"] >= MOST_ATTEMPTS:
            # Its worker died each time before it could say so.
            _end(
                tx,
                outbox.c.id == row["id"],
                EffectState.FAILED,
                "given up: no worker ended it",
                now,
            )
            continue
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
            again=row["attempts"] > 0 or _unsure(tx, row),
            **{n: row[n] for n in set(Claim.model_fields) - {"effect", "again"}},
        )


def _unsure(tx: Tx, row: RowMapping) -> bool:
    """Whether an earlier effect of its kind may have been done, although a newer one took its place.

    A person may have undone it since, and that word of theirs may not have come yet.
    """
    earlier = select(outbox.c.id).where(
        outbox.c.repository_id == row["repository_id"],
        outbox.c.number == row["number"],
        outbox.c.kind == row["kind"],
        outbox.c.id < row["id"],
        outbox.c.attempts > 0,
        outbox.c.state != EffectState.DONE,
    )
    return row["kind"] in _TURNS and tx.execute(earlier.limit(1)).first() is not None


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
            before.c.state.in_(OPEN),
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
    hold(tx, f"pace:{installation_id}")
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
