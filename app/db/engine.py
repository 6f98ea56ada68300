"""The one way to PostgreSQL: transactions, and the lock that gives a pull request to one worker."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from psycopg.errors import LockNotAvailable
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, DisconnectionError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.core.errors import RetryLater

Tx = Connection

# No statement of ours takes seconds; one that does is better cut off than left holding a lock.
_STATEMENT_TIMEOUT = "30s"
_LOCK_WAIT = "5s"
_CONNECT_SECONDS = 5
# A connection that rested so long is asked whether it still lives before it is used.
_RESTED_SECONDS = 1.0


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
            pool_timeout=10,
            connect_args={
                "connect_timeout": _CONNECT_SECONDS,
                "options": f"-c statement_timeout={_STATEMENT_TIMEOUT} -c timezone=UTC",
                "application_name": "pulsegate",
            },
        )
        _ask_rested(self._engine)

    @contextmanager
    def begin(self) -> Iterator[Tx]:
        """A transaction: committed at the end of the block, rolled back on any error.

        Raises `RetryLater` where the database is out of reach.
        """
        with _reached(), self._engine.begin() as connection:
            yield connection

    def pull_lock(self, repository_id: int, number: int) -> AbstractContextManager[bool]:
        """Holds one pull request for this worker; see `lock`."""
        return self.lock(f"pull:{repository_id}:{number}")

    @contextmanager
    def lock(self, key: str) -> Iterator[bool]:
        """Holds a name for this worker; False where another keeps it for too long (5 s).

        A session lock outside any transaction, since network calls happen under it. It goes with
        its connection: a killed worker frees it at once, but so does a PostgreSQL that restarts.
        What is decided or recorded under it must therefore stand a second worker: see
        `cases.save` and `claims.done`. Raises `RetryLater` where the database is out of reach.

        Each lock that a thread holds takes one connection of the pool.
        """
        with _reached():
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        clean = False
        try:
            with _reached():
                mine = _lock(connection, key)
            yield mine
            with suppress(DBAPIError):
                connection.execute(_UNLOCK, {"key": key})
                clean = mine
        finally:
            if not clean:
                # Never back into the pool with the lock or with a session setting.
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


def hold(tx: Tx, name: str) -> None:
    """Makes others who hold the name wait until this transaction ends."""
    tx.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": name})


# The setting holds for the session: first for the lock's own wait, and gone with it.
_LOCK = text(
    "SELECT set_config('lock_timeout', :wait, false), pg_advisory_lock(hashtextextended(:key, 0))"
)
_UNLOCK = text(
    "SELECT pg_advisory_unlock(hashtextextended(:key, 0)), set_config('lock_timeout', NULL, false)"
)


def _lock(connection: Connection, key: str) -> bool:
    try:
        connection.execute(_LOCK, {"key": key, "wait": _LOCK_WAIT})
    except DBAPIError as error:
        if isinstance(error.orig, LockNotAvailable):
            return False
        raise
    return True


def _ask_rested(engine: Engine) -> None:
    """Replaces connections that died while they rested.

    SQLAlchemy's own `pool_pre_ping` asks each time, which makes every fourth message to the
    database such a question. One that died within the second fails in use: `RetryLater`.
    """

    @event.listens_for(engine, "checkin")
    def rests(_connection: Any, record: Any) -> None:
        record.info["rests_since"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def asked(connection: Any, record: Any, _proxy: Any) -> None:
        since = record.info.get("rests_since")
        if since is None or time.monotonic() - since < _RESTED_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise DisconnectionError("it died while it rested") from error
