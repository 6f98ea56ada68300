"""The public activity of accounts, kept for a day."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import TypeAdapter
from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from app.core.facts import PublicEvent
from app.core.privacy import keep as keep_for
from app.db.engine import Tx
from app.db.packing import deflate, unpack
from app.db.tables import account_activity

FRESH = keep_for("public_activity")
_EVENTS: TypeAdapter[tuple[PublicEvent, ...]] = TypeAdapter(tuple[PublicEvent, ...])


def of(tx: Tx, account_id: int, now: datetime) -> tuple[PublicEvent, ...] | None:
    """What was read within a day; None where it must be asked for."""
    packed = tx.execute(
        select(account_activity.c.events).where(
            account_activity.c.account_id == account_id, account_activity.c.read_at > now - FRESH
        )
    ).scalar_one_or_none()
    return None if packed is None else _EVENTS.validate_json(unpack(packed))


def keep(tx: Tx, account_id: int, events: Sequence[PublicEvent], now: datetime) -> None:
    """Remembers what was read at `now`."""
    values = {"events": deflate(_EVENTS.dump_json(tuple(events))), "read_at": now}
    made = insert(account_activity).values(account_id=account_id, **values)
    tx.execute(made.on_conflict_do_update(index_elements=["account_id"], set_=values))


def forget(tx: Tx, now: datetime) -> None:
    """Deletes what is older than a day."""
    tx.execute(delete(account_activity).where(account_activity.c.read_at <= now - FRESH))
