"""Private notes of moderators on accounts, in one repository."""

from datetime import datetime

from sqlalchemy import delete, insert, select

from app.core.fact import Fact
from app.core.github import Account
from app.db.engine import Tx
from app.db.tables import account_notes


class Note(Fact):
    """One note."""

    id: int
    words: str
    by_login: str
    at: datetime


def of_account(tx: Tx, repository_id: int, account_id: int) -> tuple[Note, ...]:
    """All on one account, the newest first."""
    columns = [account_notes.c[name] for name in Note.model_fields]
    rows = (
        select(*columns)
        .where(
            account_notes.c.repository_id == repository_id,
            account_notes.c.account_id == account_id,
        )
        .order_by(account_notes.c.id.desc())
        .limit(100)
    )
    return tuple(Note(**row) for row in tx.execute(rows).mappings())


def add(  # noqa: PLR0913 - the columns of one row
    tx: Tx, repository_id: int, account_id: int, words: str, by: Account, now: datetime
) -> None:
    """Keeps a note."""
    row = {"repository_id": repository_id, "account_id": account_id, "words": words}
    tx.execute(insert(account_notes).values(**row, by_id=by.id, by_login=by.login, at=now))


def remove(tx: Tx, repository_id: int, note_id: int) -> None:
    """Deletes a note for good."""
    tx.execute(
        delete(account_notes).where(
            account_notes.c.id == note_id, account_notes.c.repository_id == repository_id
        )
    )
