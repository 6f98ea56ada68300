"""From a diff to the answer: the rules for each kind of changed file."""

import posixpath
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from app.kernels.affected.build_files import changed_paths, existing
from app.kernels.affected.changes import Changed, Delta, compare
from app.kernels.affected.config import Config, matches
from app.kernels.affected.cpp_tree import Node
from app.kernels.affected.facts import FileFacts, Flag, Kind
from app.kernels.affected.index import Index
from app.kernels.affected.languages import Language, in_test_folder, is_header, language_of
from app.kernels.affected.operators import Operator
from app.kernels.affected.reach import Chain, Step, operators_reached, operators_wrapped

WIDE = 20  # a header or build file that leads to more operators is flagged


class Trees:
    """The indexes before and after; the one before is built when something asks for it."""

    def __init__(self, head: Index, base: Callable[[], Index]) -> None:
        self.head = head
        self._make_base = base
        self._base: Index | None = None

    @property
    def base(self) -> Index:
        """The tree that the change began from."""
        if self._base is None:
            self._base = self._make_base()
        return self._base

    def of(self, operator: str) -> Index:
        """The newest tree that has an operator."""
        return self.head if operator in self.head.operators else self.base


@dataclass(slots=True)
class Touched:
    """An operator, the changed files that lead to it, one chain, and flags."""

    operator: Operator
    chain: Chain
    changed: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)


@dataclass(slots=True)
class FileResult:
    """What became of one changed file."""

    changed: Changed
    operators: dict[str, None] = field(default_factory=dict)
    through: set[str] = field(default_factory=set)
    wrapped: set[str] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Resolution:
    """Operators by id, and each changed file."""

    touched: dict[str, Touched] = field(default_factory=dict)
    files: list[FileResult] = field(default_factory=list)


def resolve(changes: Sequence[Changed], trees: Trees, config: Config) -> Resolution:
    """Operators that a diff touches."""
    found = Resolution()
    for changed in changes:
        result = FileResult(changed)
        found.files.append(result)
        if matches(config.ignore, changed.path):
            result.flags.add("ignored")
            continue
        for operator, chain in _led_to(changed, trees, result):
            _touch(found, result, operator, chain, trees)
        wide = len(result.operators) > WIDE
        if wide and (is_header(changed.path) or language_of(changed.path) is Language.BUILD):
            result.flags.add("wide")
        for operator in result.operators:
            found.touched[operator].flags |= result.flags & {"unknown", "wide", "incomplete"}
    direct = {
        operator
        for result in found.files
        for operator in result.operators
        if operator not in result.through | result.wrapped
    }
    wrapped = {operator for result in found.files for operator in result.wrapped}
    for operator, touched in found.touched.items():
        if operator not in direct:
            touched.flags.add("wrapper" if operator in wrapped else "through")
    return found


def _touch(
    found: Resolution, result: FileResult, operator: str, chain: Chain, trees: Trees
) -> None:
    if operator in result.operators:
        return
    known = found.touched.get(operator)
    if known is None:
        known = Touched(trees.of(operator).operators[operator], chain)
        found.touched[operator] = known
        if operator not in trees.head.operators:
            known.flags.add("gone")
    elif len(chain) < len(known.chain):
        known.chain = chain
    known.changed.append(result.changed.path)
    result.operators[operator] = None


def _led_to(changed: Changed, trees: Trees, result: FileResult) -> Iterator[tuple[str, Chain]]:
    language = language_of(changed.path) or language_of(changed.old_path)
    if language is None or in_test_folder(changed.path):
        return
    if language is Language.BUILD:
        yield from _build(changed, trees, result)
        return
    delta = compare(changed)
    indexes = [(changed.path, trees.head)] if changed.new is not None else []
    if changed.new is None or _removes(changed):
        indexes.append((changed.old_path, trees.base))
    any_found = False
    for path, index in indexes:
        for operator, chain in _from_source(path, delta, index, result):
            any_found = True
            yield operator, chain
    if not any_found and (delta.whole or delta.names):  # a mere prototype leads nowhere
        path, index = indexes[0]
        yield from _unknown(path, changed, index, result)


def _removes(changed: Changed) -> bool:
    """Whether something that others may use is no longer there."""
    if changed.old is None or changed.new is None:
        return False
    now = {s.name for s in changed.new.symbols}
    lines = {(r.namespace, r.name) for r in changed.new.registrations}
    return any(
        s.name not in now for s in changed.old.symbols if s.kind is not Kind.DECLARATION
    ) or (any((r.namespace, r.name) not in lines for r in changed.old.registrations))


