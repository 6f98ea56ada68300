"""Who is signed in. A cookie's value is never stored, only its hash."""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from app.core.fact import Fact
from app.core.github import Account
from app.db.engine import Tx
from app.db.tables import sessions

IDLE = timedelta(hours=12)
ABSOLUTE = timedelta(days=7)
# Kept so long after their end, for whoever looks into a sign-in.
_KEPT = timedelta(days=1)
# A visit is written down at most this often.
_TOUCH = timedelta(minutes=1)


class Session(Fact):
    """One browser that an account is signed in from."""

    id_hash: str
    account_id: int
    login: str
    created_at: datetime
    seen_at: datetime
    expires_at: datetime


_COLUMNS = [sessions.c[name] for name in Session.model_fields]


def create(tx: Tx, id_hash: str, account: Account, now: datetime) -> None:
    """Signs an account in."""
    tx.execute(
        insert(sessions).values(
            id_hash=id_hash,
            account_id=account.id,
            login=account.login,
            created_at=now,
            seen_at=now,
            expires_at=now + ABSOLUTE,
        )
    )


def find(tx: Tx, id_hash: str, now: datetime) -> Session | None:
    """The session of a cookie, unless it ended; its visit is noted."""
    rows = select(*_COLUMNS).where(sessions.c.id_hash == id_hash, *_alive(now))
    row = tx.execute(rows).mappings().one_or_none()
    if row is None:
        return None
    if row["seen_at"] < now - _TOUCH:
        seen = update(sessions).where(sessions.c.id_hash == id_hash)
        tx.execute(seen.values(seen_at=now))
    return Session(**row)


def of_account(tx: Tx, account_id: int, now: datetime) -> list[Session]:
    """An account's sessions that have not ended, the latest visit first."""
    rows = select(*_COLUMNS).where(sessions.c.account_id == account_id, *_alive(now))
    found = tx.execute(rows.order_by(sessions.c.seen_at.desc(), sessions.c.id_hash).limit(100))
    return [Session(**row) for row in found.mappings()]


def end(tx: Tx, account_id: int, id_hash: str, now: datetime) -> bool:
    """Ends one of an account's sessions at once; False where it is not that account's."""
    changed = tx.execute(
        update(sessions)
        .where(
            sessions.c.id_hash == id_hash,
            sessions.c.account_id == account_id,
            sessions.c.revoked_at.is_(None),
        )
        .values(revoked_at=now)
    )
    return changed.rowcount == 1


def forget_expired(tx: Tx, now: datetime) -> None:
    """Deletes the rows of sessions that ended a day ago or more."""
    before = now - _KEPT
    tx.execute(
        delete(sessions).where(
            or_(
                sessions.c.expires_at < before,
                sessions.c.revoked_at < before,
                sessions.c.seen_at < before - IDLE,
            )
        )
    )


def _alive(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return (
        sessions.c.revoked_at.is_(None),
        sessions.c.expires_at > now,
        sessions.c.seen_at > now - IDLE,
    )
