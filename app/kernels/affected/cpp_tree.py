"""The C++ side of a tree: what includes what, and which definition a name stands for."""

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from app.kernels.affected.facts import FileFacts, Kind

Node = tuple[str, str]  # path, symbol
_COMMON = 64  # files that define a name beyond which it says nothing
_ALIKE = 200  # files of one name that an include is looked for among
_DEEP = 5000  # files that one file includes, or that include it


class CppTree:
    """Built once from all C++ files of a tree; `listed` says which build files list a path."""

    def __init__(
        self, files: Mapping[str, FileFacts], listed: Mapping[str, frozenset[str]]
    ) -> None:
        self._files = files
        self._listed = listed
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._definers: dict[str, list[str]] = defaultdict(list)
        self._public: set[Node] = set()
        self._users: dict[str, list[Node]] = defaultdict(list)
        self._promised: dict[str, set[str]] = defaultdict(set)
        self._closures: dict[str, frozenset[str]] = {}
        self._direct: dict[str, tuple[str, ...]] = {}
        self._includers: dict[str, list[str]] | None = None
        self.examined = 0  # candidates looked at, which bounds a question
        for path, facts in files.items():
            self._by_name[posixpath.basename(path)].append(path)
            for symbol in facts.symbols:
                if symbol.kind is Kind.DECLARATION:
                    self._promised[symbol.name].add(path)
                    continue
                if symbol.kind in {Kind.FUNCTION, Kind.LOCAL}:
                    self._definers[symbol.name].append(path)
                if symbol.kind is Kind.FUNCTION:
                    self._public.add((path, symbol.name))
                for use in symbol.uses:
                    self._users[use].append((path, symbol.name))
                    if symbol.kind is Kind.TYPE:  # a class's body declares its members
                        self._promised[use].add(path)

    def definers(self, name: str, seen_from: str) -> list[str]:
        """Files whose definition a function's name can mean in a file, best guess first.

        The file itself, else what it includes, else what is built together with it, else what lies
        nearest to it.
        """
        known = list(dict.fromkeys(self._definers.get(name, ())))
        if seen_from in known:
            return [seen_from]
        self.examined += len(known)
        closure = self.closure(seen_from)
        included = [path for path in known if path in closure]
        if included:
            return included
        known = [path for path in known if (path, name) in self._public]
        if len(known) > _COMMON:
            return []
        together = [path for path in known if self._together(path, seen_from)]
        known = together or known
        near = max((_shared(path, seen_from) for path in known), default=0)
        return [path for path in known if _shared(path, seen_from) == near or together]

    def users(self, path: str, name: str) -> Iterator[Node]:
        """Symbols whose code names this one and can mean it."""
        is_function = (path, name) in self._public
        candidates = self._users.get(name, ())
        self.examined += len(candidates)
        for user in candidates:
            there = user[0]
            if there == path or path in self.closure(there):
                if user != (path, name):
                    yield user
            elif is_function and self._sees(there, name) and path in self.definers(name, there):
                yield user

    def includers(self, path: str) -> frozenset[str]:
        """Files that include this one, over any number of steps."""
        if self._includers is None:
            self._includers = defaultdict(list)
            for other in self._files:
                for header in self._includes(other):
                    self._includers[header].append(other)
        return _reachable(path, lambda at: (self._includers or {}).get(at, ()))

    def closure(self, path: str) -> frozenset[str]:
        """Files of the tree that a file includes, over any number of steps, without itself."""
        if path not in self._closures:
            self._closures[path] = _reachable(path, self._includes)
            self.examined += len(self._closures[path])
        return self._closures[path]

    def _includes(self, path: str) -> tuple[str, ...]:
        if path not in self._direct:
            facts = self._files.get(path)
            includes = facts.includes if facts else ()
            found = (header for include in includes for header in self._included(include, path))
            self._direct[path] = tuple(dict.fromkeys(found))
        return self._direct[path]

    def _included(self, include: str, by: str) -> Iterable[str]:
        """Beside the includer, else the files whose paths end so; of several the nearest."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(by), include))
        if beside in self._files:
            return (beside,)
        plain = posixpath.normpath(include).lstrip("./")
        ends = [
            path
            for path in self._by_name.get(posixpath.basename(plain), [])[:_ALIKE]
            if path == plain or path.endswith(f"/{plain}")
        ]
        near = max((_shared(path, by) for path in ends), default=0)
        return [path for path in ends if _shared(path, by) == near]

    def _sees(self, path: str, name: str) -> bool:
        """Whether a file can name a function of another: C++ wants it declared before."""
        promised = self._promised.get(name, set())
        return path in promised or not promised.isdisjoint(self.closure(path))

    def _together(self, one: str, other: str) -> bool:
        return not self._listed.get(one, frozenset()).isdisjoint(self._listed.get(other, ()))


def _reachable(path: str, next_: Callable[[str], Iterable[str]]) -> frozenset[str]:
    found: set[str] = set()
    waiting = [path]
    while waiting and len(found) < _DEEP:
        for other in next_(waiting.pop()):
            if other not in found and other != path:
                found.add(other)
                waiting.append(other)
    return frozenset(found)


def _shared(one: str, other: str) -> int:
    """How many folders two paths have in common from the top."""
    count = 0
    for a, b in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count
