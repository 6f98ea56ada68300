"""Mails that wait to be sent. Address and text are sealed, and gone once they were."""

from datetime import datetime, timedelta

from sqlalchemy import and_, delete, insert, select, update

from app.core.patience import backoff
from app.db.bells import LOST, UNHEARD
from app.db.engine import Tx
from app.db.tables import mails

MOST_ATTEMPTS = 12


def add(tx: Tx, sealed: bytes, now: datetime) -> int:
    """Keeps one; answers its id."""
    made = insert(mails).values(sealed=sealed, created_at=now, due_at=now)
    return int(tx.execute(made.returning(mails.c.id)).scalar_one())


def take(tx: Tx, mail_id: int, now: datetime, lease: timedelta) -> bytes | None:
    """The sealed mail if it is due; it is due again after `lease`, should the worker die."""
    row = select(mails.c.sealed).where(
        mails.c.id == mail_id, mails.c.sealed.is_not(None), mails.c.due_at <= now
    )
    sealed = tx.execute(row.with_for_update(skip_locked=True)).scalar_one_or_none()
    if sealed is None:
        return None
    tx.execute(
        update(mails)
        .where(mails.c.id == mail_id)
        .values(due_at=now + lease, attempts=mails.c.attempts + 1)
    )
    return bytes(sealed)


def sent(tx: Tx, mail_id: int, now: datetime) -> None:
    """The server took it."""
    tx.execute(
        update(mails).where(mails.c.id == mail_id).values(sealed=None, sent_at=now, last_error=None)
    )


def failed(tx: Tx, mail_id: int, why: str, now: datetime, *, for_good: bool) -> None:
    """The server did not take it; it is tried again unless that is hopeless."""
    attempts = tx.execute(select(mails.c.attempts).where(mails.c.id == mail_id)).scalar_one()
    values = {"last_error": why[:300], "due_at": now + backoff(attempts), "rung_at": None}
    if for_good or attempts >= MOST_ATTEMPTS:
        values["sealed"] = None
    tx.execute(update(mails).where(mails.c.id == mail_id).values(**values))


def to_ring(tx: Tx, now: datetime, again: timedelta = LOST, limit: int = 200) -> list[int]:
    """Those that wait unheard; they count as rung from now on."""
    waits = and_(
        mails.c.sealed.is_not(None), mails.c.due_at <= now, mails.c.created_at < now - UNHEARD
    )
    unheard = (mails.c.rung_at.is_(None)) | (mails.c.rung_at < now - again)
    found = select(mails.c.id).where(waits, unheard).order_by(mails.c.id).limit(limit)
    ids = list(tx.execute(found.with_for_update(skip_locked=True)).scalars())
    if ids:
        tx.execute(update(mails).where(mails.c.id.in_(ids)).values(rung_at=now))
    return ids


def forget(tx: Tx, before: datetime) -> None:
    """Deletes what was sent or given up."""
    tx.execute(delete(mails).where(mails.c.created_at < before, mails.c.sealed.is_(None)))
