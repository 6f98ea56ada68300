"""Read-only queries for pages: decisions, floods, and one pull request whole."""

from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from app.db.engine import Tx


def schema_revision(tx: Tx) -> str | None:
    """The revision that the schema is at; None where no migration ever ran."""
    try:
        found = tx.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    except ProgrammingError:
        return None
    return None if found is None else str(found)
