"""Build files: which sources each command lists, and what a changed command means.

CMake is read command by command, with its variables; of any other build file, each line that lists
sources counts as a command. Nothing is run or expanded beyond that.
"""

import fnmatch
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from app.kernels.affected.facts import BuildCommand, FileFacts
from app.kernels.affected.languages import is_header, is_source
from app.kernels.affected.lexing import digest

_COMMAND = re.compile(r"(?<!\w)([A-Za-z_]\w{0,99}+)\s*+\(")
_COMMENT = re.compile(r"#\[\[.*?(?:\]\]|\Z)|#[^\n]*+", re.DOTALL)
_WORDS = re.compile(r"""[^\s"'(),;=\[\]]+""")
_PATH_AT_MOST = 300  # characters
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_ROOT = re.compile(r"\$\{(?:CMAKE_(?:CURRENT_)?(?:SOURCE|LIST)_DIR|PROJECT_SOURCE_DIR)\}/?")
_WORD = re.compile(r'[^\s"()]+')
_NO_SETTERS = {"if", "elseif", "message", "endif", "while", "return"}
_SUBCOMMANDS = {"APPEND", "PREPEND", "REMOVE_ITEM", "TRANSFORM", "FILTER", "GLOB", "GLOB_RECURSE"}
_DEEP = 6  # variables within variables


def parse(source: bytes, *, is_cmake: bool) -> FileFacts:
    """The facts of a build file."""
    text = source.decode(errors="replace")
    return FileFacts(commands=tuple(_cmake(text) if is_cmake else _lines(text)))


def _cmake(text: str) -> Iterator[BuildCommand]:
    plain = _COMMENT.sub("", text)
    at = 0
    while found := _COMMAND.search(plain, at):
        end = _closing(plain, found.end())
        body = plain[found.end() : end]
        words = _WORD.findall(body)
        first = words[:2] if words and words[0] in _SUBCOMMANDS else words[:1]
        sets = first[-1] if first and found[1].lower() not in _NO_SETTERS else ""
        yield BuildCommand(
            digest(" ".join((found[1], *body.split())).encode()),
            tuple(dict.fromkeys(_paths(body))),
            tuple(dict.fromkeys(_VARIABLE.findall(body))),
            sets if re.fullmatch(r"\w+", sets) else "",
        )
        at = end


def _closing(text: str, at: int) -> int:
    """Behind the parenthesis that closes the one before `at`."""
    depth = 1
    for match in re.compile(r'[()]|"(?:[^"\\]|\\.)*+"?', re.DOTALL).finditer(text, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return len(text)


def _lines(text: str) -> Iterator[BuildCommand]:
    others = []
    for line in text.splitlines():
        paths = tuple(_paths(line))
        if paths:
            yield BuildCommand(digest(line.strip().encode()), paths, (), "")
        else:
            others.append(line.strip())
    yield BuildCommand(digest("\n".join(others).encode()), (), (), "")


def _paths(text: str) -> Iterator[str]:
    for word in _WORDS.findall(text):
        plain = _ROOT.sub("", word)
        if len(plain) <= _PATH_AT_MOST and (is_source(plain) or is_header(plain)):
            yield plain


def listed_paths(
    builds: Mapping[str, FileFacts], files: Mapping[str, FileFacts]
) -> dict[str, frozenset[str]]:
    """Source path → build files that list it."""
    found: dict[str, set[str]] = defaultdict(set)
    for build, facts in builds.items():
        for command in facts.commands:
            for path in existing(command.paths, build, files):
                found[path].add(build)
    return {path: frozenset(where) for path, where in found.items()}


def existing(paths: Iterable[str], build: str, files: Mapping[str, FileFacts]) -> Iterator[str]:
    """Files of the tree that a build file's words name: from its folder, or from the top."""
    folder = posixpath.dirname(build)
    for path in paths:
        for candidate in dict.fromkeys((posixpath.join(folder, path), path)):
            plain = posixpath.normpath(candidate)
            if plain in files:
                yield plain
                break
            if "*" in plain:
                yield from fnmatch.filter(files, plain)


def changed_paths(old: FileFacts, new: FileFacts) -> tuple[list[str], bool]:
    """Words for the sources that a change of a build file concerns; and whether it is all of them.

    All, if a command changed from which no list of sources can be followed: flags, targets.
    """
    before, after = ({c.digest for c in f.commands} for f in (old, new))
    changed = [c for c in new.commands if c.digest not in before]
    removed = [c for c in old.commands if c.digest not in after]
    found: list[str] = []
    everything = False
    for facts, commands in ((new, changed), (old, removed)):
        for command in commands:
            paths = list(_sources(command, facts))
            found.extend(paths)
            everything = everything or not paths
    if everything:
        found = [path for facts in (new, old) for c in facts.commands for path in c.paths]
    return list(dict.fromkeys(found)), everything


def _sources(command: BuildCommand, facts: FileFacts) -> Iterator[str]:
    """What a command lists itself; else what the commands list that use what it sets."""
    listed = list(_listed(command, facts))
    if listed or not command.sets:
        yield from listed
        return
    for other in facts.commands:
        if command.sets in other.reads:
            yield from _listed(other, facts)


def _listed(command: BuildCommand, facts: FileFacts) -> Iterator[str]:
    yield from command.paths
    seen: set[str] = set()
    waiting = list(command.reads)
    for _ in range(_DEEP):
        names = [name for name in waiting if name not in seen]
        seen.update(names)
        waiting = []
        for other in facts.commands:
            if other.sets in names:
                yield from other.paths
                waiting.extend(other.reads)
