"""The cache of facts: it remembers, and never gets in the way."""

import sqlite3
from datetime import date

import pytest

from app.adapters import facts_cache
from app.adapters.facts_cache import FactsCache

DAY = date(2026, 1, 1)


def test_it_remembers(tmp_path):
    path = tmp_path / "deep" / "facts.sqlite"
    cache = FactsCache(path, DAY)
    cache.put({f"k{n}": b"[%d]" % n for n in range(1200)})
    cache.close()
    again = FactsCache(path, DAY)
    assert again.get([f"k{n}" for n in range(0, 1200, 2)]) == {
        f"k{n}": [n] for n in range(0, 1200, 2)
    }
    again.forget(["k2"])
    assert again.get(["k2", "k4"]) == {"k4": [4]}
    again.close()


@pytest.mark.parametrize(
    "damage", [b"not a database at all" * 100, b"", b"SQLite format 3\0broken"]
)
def test_a_damaged_file_is_thrown_away(tmp_path, damage):
    path = tmp_path / "facts.sqlite"
    path.write_bytes(damage)
    cache = FactsCache(path, DAY)
    cache.put({"k": b"[1]"})
    assert cache.get(["k"]) == {"k": [1]}
    cache.close()


def test_a_table_of_another_shape_is_thrown_away(tmp_path):
    path = tmp_path / "facts.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("create table facts (key text, other text)")
    connection.close()
    cache = FactsCache(path, DAY)
    cache.put({"k": b"[1]"})
    assert cache.get(["k"]) == {"k": [1]}
    cache.close()


def test_without_a_place_it_keeps_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (None, tmp_path / "file" / "facts.sqlite"):
        cache = FactsCache(path, DAY)
        cache.put({"k": b"[1]"})
        assert cache.get(["k"]) == {}
        cache.close()


def test_the_oldest_make_room(tmp_path, monkeypatch):
    monkeypatch.setattr(facts_cache, "_MOST", 8)
    for n in range(3):
        cache = FactsCache(tmp_path / "f", date(2026, 1, 1 + n))
        cache.put({f"{n}-{i}": b"[]" for i in range(4)})
        left = cache.get([f"{m}-{i}" for m in range(3) for i in range(4)])
        cache.close()
    assert {key[0] for key in left} == {"1", "2"} or len(left) == 6
    assert all(f"2-{i}" in left for i in range(4))
