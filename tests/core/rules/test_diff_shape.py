"""The shape of the change."""

from typing import Any

import pytest

from app.core.rules.diff_shape import RULE
from tests.core.rules.seeing import change, commit, facts, says

THERE = ("src", "docs", "README.md")
PROJECT = [f"shop/{n}" for n in ("README.md", "package.json", "a.js", "b.js", "lib/c.js")]


def _said(known: Any, **config: Any) -> str | None:
    return says(RULE, facts(change=known), config)


@pytest.mark.parametrize(
    ("paths", "there", "is_one"),
    [
        (PROJECT, THERE, True),
        ([*PROJECT, "README.md"], THERE, True),
        ([*PROJECT, "src/a.py", "src/b.py"], THERE, False),
        (PROJECT, (*THERE, "shop"), False),
        (PROJECT, (*THERE, "Shop"), False),
        (PROJECT, (), False),
        (PROJECT[1:], THERE, False),
        ([f"shop/{n}.js" for n in range(9)], THERE, False),
        ([f"shop/x/{p}" for p in PROJECT], THERE, False),
    ],
    ids=[
        "a project", "and its line in the README", "with changes to the code", "the directory was there",
        "in another case", "the tree is not known", "too few files", "no marks of a project",
        "marks deeper down",
    ],
)  # fmt: skip
def test_a_standalone_project(paths: list[str], there: tuple[str, ...], is_one: bool) -> None:
    known = change(*paths, status="added", top_level=there)
    said = _said(known, top_directories=None)
    assert (said is not None) == is_one
    assert _said(known, top_directories=None, standalone_project=False) is None


@pytest.mark.parametrize(
    ("known", "is_one"),
    [
        (change("hello.py", status="added", lines=3), True),
        (change("Assignment.java", "test.txt", status="added", lines=30), True),
        (change("hello.py", status="added", lines=61), False),
        (change("hello.py", status="modified", lines=3), False),
        (change("examples/hello.py", status="added", lines=3), False),
        (change("engine.py", status="added", lines=3), False),
        (change("README.md", status="modified", lines=1), False),
        (change("hello.py", "src/a.py", status="added", lines=3), False),
        (change("hello.py", status="added", lines=3, files_total=9), False),
    ],
)
def test_homework(known: Any, is_one: bool) -> None:
    assert (_said(known) is not None) == is_one
    assert _said(known, homework=False) is None


def test_five_directories_at_the_top_and_more() -> None:
    four = change(*(f"{d}/a.py" for d in "abcd"), "top.md")
    five = change(*(f"{d}/a.py" for d in "abcde"))
    assert _said(four) is None
    assert _said(five) == "It touches 5 directories at the top of the repository at once."
    assert _said(five, top_directories=None) is None


def test_many_authors_without_what_is_nobodys_work() -> None:
    """A maintainer who presses "Update branch", a person called Claude among the co-authors."""
    ours = tuple(commit(n) for n in (1, 2, 3))
    extra = (commit(4, update=True), commit(None), commit(3))
    assert _said(change("a.py", commits=(*ours, *extra))) is None
    assert _said(change("a.py", commits=(*ours, commit(4)))) == (
        "Its commits are by 4 different accounts."
    )
    assert _said(change("a.py", commits=(*ours, commit(4))), authors=None) is None


def test_nothing_known_is_nothing_said() -> None:
    assert _said(None) is None
    assert _said(change()) is None
