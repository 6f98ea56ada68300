"""The one way to PostgreSQL: transactions, and the lock that gives a pull request to one worker."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from psycopg.errors import LockNotAvailable
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.core.errors import RetryLater

Tx = Connection

# No statement of ours takes seconds; one that does is better cut off than left holding a lock.
_STATEMENT_TIMEOUT = "30s"
_LOCK_WAIT = "5s"
_CONNECT_SECONDS = 5


@contextmanager
def _reached() -> Iterator[None]:
    """Turns every way in which a database can be gone or too busy into `RetryLater`."""
    try:
        yield
    except PoolTimeout as error:
        raise RetryLater("all connections to the database are in use") from error
    except DBAPIError as error:
        if not (isinstance(error, OperationalError) or error.connection_invalidated):
            raise
        raise RetryLater(f"the database did not answer: {type(error.orig).__name__}") from error


class Database:
    """A pool of connections to one PostgreSQL database."""

    def __init__(self, url: str, *, pool_size: int = 5) -> None:
        self._engine = create_engine(
            url,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_pre_ping=True,
            pool_timeout=10,
            connect_args={
                "connect_timeout": _CONNECT_SECONDS,
                "options": f"-c statement_timeout={_STATEMENT_TIMEOUT} -c timezone=UTC",
                "application_name": "pulsegate",
            },
        )

    @contextmanager
    def begin(self) -> Iterator[Tx]:
        """A transaction: committed at the end of the block, rolled back on any error.

        Raises `RetryLater` where the database is out of reach.
        """
        with _reached(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def pull_lock(self, repository_id: int, number: int) -> Iterator[bool]:
        """Holds one pull request for this worker; False where another keeps it for too long.

        A session lock outside any transaction, since network calls happen under it. It goes with
        its connection: a killed worker frees it at once, but so does a PostgreSQL that restarts.
        What is decided or recorded under it must therefore stand a second worker: see
        `cases.save` and `outbox.done`. Raises `RetryLater` where the database is out of reach.
        """
        with _reached():
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            with _reached():
                mine = _lock(connection, f"pull:{repository_id}:{number}")
            yield mine
        finally:
            # Never back into the pool with a session setting or with the lock, which goes with it.
            with suppress(DBAPIError):
                connection.invalidate()
            connection.close()

    def ping(self) -> None:
        """Raises `RetryLater` unless the database answers."""
        with self.begin() as tx:
            tx.execute(text("SELECT 1"))

    def close(self) -> None:
        """Closes every connection; before a fork and at the end."""
        self._engine.dispose()


def _lock(connection: Connection, key: str) -> bool:
    connection.execute(text(f"SET lock_timeout = '{_LOCK_WAIT}'"))
    try:
        connection.execute(text("SELECT pg_advisory_lock(hashtextextended(:key, 0))"), {"key": key})
    except DBAPIError as error:
        if isinstance(error.orig, LockNotAvailable):
            return False
        raise
    return True
