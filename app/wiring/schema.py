"""The database's schema, with the database's own complaints turned into words."""

from collections.abc import Iterator
from contextlib import contextmanager

from alembic.util import CommandError
from sqlalchemy.exc import OperationalError

from app.core.errors import UserError
from app.db.migrate import current, downgrade, fits, head, upgrade


def migrate(database_url: str) -> None:
    """Bring the schema to the newest revision."""
    with _in_words():
        upgrade(database_url)


def migrate_down(database_url: str, revision: str) -> None:
    """Take the schema back to a revision, or by `-1`."""
    with _in_words():
        downgrade(database_url, revision)


def revisions(database_url: str) -> tuple[str | None, str | None]:
    """The revision that the database is at, and the one that this code wants."""
    with _in_words():
        return current(database_url), head()


def require(database_url: str) -> None:
    """UserError unless this code can work with the schema as it is."""
    with _in_words():
        found = current(database_url)
    if not fits(found):
        raise UserError(
            f"the database's schema is at {found or 'nothing'}, wanted is {head()}",
            hint="run: pulsegate db upgrade",
        )


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        raise UserError(
            f"the database does not do as it should: {str(error.orig).strip()}",
            hint="is the server of DATABASE_URL running, and may that user create tables there?",
        ) from None
    except CommandError as error:
        raise UserError(
            f"this Pulsegate does not know that revision of the schema: {error}",
            hint="if a newer Pulsegate has used the database, run that one or restore a backup",
        ) from None
