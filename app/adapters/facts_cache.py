"""Facts kept by blob id in one SQLite file: what was read once is not read again."""

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

_MOST = 400_000  # rows; some ten trees of vLLM's size with their history
_ASKED = 500  # keys in one query
_SCHEMA = """
create table if not exists facts (key text primary key, packed text not null, day integer not null)
without rowid
"""


class FactsCache:
    """A cache that never makes a question fail.

    `path` None keeps nothing. A damaged file is thrown away, and a locked one is not waited for
    long.
    """

    def __init__(self, path: Path | None, today: date) -> None:
        self._day = today.toordinal()
        self._connection = _open(path) if path else None

    def get(self, keys: Sequence[str]) -> dict[str, Any]:
        """Packed facts of those keys that are known."""
        if self._connection is None:
            return {}
        found: dict[str, Any] = {}
        try:
            for at in range(0, len(keys), _ASKED):
                some = keys[at : at + _ASKED]
                marks = ",".join("?" * len(some))
                rows = self._connection.execute(
                    f"select key, packed from facts where key in ({marks})",  # noqa: S608
                    some,
                ).fetchall()
                texts = ",".join(packed for _, packed in rows)
                values = json.loads(f"[{texts}]")
                found.update(zip((key for key, _ in rows), values, strict=True))
        except (sqlite3.Error, ValueError):
            return {}
        return found

    def put(self, made: Mapping[str, bytes]) -> None:
        """Keep packed facts, each a piece of JSON; those that were not put for longest make room."""
        if self._connection is None or not made:
            return
        rows = [(key, packed.decode(), self._day) for key, packed in made.items()]
        with contextlib.suppress(sqlite3.Error), self._connection as connection:
            connection.executemany("insert or replace into facts values (?, ?, ?)", rows)
            (count,) = connection.execute("select count(*) from facts").fetchone()
            if count > _MOST:
                connection.execute(
                    "delete from facts where key in (select key from facts order by day limit ?)",
                    (count - _MOST * 3 // 4,),
                )

    def forget(self, keys: Iterable[str]) -> None:
        """Drop what turned out to be damaged."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error), self._connection as connection:
                connection.executemany("delete from facts where key = ?", ((k,) for k in keys))

    def close(self) -> None:
        """Let the file go."""
        if self._connection is not None:
            self._connection.close()


def _open(path: Path) -> sqlite3.Connection | None:
    for _ in range(2):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, timeout=2)
        except (OSError, sqlite3.Error):
            return None
        try:
            connection.execute("pragma journal_mode=wal")
            connection.execute("pragma synchronous=off")
            connection.execute(_SCHEMA)
            connection.execute("select key, packed, day from facts limit 1").fetchone()
            return connection
        except sqlite3.OperationalError as error:
            connection.close()
            if "no such column" not in str(error):
                return None  # locked, or a disk that is full or read-only
        except sqlite3.Error:
            connection.close()
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                path.with_name(path.name + ending).unlink()
    return None
