"""How alike two pull requests are: what is compared, and how like two sketches of it are.

Compared are the words of title and description without the repository's own template, and what is
changed where (paths with their numbers of lines). The sketches are MinHash values cut to a byte
each ("b-Bit Minwise Hashing", Li and König, WWW 2010).
"""

import re
from collections.abc import Iterable, Sequence
from operator import eq
from typing import Protocol

from app.core.change import Change
from app.core.fact import Fact
from app.core.github import PullRequest

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_WORD = re.compile(r"\w+")
# Shorter texts say too little: two people who write "Fix typo in README" are no flood. Single words
# find a flood whose authors exchange one word in ten, where three in a row lose it
# (`bench_campaigns.py`).
LEAST_WORDS = 12
LEAST_FILES = 2
LEAST_LINES = 10
_MOST_WORDS = 4000


class Traits(Fact):
    """What is compared. Each set is empty where there is too little to tell by."""

    words: frozenset[str]
    changes: frozenset[str]


class Sketch(Fact):
    """A short likeness of the traits; None where there were none. `bands`: equal in near-duplicates."""

    words: bytes | None
    changes: bytes | None
    bands: tuple[int, ...]


class Sketcher(Protocol):
    """Makes sketches; the same traits make the same one on every machine."""

    def sketch(self, traits: Traits) -> Sketch:
        """The sketch of some traits."""


def traits(pull: PullRequest, change: Change | None) -> Traits:
    """What is compared of a pull request."""
    templates = change.templates if change else ()
    return Traits(
        words=_words(pull.title, pull.body, [t.body for t in templates]),
        changes=_changes(change),
    )


def _words(title: str, body: str, templates: Sequence[str]) -> frozenset[str]:
    theirs = {_plain(line) for template in templates for line in _lines(template)}
    own = [line for line in _lines(body) if _plain(line) not in theirs]
    words = _WORD.findall(" ".join([title, *own]).casefold()[: _MOST_WORDS * 20])[:_MOST_WORDS]
    own_words = frozenset(words)
    return own_words if len(own_words) >= LEAST_WORDS else frozenset()


def _lines(text: str) -> list[str]:
    return _COMMENT.sub(" ", text).splitlines()


def _plain(line: str) -> str:
    return " ".join(_WORD.findall(line.casefold()))


def _changes(change: Change | None) -> frozenset[str]:
    if change is None or not change.has_all_files or len(change.files) < LEAST_FILES:
        return frozenset()
    if sum(f.additions + f.deletions for f in change.files) < LEAST_LINES:
        return frozenset()
    return frozenset(f"{f.path}:+{f.additions}-{f.deletions}" for f in change.files)


def likeness(one: Sketch, other: Sketch) -> float:
    """The higher of both likenesses, from 0 to 1: of the words, and of the changes."""
    return max(_jaccard(one.words, other.words), _jaccard(one.changes, other.changes))


def _jaccard(one: bytes | None, other: bytes | None) -> float:
    """An estimate of the Jaccard index; bytes that are equal by chance are taken off."""
    if one is None or other is None or len(one) != len(other):
        return 0.0
    equal: int = sum(map(eq, one, other))
    same = equal / len(one)
    return max((same - 1 / 256) / (1 - 1 / 256), 0.0)


def alike(sketch: Sketch, others: Iterable[tuple[int, Sketch]], least: float) -> list[int]:
    """The ids of those that are at least so much like it."""
    return [id_ for id_, other in others if likeness(sketch, other) >= least]
