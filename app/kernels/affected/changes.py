"""What a changed file changed: which symbols, which registrations, or all of it."""

from dataclasses import dataclass

from app.kernels.affected.facts import FileFacts, Flag, Kind


@dataclass(frozen=True, slots=True)
class Changed:
    """One file of a diff.

    `old_path` is another name before; both paths are the same where it was not renamed. `old` is
    None for an added file and `new` for a deleted one; both were read with digests.
    """

    path: str
    old_path: str
    old: FileFacts | None
    new: FileFacts | None

    @property
    def renamed(self) -> bool:
        """Whether it had another name before."""
        return self.path != self.old_path


@dataclass(frozen=True, slots=True)
class Delta:
    """`whole` says why everything in the file counts as changed; empty if only the names do.

    `declared` are those names of which a C++ prototype alone is other.

    `registrations` are (namespace, name, line) of lines that are new, gone or other.
    """

    whole: str
    names: tuple[str, ...]
    registrations: tuple[tuple[str, str, int], ...]
    declared: tuple[str, ...] = ()


def compare(changed: Changed) -> Delta:
    """What is other between two versions of a file."""
    old, new = changed.old, changed.new
    if old is None or new is None:
        there = new or old or FileFacts()
        whole = "the file is new" if new else "the file was deleted"
        return Delta(whole, _names(there), _lines(there, FileFacts()))
    other = _other(old, new)
    names = tuple(dict.fromkeys(n for n, kind in other if kind is not Kind.DECLARATION))
    declared = tuple(n for n, kind in other if kind is Kind.DECLARATION and n not in names)
    lines = _lines(new, old) + _lines(old, new)
    return Delta(_whole(changed, old, new), names, tuple(dict.fromkeys(lines)), declared)


def _whole(changed: Changed, old: FileFacts, new: FileFacts) -> str:
    flags = old.flags | new.flags
    if Flag.UNREAD in flags:
        return "it could not be read, so all of it counts"
    if changed.renamed:
        return f"it was {changed.old_path} before"
    if old.rest != new.rest:
        return "lines outside of any definition changed"
    if Flag.PASTED in flags and _other(old, new):
        return "it builds names with ##, so all of it counts"
    return ""


def _names(facts: FileFacts) -> tuple[str, ...]:
    return tuple(s.name for s in facts.symbols if s.kind is not Kind.DECLARATION)


def _other(old: FileFacts, new: FileFacts) -> list[tuple[str, Kind]]:
    """Symbols that are new, gone or other."""
    before = {(s.name, s.kind): s.digest for s in old.symbols}
    after = {(s.name, s.kind): s.digest for s in new.symbols}
    return [k for k in dict.fromkeys((*after, *before)) if before.get(k) != after.get(k)]


def _lines(facts: FileFacts, against: FileFacts) -> tuple[tuple[str, str, int], ...]:
    known = {(r.namespace, r.name, r.digest) for r in against.registrations}
    return tuple(
        (r.namespace, r.name, r.line)
        for r in facts.registrations
        if (r.namespace, r.name, r.digest) not in known
    )
