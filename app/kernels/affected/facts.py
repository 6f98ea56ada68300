"""What one file says, whatever its path: the part that can be cached by the file's blob id."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

FACTS_VERSION = "1"  # goes up with every change of what the parsers below find


class Kind(StrEnum):
    """What a symbol is."""

    FUNCTION = "f"
    LOCAL = "l"  # a C++ function that no other file can use unless it includes this one
    DECLARATION = "d"  # a C++ prototype: tells where a name may be used, defines nothing
    TYPE = "t"
    MACRO = "m"
    VALUE = "v"
    JIT = "j"  # a Python function that a kernel compiler takes: Triton, CuTe, Helion, TileLang, …


class Flag(StrEnum):
    """What keeps a file's facts from being the whole story."""

    ERRORS = "errors"  # the grammar did not understand every line
    PASTED = "pasted"  # names are put together with ##: who uses what cannot be seen
    UNREAD = "unread"  # too large, too slow, or it broke the parser: nothing is known of it


class Symbol(NamedTuple):
    """A definition at a file's top level.

    `digest` changes with its code, not with comments or line breaks. `uses` are names: C++
    identifiers as they stand; in Python names of the same file, and dotted names of what was
    imported (`.` in front where the import was relative).
    """

    name: str
    kind: Kind
    digest: str
    uses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Registration:
    """A line that says: there is an operator of this name, or this implements it.

    `namespace` is empty where the line does not say it. `targets` are the functions that implement
    it, named like `Symbol.uses`. `in_place` means that the implementation stands in the line
    itself (a lambda). `of` is a dotted name where a Python line implements an operator that it
    names by an object (`@rms_norm.register_impl(…)`) instead of by a string.
    """

    name: str
    namespace: str
    how: str  # define, implement, layer
    line: int
    digest: str
    targets: tuple[str, ...] = ()
    in_place: bool = False
    of: str = ""
    via: str = ""  # the Python function called, where the namespace has to be looked for in it


@dataclass(frozen=True, slots=True)
class BuildCommand:
    """One command of a CMake file: what it lists, and which variables it reads and sets."""

    digest: str
    paths: tuple[str, ...]
    reads: tuple[str, ...]
    sets: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """All of one file. `rest` is the digest of what stands outside of symbols and registrations."""

    symbols: tuple[Symbol, ...] = ()
    registrations: tuple[Registration, ...] = ()
    includes: tuple[str, ...] = ()  # C++: what stands in the quotes or angles
    bindings: tuple[tuple[str, str], ...] = ()  # Python: imported name → dotted origin
    commands: tuple[BuildCommand, ...] = ()
    library: str = ""  # Python: the namespace of the one torch.library.Library made here
    rest: str = ""
    flags: frozenset[Flag] = field(default_factory=frozenset)


UNREAD = FileFacts(flags=frozenset({Flag.UNREAD}))


def pack(facts: FileFacts) -> list[Any]:
    """Facts as small JSON: names that recur are written once."""
    table: dict[str, int] = {}

    def at(text: str) -> int:
        return table.setdefault(text, len(table))

    symbols = [[s.name, s.kind.value, s.digest, [at(u) for u in s.uses]] for s in facts.symbols]
    registrations = [
        [r.name, r.namespace, r.how, r.line, r.digest, list(r.targets), r.in_place, r.of, r.via]
        for r in facts.registrations
    ]
    commands = [[c.digest, list(c.paths), list(c.reads), c.sets] for c in facts.commands]
    return [
        list(table),
        symbols,
        registrations,
        list(facts.includes),
        [list(b) for b in facts.bindings],
        commands,
        facts.library,
        facts.rest,
        sorted(facts.flags),
    ]


_KINDS = {kind.value: kind for kind in Kind}
_NO_FLAGS: frozenset[Flag] = frozenset()


def unpack(packed: list[Any]) -> FileFacts:
    """The inverse of `pack`; ValueError, TypeError, IndexError or KeyError on anything else."""
    table, symbols, registrations, includes, bindings, commands, library, rest, flags = packed
    return FileFacts(
        symbols=tuple(
            Symbol(name, _KINDS[kind], digest, tuple([table[u] for u in uses]))
            for name, kind, digest, uses in symbols
        ),
        registrations=tuple(
            Registration(name, ns, how, line, digest, tuple(targets), in_place, of, via)
            for name, ns, how, line, digest, targets, in_place, of, via in registrations
        ),
        includes=tuple(includes),
        bindings=tuple((name, origin) for name, origin in bindings),
        commands=tuple(
            BuildCommand(digest, tuple(paths), tuple(reads), sets)
            for digest, paths, reads, sets in commands
        ),
        library=library,
        rest=rest,
        flags=frozenset(Flag(f) for f in flags) if flags else _NO_FLAGS,
    )
