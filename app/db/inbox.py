"""Every stimulus, once: webhook deliveries, reconciliation, our own requests to decide anew."""

import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import pydantic_core
from sqlalchemy import (
    LargeBinary,
    RowMapping,
    and_,
    delete,
    func,
    literal,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from app.core.events import Address
from app.core.fact import Fact
from app.core.patience import backoff
from app.core.text import one_line
from app.db.bells import LOST, UNHEARD, ring_once
from app.db.engine import Tx
from app.db.packing import pack, unpack
from app.db.tables import inbox, payloads

Source = Literal["github", "replay", "reconcile", "again"]

# After so many failures, which takes two days, a row is given up and keeps its last error; what
# it told of the pull request is found by the next reconciliation.
MOST_ATTEMPTS = 60


_WITH_PAYLOAD = select(inbox, payloads.c.body).outerjoin(
    payloads, payloads.c.inbox_id == inbox.c.id
)


class Stimulus(Fact):
    """One row that waits. `payload` is None where it was lost to retention or never was one.

    `problem` says why a payload that is there cannot be decoded; "" where it can.
    """

    id: int
    source: str
    event: str
    installation_id: int | None
    repository_id: int | None
    pull_number: int | None
    payload: Any
    problem: str = ""
    received_at: datetime
    attempts: int


def add(  # noqa: PLR0913 - the columns of one row
    tx: Tx,
    *,
    source: Source,
    key: str,
    event: str,
    payload: object,
    address: Address,
    now: datetime,
) -> int | None:
    """Stores a stimulus and answers its id; None where the same one is there already."""
    row = (
        insert(inbox)
        .values(
            source=source,
            key=key,
            event=event,
            action=address.action,
            installation_id=address.installation_id,
            repository_id=address.repository_id,
            pull_number=address.pull_number,
            received_at=now,
            due_at=now,
        )
        .on_conflict_do_nothing(index_elements=["source", "key"])
        .returning(inbox.c.id)
        .cte("made")
    )
    packed = literal(pack(payload), LargeBinary)
    both = insert(payloads).from_select(["inbox_id", "body"], select(row.c.id, packed))
    return tx.execute(both.returning(payloads.c.inbox_id)).scalar_one_or_none()


def again(tx: Tx, *, key: str, address: Address, reason: str, now: datetime) -> int | None:
    """Asks for one pull request to be decided anew; once for each key."""
    payload = {"reason": reason}
    return add(
        tx, source="again", key=key, event="again", payload=payload, address=address, now=now
    )


def known(tx: Tx, source: Source, keys: Sequence[str]) -> set[str]:
    """Which of the keys were received already."""
    rows = select(inbox.c.key).where(inbox.c.source == source, inbox.c.key.in_(keys))
    return set(tx.execute(rows).scalars())


def pull_of(tx: Tx, inbox_id: int) -> tuple[int, int] | None:
    """The pull request that a row concerns, as (repository id, number)."""
    row = tx.execute(
        select(inbox.c.repository_id, inbox.c.pull_number).where(inbox.c.id == inbox_id)
    ).one_or_none()
    if row is None or row.repository_id is None or row.pull_number is None:
        return None
    return row.repository_id, row.pull_number


def pending_of_pull(
    tx: Tx, repository_id: int, number: int, now: datetime, limit: int = 500
) -> list[Stimulus]:
    """All that waits and is due for one pull request, oldest first."""
    rows = (
        _WITH_PAYLOAD.where(
            inbox.c.repository_id == repository_id,
            inbox.c.pull_number == number,
            inbox.c.handled_at.is_(None),
            inbox.c.due_at <= now,
        )
        .order_by(inbox.c.id)
        .limit(limit)
    )
    return [_stimulus(row) for row in tx.execute(rows).mappings()]


def asked_again(tx: Tx, repository_id: int, number: int) -> bool:
    """Whether a pull request waits to be decided anew. Not by a delivery: some decide nothing."""
    row = select(inbox.c.id).where(
        inbox.c.source == "again",
        inbox.c.repository_id == repository_id,
        inbox.c.pull_number == number,
        inbox.c.handled_at.is_(None),
    )
    return tx.execute(row.limit(1)).scalar_one_or_none() is not None


def pending(tx: Tx, inbox_id: int, now: datetime) -> Stimulus | None:
    """One row, if it still waits and is due. Locked until the transaction ends."""
    rows = _WITH_PAYLOAD.where(
        inbox.c.id == inbox_id, inbox.c.handled_at.is_(None), inbox.c.due_at <= now
    ).with_for_update(skip_locked=True, of=inbox)
    row = tx.execute(rows).mappings().one_or_none()
    return _stimulus(row) if row else None


def _stimulus(row: RowMapping) -> Stimulus:
    payload, problem = None, ""
    try:
        payload = pydantic_core.from_json(unpack(row["body"])) if row["body"] else None
    except (ValueError, RecursionError, zlib.error) as error:
        # The row comes out all the same: one that raises here would wait and be tried for ever.
        problem = f"the stored payload cannot be decoded: {one_line(str(error), 200)}"
    names = set(Stimulus.model_fields) - {"payload", "problem"}
    return Stimulus(payload=payload, problem=problem, **{name: row[name] for name in names})


def handled(tx: Tx, ids: Sequence[int], outcome: str, now: datetime) -> None:
    """These are done with; `outcome` says in a few words what came of them."""
    tx.execute(
        update(inbox)
        .where(inbox.c.id.in_(ids))
        .values(handled_at=now, outcome=outcome[:300], last_error=None)
    )


def put_off(
    tx: Tx, rows: Sequence[Stimulus], reason: str, now: datetime, after: timedelta | None = None
) -> None:
    """These could not be handled now; the sweep rings again when they are due."""
    for row in rows:
        given_up = row.attempts + 1 >= MOST_ATTEMPTS
        tx.execute(
            update(inbox)
            # Another worker may have been done with it, see `Database.pull_lock`.
            .where(inbox.c.id == row.id, inbox.c.handled_at.is_(None))
            .values(
                attempts=inbox.c.attempts + 1,
                due_at=now + backoff(row.attempts + 1, after),
                rung_at=None,
                last_error=reason[:500],
                handled_at=now if given_up else None,
                outcome="given up; see the last error" if given_up else None,
            )
        )


def wait(tx: Tx, rows: Sequence[Stimulus], reason: str, until: datetime) -> None:
    """These wait for a time, with nothing wrong: no attempt is counted."""
    tx.execute(
        update(inbox)
        .where(inbox.c.id.in_([row.id for row in rows]), inbox.c.handled_at.is_(None))
        .values(due_at=until, rung_at=None, last_error=reason[:500])
    )


def waiting(tx: Tx, repository_ids: Sequence[int], reason: str) -> tuple[int, datetime | None]:
    """How many pull requests wait for a reason that begins so, and until when at most."""
    row = tx.execute(
        select(
            func.count(func.distinct(tuple_(inbox.c.repository_id, inbox.c.pull_number))),
            func.max(inbox.c.due_at),
        ).where(
            inbox.c.handled_at.is_(None),
            inbox.c.repository_id.in_(list(repository_ids)),
            inbox.c.last_error.startswith(reason),
        )
    ).one()
    return int(row[0]), row[1]


def to_ring(tx: Tx, now: datetime, again: timedelta = LOST, limit: int = 500) -> list[int]:
    """Rows that wait unheard, one for each pull request; they count as rung from now on.

    One that was rung for counts as unheard `again` later.
    """
    waits = and_(
        inbox.c.handled_at.is_(None),
        inbox.c.due_at <= now,
        inbox.c.received_at < now - UNHEARD,
    )
    return ring_once(tx, inbox, waits, inbox.c.pull_number, now, again=again, limit=limit)


def forget_payloads(tx: Tx, before: datetime, limit: int = 5000) -> int:
    """Deletes payloads of rows handled before a time, among the oldest ones; answers how many."""
    # By id, which is the order in which they came: nothing younger is looked at.
    oldest = select(payloads.c.inbox_id).order_by(payloads.c.inbox_id).limit(limit).subquery()
    old = (
        select(inbox.c.id)
        .join(oldest, oldest.c.inbox_id == inbox.c.id)
        .where(inbox.c.handled_at < before)
    )
    return tx.execute(
        delete(payloads).where(payloads.c.inbox_id.in_(old.scalar_subquery()))
    ).rowcount


def oldest_pending_seconds(tx: Tx, now: datetime) -> float:
    """How long the oldest due row has been waiting."""
    oldest = tx.execute(
        select(func.min(inbox.c.received_at)).where(
            inbox.c.handled_at.is_(None), inbox.c.due_at <= now
        )
    ).scalar_one()
    return (now - oldest).total_seconds() if oldest else 0.0


def counts(tx: Tx) -> dict[str, int]:
    """Pending and troubled rows, for the metrics."""
    row = tx.execute(
        text(
            "SELECT count(*) AS pending, count(*) FILTER (WHERE attempts > 0) AS troubled"
            " FROM inbox WHERE handled_at IS NULL"
        )
    ).one()
    return {"pending": row.pending, "troubled": row.troubled}


def readdress(tx: Tx, inbox_id: int, number: int) -> None:
    """The row concerns this pull request after all."""
    tx.execute(update(inbox).where(inbox.c.id == inbox_id).values(pull_number=number))
