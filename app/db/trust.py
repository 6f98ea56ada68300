"""A maintainer's word on an account, in one repository: vouched, denied, to verify."""

from datetime import datetime

from sqlalchemy import or_, select, update
from sqlalchemy.dialects.postgresql import insert

from app.core.facts import Trust
from app.core.github import Account
from app.db.engine import Tx
from app.db.tables import trust


def current(tx: Tx, repository_id: int, account_id: int, now: datetime) -> Trust | None:
    """The newest word that holds now."""
    rows = (
        select(trust.c.kind, trust.c.by_login, trust.c.at, trust.c.until, trust.c.reason)
        .where(
            trust.c.repository_id == repository_id,
            trust.c.account_id == account_id,
            trust.c.ended_at.is_(None),
            or_(trust.c.until.is_(None), trust.c.until > now),
        )
        .order_by(trust.c.id.desc())
        .limit(1)
    )
    row = tx.execute(rows).mappings().one_or_none()
    return Trust(**row) if row else None


def put(tx: Tx, repository_id: int, of: Account, by_id: int, word: Trust) -> bool:
    """Keeps a word, once; what was said of the account before ends with it.

    False where it was kept before.
    """
    kept = current(tx, repository_id, of.id, word.at)
    if kept == word:
        return False
    tx.execute(
        update(trust)
        .where(
            trust.c.repository_id == repository_id,
            trust.c.account_id == of.id,
            trust.c.ended_at.is_(None),
        )
        .values(ended_at=word.at)
    )
    tx.execute(
        insert(trust).values(
            repository_id=repository_id,
            account_id=of.id,
            login=of.login,
            by_id=by_id,
            **word.model_dump(),
        )
    )
    return True
