"""The one way to PostgreSQL: transactions, and the lock that gives a pull request to one worker."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.core.errors import RetryLater

Tx = Connection

# No statement of ours takes seconds; one that does is better cut off than left holding a lock.
_STATEMENT_TIMEOUT = "30s"
_LOCK_WAIT = "5s"
_CONNECT_SECONDS = 5


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
        try:
            with self._engine.begin() as connection:
                yield connection
        except PoolTimeout as error:
            raise RetryLater("all connections to the database are in use") from error
        except OperationalError as error:
            raise RetryLater(f"the database did not answer: {type(error.orig).__name__}") from error

    @contextmanager
    def pull_lock(self, repository_id: int, number: int) -> Iterator[bool]:
        """Holds one pull request for this worker; False where another keeps it for too long.

        A session lock outside any transaction, since network calls happen under it. It goes with
        its connection: a killed worker frees it at once.
        """
        try:
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        except OperationalError as error:
            raise RetryLater("the database did not answer") from error
        key = {"key": f"pull:{repository_id}:{number}"}
        try:
            connection.execute(text(f"SET lock_timeout = '{_LOCK_WAIT}'"))
            try:
                connection.execute(text("SELECT pg_advisory_lock(hashtextextended(:key, 0))"), key)
            except DBAPIError:
                yield False
                return
            try:
                yield True
            finally:
                with suppress(DBAPIError):
                    connection.execute(
                        text("SELECT pg_advisory_unlock(hashtextextended(:key, 0))"), key
                    )
        finally:
            # Never back into the pool with a session setting or, after an error, with the lock.
            connection.invalidate()
            connection.close()

    def ping(self) -> None:
        """Raises `RetryLater` unless the database answers."""
        with self.begin() as tx:
            tx.execute(text("SELECT 1"))

    def close(self) -> None:
        """Closes every connection; before a fork and at the end."""
        self._engine.dispose()
