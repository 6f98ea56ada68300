"""Mails that wait to be sent, and what became of them. Address and text are sealed, and gone then."""

from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import and_, delete, insert, or_, select, update

from app.core.budget import Tier
from app.core.fact import Fact
from app.core.patience import backoff
from app.db.bells import LOST, UNHEARD
from app.db.engine import Tx
from app.db.tables import mails

MOST_ATTEMPTS = 12

# It came back; the server said for good that it takes none for that address; it was tried in vain.
Failure = Literal["bounced", "refused", "given up"]


class Owned(Fact):
    """Whose a mail is, the token that it brings, and which day's budget it is of.

    A `muted` one goes the way of all others and is not sent.
    """

    account_id: int
    repository_id: int
    tier: Tier
    token_hash: str
    muted: bool = False


class Taken(Fact):
    """A mail whose time has come. `owned` is None for one of an earlier release."""

    sealed: bytes
    attempts: int
    owned: Owned | None


class Last(Fact):
    """What became of an account's last mail in a repository, as far as its owner may know."""

    held_until: datetime | None
    failure: Failure | None


def add(
    tx: Tx, sealed: bytes, now: datetime, owned: Owned, held_until: datetime | None = None
) -> int:
    """Keeps one; answers its id. `held_until`: the day's budget is spent."""
    made = insert(mails).values(
        sealed=sealed,
        created_at=now,
        due_at=held_until or now,
        held_until=held_until,
        **owned.model_dump(),
    )
    return int(tx.execute(made.returning(mails.c.id)).scalar_one())


def take(tx: Tx, mail_id: int, now: datetime, lease: timedelta) -> Taken | None:
    """The mail if it is due; it is due again after `lease`, should the worker die."""
    columns = [mails.c[name] for name in Owned.model_fields]
    row = select(mails.c.sealed, mails.c.attempts, *columns).where(
        mails.c.id == mail_id, mails.c.sealed.is_not(None), mails.c.due_at <= now
    )
    found = tx.execute(row.with_for_update(skip_locked=True)).mappings().one_or_none()
    if found is None:
        return None
    tx.execute(
        update(mails)
        .where(mails.c.id == mail_id)
        .values(due_at=now + lease, attempts=mails.c.attempts + 1, held_until=None)
    )
    named = found["account_id"] is not None
    return Taken(
        sealed=bytes(found["sealed"]),
        attempts=found["attempts"],
        owned=Owned(**{name: found[name] for name in Owned.model_fields}) if named else None,
    )


def held(tx: Tx, mail_id: int, why: str, until: datetime) -> None:
    """It waits for the next day's budget, as if it had not been taken."""
    tx.execute(
        update(mails)
        .where(mails.c.id == mail_id)
        .values(
            due_at=until,
            held_until=until,
            attempts=mails.c.attempts - 1,
            last_error=why[:300],
            rung_at=None,
        )
    )


def sent(tx: Tx, mail_id: int, now: datetime) -> None:
    """The server took it."""
    tx.execute(
        update(mails).where(mails.c.id == mail_id).values(sealed=None, sent_at=now, last_error=None)
    )


def dropped(tx: Tx, mail_id: int, why: str) -> None:
    """Nobody needs it any more."""
    tx.execute(update(mails).where(mails.c.id == mail_id).values(sealed=None, last_error=why[:300]))


def failed(tx: Tx, mail_id: int, why: str, now: datetime, *, for_good: bool) -> None:
    """The server did not take it; it is tried again unless that is hopeless."""
    row = select(mails.c.attempts).where(mails.c.id == mail_id)
    attempts = tx.execute(row).scalar_one_or_none()
    if attempts is None:
        return  # its owner erased it meanwhile
    values = {"last_error": why[:300], "due_at": now + backoff(attempts), "rung_at": None}
    if for_good or attempts >= MOST_ATTEMPTS:
        values |= {"sealed": None, "failure": "refused" if for_good else "given up"}
    tx.execute(update(mails).where(mails.c.id == mail_id).values(**values))


def bounced(tx: Tx, mail_id: int, why: str, since: datetime) -> bool:
    """It came back; False where it was not sent since then, or had failed already."""
    # A server near by may be quicker with its report than we with our note that the mail was sent.
    lately = or_(mails.c.sent_at.is_(None), mails.c.sent_at >= since)
    tried = (mails.c.attempts > 0, mails.c.muted.is_(False), mails.c.failure.is_(None))
    made = update(mails).where(mails.c.id == mail_id, lately, *tried)
    row = made.values(failure="bounced", last_error=why[:300]).returning(mails.c.id)
    return tx.execute(row).scalar_one_or_none() is not None


def last(tx: Tx, account_id: int, repository_id: int, since: datetime) -> Last | None:
    """What became of the newest; None where none was asked for or sent since then."""
    lately = or_(*(mails.c[n] >= since for n in ("created_at", "sent_at", "held_until")))
    row = (
        select(mails.c.held_until, mails.c.failure)
        .where(mails.c.account_id == account_id, mails.c.repository_id == repository_id, lately)
        .order_by(mails.c.id.desc())
        .limit(1)
    )
    found = tx.execute(row).mappings().one_or_none()
    return Last(**found) if found else None


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
