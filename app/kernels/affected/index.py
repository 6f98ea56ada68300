"""The index of one tree: its operators, and who leads to whom."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from app.kernels.affected import operators as _operators
from app.kernels.affected.build_files import listed_paths
from app.kernels.affected.cpp_tree import CppTree, Node
from app.kernels.affected.facts import FileFacts, Symbol
from app.kernels.affected.languages import Language, language_of
from app.kernels.affected.operators import Operator
from app.kernels.affected.python_tree import PythonTree


class Index:
    """`files`: path → facts of every file of a tree that `language_of` knows."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self.files = files
        by_language: dict[Language | None, dict[str, FileFacts]] = defaultdict(dict)
        for path, facts in files.items():
            by_language[language_of(path)][path] = facts
        self.listed = listed_paths(by_language[Language.BUILD], files)
        self.cpp = CppTree(by_language[Language.CPP], self.listed)
        self.python = PythonTree(by_language[Language.PYTHON])
        self.operators = _operators.find(files, self.cpp, self.python)
        self._implements: dict[Node, list[Operator]] = defaultdict(list)
        self._by_file: dict[str, list[Operator]] = defaultdict(list)
        self._registered: dict[str, list[Operator]] = defaultdict(list)
        self._named: dict[Node, list[Operator]] | None = None
        self._testing: frozenset[str] | None = None
        self._symbols: dict[str, dict[str, Symbol]] = {}
        for operator in self.operators.values():
            for source in operator.sources:
                self._implements[source].append(operator)
            for path in operator.files:
                self._by_file[path].append(operator)
            for path in dict.fromkeys(path for path, _ in operator.registrations):
                self._registered[path].append(operator)

    def implements(self, node: Node) -> list[Operator]:
        """Operators that a symbol implements."""
        return self._implements.get(node, [])

    def registered_in(self, path: str) -> list[Operator]:
        """Operators that a line of a file registers."""
        return self._registered.get(path, [])

    def implemented_below(self, folder: str) -> list[Operator]:
        """Operators with an implementation in a file of a folder or of one within."""
        below = [self._by_file[p] for p in sorted(self._by_file) if p.startswith(f"{folder}/")]
        return list({operator.id: operator for some in below for operator in some}.values())

    def symbol(self, node: Node) -> Symbol | None:
        """The symbol of a node, if the tree has it."""
        path, name = node
        if path not in self._symbols:
            facts = self.files.get(path)
            self._symbols[path] = {s.name: s for s in facts.symbols} if facts else {}
        return self._symbols[path].get(name)

    @property
    def examined(self) -> int:
        """How much has been looked at so far, for questions that must end."""
        return self.cpp.examined + self.python.examined

    def users(self, node: Node) -> Iterator[Node]:
        """Symbols whose code names this one."""
        tree = self.python if node[0].endswith(".py") else self.cpp
        return tree.users(*node)

    def names_operator(self, path: str) -> bool:
        """Whether a file's own code names an operator."""
        if self._testing is None:
            callers = (node for o in self.operators.values() for node in self.callers(o))
            self._testing = frozenset(node[0] for node in callers)
        return path in self._testing

    def named_by(self, node: Node) -> list[Operator]:
        """Operators that a Python symbol names as `torch.ops.ns.name`."""
        if self._named is None:
            self._named = defaultdict(list)
            for operator in self.operators.values():
                key = operator.namespace, operator.name
                for caller in self.python.operator_users.get(key, ()):
                    self._named[caller].append(operator)
        return self._named.get(node, [])

    def callers(self, operator: Operator) -> Iterator[Node]:
        """Python symbols whose code names an operator: `torch.ops.ns.name`, or what stands for it."""
        yield from self.python.operator_users.get((operator.namespace, operator.name), ())
        if operator.kind == "pybind":
            yield from self.python.foreign_users.get((operator.namespace, operator.name), ())
        if operator.kind in {"python", "layer", "kernel"}:
            for source in operator.sources:
                yield from self.users(source)
