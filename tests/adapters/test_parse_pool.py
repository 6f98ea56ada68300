"""Parsing in children: what breaks one loses one file at most."""

import json
import os

import psutil
import pytest

from app.adapters.parse_pool import Job, parse_all
from app.kernels.affected.facts import unpack

GOOD = b"void f() {}\n"


def parsed(jobs, count=1):
    made = {}
    parse_all(jobs, count, made.__setitem__)
    return made


def names(packed):
    return [symbol.name for symbol in unpack(json.loads(packed)).symbols]


def test_many_files_over_several_children():
    made = parsed((Job(str(n), "cpp", b"void f%d() {}" % n, False) for n in range(200)), 200)
    assert {key: names(packed) for key, packed in made.items()} == {
        str(n): [f"f{n}"] for n in range(200)
    }


def test_what_is_slow_is_given_up():
    jobs = [
        Job("slow", "cpp", b"a<" * 250_000, False, seconds=0.2),
        Job("good", "cpp", GOOD, False),
        Job("large", "python", b"a\n" * 400_000, False),
    ]
    made = parsed(jobs)
    assert made["slow"] is made["large"] is None
    assert names(made["good"]) == ["f"]


def test_a_child_that_dies_is_followed_by_another():
    def jobs():
        for n in range(20):
            if n == 10:
                for child in psutil.Process(os.getpid()).children():
                    if "app.adapters.parse_child" in child.cmdline():
                        child.kill()
            yield Job(str(n), "cpp", GOOD, False)

    made = parsed(jobs())
    lost = [key for key, packed in made.items() if packed is None]
    assert len(made) == 20
    assert len(lost) <= 2
    assert names(made["19"]) == ["f"]


def test_no_child_is_left_behind_when_the_caller_breaks_off():
    def broken():
        yield Job("1", "cpp", GOOD, False)
        raise KeyError("no more")

    with pytest.raises(KeyError):
        parsed(broken())
    left = [c for c in psutil.Process(os.getpid()).children() if "parse_child" in str(c.cmdline())]
    assert left == []


def test_what_the_receiver_raises_reaches_the_caller():
    def receive(_key, _packed):
        raise KeyError("full")

    with pytest.raises(KeyError, match="full"):
        parse_all([Job(str(n), "cpp", GOOD, False) for n in range(100)], 100, receive)


def test_a_file_beside_us_does_not_shadow_a_module(tmp_path, monkeypatch):
    (tmp_path / "tree_sitter.py").write_text("raise SystemExit('owned')")
    (tmp_path / "json.py").write_text("raise SystemExit('owned')")
    monkeypatch.chdir(tmp_path)
    assert names(parsed([Job("1", "cpp", GOOD, False)])["1"]) == ["f"]
