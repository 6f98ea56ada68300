"""The Python side of a tree: which definition a dotted name stands for."""

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping

from app.kernels.affected.facts import FileFacts

Node = tuple[str, str]  # path, symbol
_STEPS = 8  # re-exports that are followed


class PythonTree:
    """Built once from all Python files of a tree."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files
        self.examined = 0  # candidates looked at, which bounds a question
        self._modules = _modules(files)
        self._names = {path: {s.name for s in facts.symbols} for path, facts in files.items()}
        self._bindings: dict[str, dict[str, str]] = {}
        self._resolved: dict[str, Node | None] = {}
        self._within: dict[str, dict[str, list[str]]] = {}
        self._users: dict[Node, list[Node]] = defaultdict(list)
        self.operator_users: dict[tuple[str, str], list[Node]] = defaultdict(list)
        self.foreign_users: dict[tuple[str, str], list[Node]] = defaultdict(list)
        for path, facts in files.items():
            for symbol in facts.symbols:
                self._enter((path, symbol.name), symbol.uses)

    def _enter(self, user: Node, uses: tuple[str, ...]) -> None:
        for use in uses:
            if "." not in use:
                continue
            if use.startswith("torch.ops."):
                _, _, namespace, name = use.split(".")
                self.operator_users[namespace, name].append(user)
                continue
            meant = self.resolve(use, user[0])
            if meant is not None:
                self._users[meant].append(user)
            else:
                *_, module, name = use.split(".")
                self.foreign_users[module, name].append(user)

    def module(self, path: str) -> str:
        """The dotted name of a file, from the tree's top."""
        plain = path.removesuffix(".py").removesuffix("/__init__")
        return plain.replace("/", ".")

    def users(self, path: str, name: str) -> Iterator[Node]:
        """Symbols whose code names this one; first those of the same file."""
        self.examined += 1 + len(self._users.get((path, name), ()))
        for user in self._local_users(path).get(name, ()):
            yield path, user
        yield from self._users.get((path, name), ())

    def resolve(self, dotted: str, seen_from: str) -> Node | None:
        """The definition that a dotted name means in a file; None if it is not in the tree."""
        absolute = _absolute(dotted, seen_from)
        if "." not in absolute and absolute in self._names.get(seen_from, ()):
            return seen_from, absolute
        if absolute not in self._resolved:
            self._resolved[absolute] = self._find(absolute)
        return self._resolved[absolute]

    def _find(self, dotted: str) -> Node | None:
        for _ in range(_STEPS):
            parts = dotted.split(".")
            for cut in range(len(parts) - 1, 0, -1):
                path = self._modules.get(".".join(parts[:cut]))
                if path is not None:
                    break
            else:
                return None
            name = parts[cut]
            if name in self._names[path]:
                return path, name
            origin = self._bound(path).get(name)
            if origin is None:
                return None
            dotted = ".".join((_absolute(origin, path), *parts[cut + 1 :]))
        return None

    def _bound(self, path: str) -> dict[str, str]:
        if path not in self._bindings:
            self._bindings[path] = dict(self._files[path].bindings)
        return self._bindings[path]

    def _local_users(self, path: str) -> dict[str, list[str]]:
        if path not in self._within:
            found: dict[str, list[str]] = defaultdict(list)
            for symbol in self._files[path].symbols if path in self._files else ():
                for use in symbol.uses:
                    if "." not in use:
                        found[use].append(symbol.name)
            self._within[path] = found
        return self._within[path]


def _absolute(dotted: str, path: str) -> str:
    """`..op.f` in `a/b/c.py` → `a.op.f`."""
    if not dotted.startswith("."):
        return dotted
    plain = dotted.lstrip(".")
    folder = posixpath.dirname(path).split("/")
    up = len(dotted) - len(plain) - 1
    kept = folder[: len(folder) - up] if up else folder
    return ".".join([*(part for part in kept if part), plain])


def _modules(files: Mapping[str, FileFacts]) -> dict[str, str]:
    """Module names → paths: from the tree's top, and from where the packages begin."""
    found: dict[str, str] = {}
    packages = {posixpath.dirname(path) for path in files if path.endswith("__init__.py")}
    above: dict[str, str] = {}
    for path in sorted(files, key=lambda p: not p.endswith("__init__.py")):
        plain = path.removesuffix(".py").removesuffix("/__init__")
        found.setdefault(plain.replace("/", "."), path)
        folder = posixpath.dirname(path)
        if folder not in above:
            above[folder] = _above(folder, packages)
        if above[folder]:
            found.setdefault(plain.removeprefix(f"{above[folder]}/").replace("/", "."), path)
    return found


def _above(folder: str, packages: set[str]) -> str:
    """The folder that has to be on Python's path for a file of this one."""
    while folder in packages:
        folder = posixpath.dirname(folder)
    return folder