def _from_source(
    path: str, delta: Delta, index: Index, result: FileResult
) -> Iterator[tuple[str, Chain]]:
    """Operators that changed symbols, registrations or a whole file lead to."""
    for namespace, name, line in delta.registrations:
        for operator in _registered(index, path, namespace, name):
            yield operator.id, (Step(path, "", f"line {line} registers {operator.id}"),)
    reached = operators_reached(index, _starts(path, delta, index))
    if not reached.complete:
        result.flags.add("incomplete")
    result.through |= reached.through
    yield from reached.operators.items()
    if path.endswith(".py"):
        for operator_id, chain in operators_wrapped(index, _starts(path, delta, index)):
            if operator_id not in reached.operators:
                result.wrapped.add(operator_id)
                yield operator_id, chain
    if delta.whole:
        for operator in index.registered_in(path):
            yield operator.id, (Step(path, "", f"registers {operator.id}; {delta.whole}"),)


def _registered(index: Index, path: str, namespace: str, name: str) -> Iterator[Operator]:
    for operator in index.registered_in(path):
        if any(
            where == path and line.name == name and line.namespace == namespace
            for where, line in operator.registrations
        ):
            yield operator


def _starts(path: str, delta: Delta, index: Index) -> Iterator[tuple[Node, Chain]]:
    for name in delta.declared:
        for definer in index.cpp.definers(name, path):
            yield (definer, name), (Step(path, name, "has another prototype"),)
    if not delta.whole:
        for name in delta.names:
            yield (path, name), (Step(path, name, "changed"),)
        return
    yield from _all_of(path, index, (Step(path, "", f"changed: {delta.whole}"),))
    if is_header(path):
        for includer in sorted(index.cpp.includers(path)):
            chain = (
                Step(path, "", f"changed: {delta.whole}"),
                Step(includer, "", f"includes {path}"),
            )
            yield from _all_of(includer, index, chain)


def _all_of(path: str, index: Index, chain: Chain) -> Iterator[tuple[Node, Chain]]:
    facts = index.files.get(path)
    for symbol in facts.symbols if facts else ():
        if symbol.kind is not Kind.DECLARATION:
            yield (path, symbol.name), chain
    yield (path, ""), chain  # implementations that stand in the registration itself


def _unknown(
    path: str, changed: Changed, index: Index, result: FileResult
) -> Iterator[tuple[str, Chain]]:
    """A kernel file that leads to nothing: all operators of its folder, or of the next above."""
    facts = changed.new or changed.old or FileFacts()
    if not _is_kernel_file(path, facts):
        return
    why = "leads to no operator that is known: all of {}/ count"
    yield from _folder(posixpath.dirname(path), Step(path, "", why), (), index, result)


def _folder(
    folder: str, step: Step, before: Chain, index: Index, result: FileResult
) -> Iterator[tuple[str, Chain]]:
    """All operators of a folder, or of the next above that has any, flagged."""
    folder = folder.strip("/")  # what a build file lists may begin at the root
    while folder:
        operators = index.implemented_below(folder)
        if operators:
            result.flags.add("unknown")
            step = Step(step.path, step.symbol, step.why.format(folder))
            yield from ((operator.id, (*before, step)) for operator in operators)
            return
        folder = posixpath.dirname(folder)


def _is_kernel_file(path: str, facts: FileFacts) -> bool:
    if language_of(path) is Language.CPP:
        return True
    return Flag.UNREAD in facts.flags or any(s.kind is Kind.JIT for s in facts.symbols)


def _build(changed: Changed, trees: Trees, result: FileResult) -> Iterator[tuple[str, Chain]]:
    words, everything = changed_paths(changed.old or FileFacts(), changed.new or FileFacts())
    why = "changed for all that it builds" if everything else "changed"
    if everything:
        result.flags.add("wide")
    index = trees.head if changed.new is not None else trees.base
    path = changed.path if changed.new is not None else changed.old_path
    first = Step(path, "", why)
    for word in words:
        sources = list(existing([word], path, index.files))
        for source in sources:
            chain = (first, Step(source, "", f"is listed in {path}"))
            yield from operators_reached(index, _all_of(source, index, chain)).operators.items()
            for operator in index.registered_in(source):
                yield operator.id, (*chain, Step(source, "", f"registers {operator.id}"))
        if not sources:
            missing = Step(word, "", "is listed but not in the tree: all of {}/ count")
            folder = posixpath.dirname(posixpath.normpath(word))
            yield from _folder(folder, missing, (first,), index, result)
