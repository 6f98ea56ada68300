"""Transactions and the lock on a pull request, on a real PostgreSQL."""

import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from app.core.errors import RetryLater
from app.db import engine as module
from app.db.engine import Database


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    made = Database(database_url, pool_size=2)
    yield made
    made.close()


def _backend(database: Database) -> int:
    with database.begin() as tx:
        return int(tx.execute(text("SELECT pg_backend_pid()")).scalar_one())


def _locks(database: Database) -> int:
    with database.begin() as tx:
        found = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
        return int(tx.execute(found).scalar_one())


def _setting(database: Database) -> str:
    with database.begin() as tx:
        return str(tx.execute(text("SHOW lock_timeout")).scalar_one())


def test_a_lock_leaves_neither_itself_nor_its_setting_behind(database: Database) -> None:
    before = _backend(database)
    with database.pull_lock(1, 2) as mine:
        assert mine
        # Meanwhile another connection works, and waits for locks as ever.
        assert _locks(database) == 1
        assert _setting(database) == "0"
    assert _locks(database) == 0
    # The pool gives the connection that held the lock: the same one, clean.
    assert _setting(database) == "0"
    assert before in {_backend(database) for _ in range(3)}


def test_an_error_under_the_lock_frees_it(database: Database) -> None:
    with pytest.raises(ValueError, match="within"), database.pull_lock(1, 2):
        raise ValueError("within")
    assert _locks(database) == 0
    assert _setting(database) == "0"


def test_who_waits_too_long_is_told_so_and_keeps_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOCK_WAIT", "50ms")
    with database.pull_lock(1, 2) as mine:
        with database.pull_lock(1, 2) as other:
            assert mine
            assert not other
        with database.pull_lock(1, 3) as third:
            assert third
    assert _locks(database) == 0
    assert _setting(database) == "0"


def test_the_lock_goes_to_whoever_waits(database: Database) -> None:
    got: list[bool] = []

    def wait() -> None:
        with database.pull_lock(1, 2) as mine:
            got.append(mine)

    with database.pull_lock(1, 2):
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert got == []
    waiting.join(5)
    assert got == [True]


def test_a_connection_that_died_while_it_rested_is_replaced(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_RESTED_SECONDS", 0.0)
    _kill(database_url, _backend(database))
    assert _backend(database) > 0


def test_one_that_died_a_moment_ago_is_an_error_once(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_RESTED_SECONDS", 60.0)
    _kill(database_url, _backend(database))
    with pytest.raises(RetryLater, match="did not answer"):
        _backend(database)
    assert _backend(database) > 0


def _kill(database_url: str, backend: int) -> None:
    other = Database(database_url, pool_size=1)
    with other.begin() as tx:
        # It answers once the process is gone, or false after the time.
        gone = tx.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": backend})
        assert gone.scalar_one()
    other.close()
