"""Operators of a tree: registrations put together, and the functions that implement them."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from app.kernels.affected.cpp_tree import CppTree, Node
from app.kernels.affected.facts import FileFacts, Kind, Registration
from app.kernels.affected.languages import in_test_folder
from app.kernels.affected.python_tree import PythonTree

# A macro that the build sets: the namespace is looked for in the calls.
_BUILT = re.compile(r"TORCH_EXTENSION_NAME|TORCH_LIBRARY_NAME|[A-Z][A-Z0-9_]*_NAME(?![a-z])")


@dataclass(slots=True)
class Operator:
    """An operator, all lines that register it, and the functions found for it.

    `kind`: cpp, pybind, python, layer (a class that a Python registry keeps), kernel (a function
    that Triton or its like compiles and Python launches). `sources` are where its implementations
    stand; empty means that the tree does not have them, or that they were not found.
    """

    id: str
    namespace: str
    name: str
    kind: str
    registrations: list[tuple[str, Registration]] = field(default_factory=list)
    sources: list[Node] = field(default_factory=list)

    @property
    def files(self) -> list[str]:
        """Files of its implementations, each once."""
        return list(dict.fromkeys(path for path, _ in self.sources))


def find(files: Mapping[str, FileFacts], cpp: CppTree, python: PythonTree) -> dict[str, Operator]:
    """All operators by id, those of test folders left out."""
    found: dict[str, Operator] = {}
    later: list[tuple[str, Registration]] = []
    for path, facts in files.items():
        if in_test_folder(path):
            continue
        for line in facts.registrations:
            if line.of:
                later.append((path, line))
                continue
            namespace = _namespace(path, line, files, python)
            _add(found, _kind(path, line), namespace, line.name, (path, line))
    for operator in found.values():
        for path, line in operator.registrations:
            operator.sources.extend(_sources(path, line, cpp, python))
    _implementations(found, later, python)
    _kernels(found, files, python)
    for operator in found.values():
        operator.sources = list(dict.fromkeys(operator.sources))
    return found


def _add(
    found: dict[str, Operator],
    kind: str,
    namespace: str,
    name: str,
    line: tuple[str, Registration],
) -> None:
    full = f"{namespace}::{name}" if namespace else name
    operator = found.setdefault(full, Operator(full, namespace, name, kind))
    operator.registrations.append(line)


def _kind(path: str, line: Registration) -> str:
    if line.how in {"pybind", "layer"}:
        return line.how
    return "python" if path.endswith(".py") else "cpp"


def _namespace(
    path: str, line: Registration, files: Mapping[str, FileFacts], python: PythonTree
) -> str:
    if line.namespace and not _BUILT.search(line.namespace):
        return line.namespace
    if line.namespace:
        suffix = _BUILT.sub("", line.namespace)
        called = [ns for ns in _called(line.name, python) if ns.endswith(suffix)]
        return called[0] if len(called) == 1 else line.namespace
    if line.via:
        meant = python.resolve(line.via, path)
        library = files[meant[0]].library if meant else files[path].library
        if library:
            return library
    called = _called(line.name, python)
    return called[0] if len(called) == 1 else ""


def _called(name: str, python: PythonTree) -> list[str]:
    """Namespaces in which Python calls an operator of this name."""
    return sorted({namespace for namespace, called in python.operator_users if called == name})


def _sources(
    path: str,
    line: Registration,
    cpp: CppTree,
    python: PythonTree,
) -> Iterator[Node]:
    for target in line.targets:
        if path.endswith(".py"):
            meant = python.resolve(target, path)
            if meant:
                yield meant
        else:
            name = target.rpartition("::")[2]
            for definer in cpp.definers(name, path):
                yield definer, name
    if line.in_place:
        yield path, ""


def _implementations(
    found: dict[str, Operator], later: list[tuple[str, Registration]], python: PythonTree
) -> None:
    """Lines such as `@rms_norm.register_impl(…)`, whose operator is an object of Python."""
    by_source: dict[Node, list[Operator]] = defaultdict(list)
    for operator in found.values():
        if operator.kind == "python":
            for source in operator.sources:
                by_source[source].append(operator)
    for path, line in later:
        of = python.resolve(line.of, path)
        for operator in by_source.get(of, ()) if of else ():
            operator.registrations.append((path, line))
            operator.sources.extend((path, target) for target in line.targets)


def _kernels(
    found: dict[str, Operator], files: Mapping[str, FileFacts], python: PythonTree
) -> None:
    """Compiled Python functions that something other than another of them uses, or nothing."""
    jit = {
        (path, symbol.name)
        for path, facts in files.items()
        for symbol in facts.symbols
        if symbol.kind is Kind.JIT and not in_test_folder(path)
    }
    for path, name in sorted(jit):
        users = list(python.users(path, name))
        if users and all(user in jit for user in users):
            continue
        module = python.module(path)
        full = f"{module}.{name}"
        found[full] = Operator(full, module, name, "kernel", sources=[(path, name)])
