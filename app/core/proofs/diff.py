"""A unified diff as GitHub shows it, file by file: bounded, and read line by line."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Literal

from app.core.fact import Fact

MOST_FILES = 100
MOST_LINES = 4000  # of all files together
_LONGEST_LINE = 300

Status = Literal["added", "removed", "modified", "renamed", "copied", "changed", "unchanged"]

_CODE = frozenset(
    [
        "py",
        "pyx",
        "pyi",
        "js",
        "jsx",
        "mjs",
        "ts",
        "tsx",
        "go",
        "rs",
        "c",
        "h",
        "cc",
        "cpp",
        "cxx",
        "hpp",
        "cu",
        "cuh",
        "hip",
        "metal",
        "cl",
        "java",
        "kt",
        "scala",
        "swift",
        "rb",
        "php",
        "cs",
        "m",
        "mm",
        "lua",
        "zig",
        "jl",
        "ex",
        "exs",
        "sh",
        "bash",
    ]
)
_SETTINGS = frozenset(["yml", "yaml", "toml", "json", "ini", "cfg", "conf", "env"])
# What a tool wrote: nobody is asked about it.
_MADE = re.compile(
    r"(?:^|/)(?:vendor|node_modules|third_party|dist|build|generated|__snapshots__|migrations)/"
    r"|(?:^|/)zz_generated[^/]*$|(?:\.lock|[-.]lock\.(?:json|yaml|yml)|go\.sum|\.min\.(?:js|css)|\.pb\.go|_pb2\.py|\.snap)$"
    r"|requirements[^/]*/[^/]*lock",
    re.IGNORECASE,
)
_TESTS = re.compile(
    r"(?:^|/)(?:tests?|testing|spec|specs|__tests__|testdata|fixtures|examples?|benchmarks?)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*[_.-](?:test|spec|tests))\.[a-z]+$|(?:^|/)conftest\.py$",
    re.IGNORECASE,
)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.{0,200})")


class Patch(Fact):
    """One file of a diff. `text`: its hunks, "" where GitHub shows none (binary, too large)."""

    path: str
    status: Status
    text: str = ""

    @property
    def name(self) -> str:
        """The file's name without folders."""
        return PurePosixPath(self.path).name

    @property
    def _ending(self) -> str:
        return PurePosixPath(self.path).suffix[1:].lower()

    @property
    def is_made(self) -> bool:
        """Whether a tool wrote it."""
        return _MADE.search(self.path) is not None

    @property
    def is_test(self) -> bool:
        """Whether it is a test, an example or what they need."""
        return _TESTS.search(self.path) is not None

    @property
    def is_code(self) -> bool:
        """Whether it is source code."""
        return self._ending in _CODE and not self.is_made

    @property
    def is_settings(self) -> bool:
        """Whether it holds keys and values."""
        return self._ending in _SETTINGS and not self.is_made

    @property
    def folder(self) -> str:
        """Its first folder, or its first two where the first holds everything."""
        parts = PurePosixPath(self.path).parts
        return parts[0] if len(parts) > 1 else ""


class Line(Fact):
    """One line of a hunk. `heading`: what GitHub writes behind the `@@`, often a function."""

    sign: Literal["+", "-", " "]
    text: str
    heading: str


def lines(patch: Patch, most: int = MOST_LINES) -> Iterator[Line]:
    """The lines of a patch. Those too long to be looked at are left out."""
    heading = ""
    for number, raw in enumerate(patch.text.split("\n")):
        if number >= most:
            return
        found = _HUNK.match(raw)
        if found:
            heading = found[1].strip()
        elif len(raw) <= _LONGEST_LINE and raw[:1] in {"+", "-", " "}:
            sign: Literal["+", "-", " "] = "+" if raw[0] == "+" else "-" if raw[0] == "-" else " "
            yield Line(sign=sign, text=raw[1:], heading=heading)


def from_git(text: str) -> tuple[Patch, ...]:
    """What `git diff` prints, as patches: for benches and recordings."""
    found: list[Patch] = []
    for part in ("\n" + text).split("\ndiff --git ")[1 : MOST_FILES + 1]:
        head, at, hunks = part.partition("\n@@")
        named = re.search(r"^\+\+\+ b/(.+)$", head, re.MULTILINE)
        before = re.search(r"^--- a/(.+)$", head, re.MULTILINE)
        path = named[1] if named else before[1] if before else ""
        if not path:
            continue
        status: Status = "modified"
        if "\nnew file mode" in head:
            status = "added"
        elif "\ndeleted file mode" in head:
            status = "removed"
        elif "\nrename from " in head:
            status = "renamed"
        found.append(Patch(path=path.rstrip("\t"), status=status, text=(at + hunks).strip("\n")))
    return tuple(found)
