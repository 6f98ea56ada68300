"""Patterns that strangers wrote, matched in linear time: RE2, for paths too."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import re2
from pathspec import GitIgnoreSpec

from app.core.text import one_line

# No path of a repository has such a part.
_NEVER = re.compile(r"(?:^|/)\.{1,2}/|//")
_MEMORY = 1 << 20  # bytes for one compiled expression; RE2's own default is 8 MB


class LinearPatterns:
    """`core.config.Patterns`. Thread-safe; compiled patterns are kept."""

    def path_problem(self, pattern: str) -> str | None:
        """Why a path pattern cannot be used; see the port."""
        try:
            spec = _paths((pattern,))
            spec.match_file("a")
        except Exception as error:  # noqa: BLE001 - the library fails in many ways on odd ranges
            return f"is no pattern for paths as .gitignore has them: {_why(error)}"
        odd = _NEVER.search(pattern)
        if odd or all(one.include is None for one in spec.patterns):
            return "matches no file: write it as in .gitignore, such as /src/ or *.sh"
        return None

    def text_problem(self, pattern: str) -> str | None:
        """Why a regular expression cannot be used; see the port."""
        try:
            _text(pattern)
        except re2.error as error:
            return f"is no regular expression that RE2 takes: {_why(error)}"
        return None

    def paths(self, patterns: Sequence[str], paths: Sequence[str]) -> tuple[str, ...]:
        """Those of the paths that the patterns match; see the port."""
        spec = _paths(tuple(patterns))
        return tuple(path for path in paths if spec.match_file(path))

    def found(self, patterns: Sequence[str], text: str) -> bool:
        """Whether one of the regular expressions is found in a text."""
        return any(_text(pattern).search(text) is not None for pattern in patterns)


@lru_cache(maxsize=256)
def _paths(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(patterns, backend="re2")


@lru_cache(maxsize=1024)
def _text(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return re2.compile(pattern, options)


def _why(error: Exception) -> str:
    first = error.args[0] if error.args else error
    return one_line(first.decode(errors="replace") if isinstance(first, bytes) else str(first))
