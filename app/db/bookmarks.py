"""How far a periodic read got."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.db.engine import Tx
from app.db.tables import bookmarks

MAILBOX = "mailbox"  # when the mailbox of proof mails was read last


def get(tx: Tx, name: str) -> datetime | None:
    """The time that a read got to; None before the first."""
    return tx.execute(select(bookmarks.c.at).where(bookmarks.c.name == name)).scalar_one_or_none()


def put(tx: Tx, name: str, at: datetime) -> None:
    """The read got as far as this."""
    made = insert(bookmarks).values(name=name, at=at)
    tx.execute(made.on_conflict_do_update(index_elements=["name"], set_={"at": at}))
