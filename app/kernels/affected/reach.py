"""From changed symbols to operators, and from operators to tests: who uses whom, backwards."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from app.kernels.affected.cpp_tree import Node
from app.kernels.affected.facts import Kind
from app.kernels.affected.index import Index
from app.kernels.affected.languages import in_test_folder, is_test
from app.kernels.affected.operators import Operator

HOPS = 1  # Python files that may lie between a change and an operator, or a wrapper and a test
MOST = 50_000  # symbols that one question visits
EXAMINED = 3_000_000  # candidates that one question looks at; some seconds


@dataclass(frozen=True, slots=True)
class Step:
    """One link of a reason: a file, perhaps a symbol of it, and what it has to do with the next."""

    path: str
    symbol: str
    why: str


Chain = tuple[Step, ...]


@dataclass(slots=True)
class Reached:
    """Operators reached, each with the shortest chain found; `complete` unless it was cut off.

    `through` are those that only call another operator which was reached.
    """

    operators: dict[str, Chain] = field(default_factory=dict)
    through: set[str] = field(default_factory=set)
    complete: bool = True


def operators_reached(index: Index, starts: Iterable[tuple[Node, Chain]]) -> Reached:
    """Operators whose implementation leads to one of the given symbols.

    Within C++ over any number of calls; within Python over any number of calls of one file and of
    compiled kernels, and over one import. What calls such an operator by its name and implements
    another is reached through it.
    """
    found = Reached()
    _walk(index, starts, found)
    direct = list(found.operators.items())
    callers = [
        (caller, (*chain, Step(*caller, f"calls {called}")))
        for called, chain in direct
        for caller in index.callers(index.operators[called])
        if not in_test_folder(caller[0])
    ]
    _walk(index, callers, found, hop=HOPS)
    found.through = set(found.operators) - {known for known, _ in direct}
    return found


def _walk(
    index: Index, starts: Iterable[tuple[Node, Chain]], found: Reached, *, hop: int = 0
) -> None:
    first = index.examined
    hops: dict[Node, int] = {}
    waiting: deque[tuple[Node, Chain, int]] = deque((node, chain, hop) for node, chain in starts)
    while waiting:
        node, chain, hop = waiting.popleft()
        if hops.get(node, HOPS + 1) <= hop:
            continue
        hops[node] = hop
        if len(hops) > MOST or index.examined - first > EXAMINED:
            found.complete = False
            break
        for operator in index.implements(node):
            found.operators.setdefault(operator.id, (*chain, _implements(node, operator)))
        for user in index.users(node):
            further = hop + _cost(index, node, user)
            if further <= HOPS and not in_test_folder(user[0]):
                step = Step(user[0], user[1], f"uses {node[1]}")
                waiting.append((user, (*chain, step), further))


def _implements(node: Node, operator: Operator) -> Step:
    return Step(node[0], node[1], f"implements {operator.id}")


def _cost(index: Index, node: Node, user: Node) -> int:
    """An import of Python counts as a hop; calls among kernels and within a file do not."""
    if not node[0].endswith(".py") or node[0] == user[0]:
        return 0
    used, using = index.symbol(node), index.symbol(user)
    both = used is not None and using is not None and used.kind is using.kind is Kind.JIT
    return 0 if both else 1


def operators_wrapped(
    index: Index, starts: Iterable[tuple[Node, Chain]]
) -> Iterator[tuple[str, Chain]]:
    """Operators that Python symbols name, or others of the same file that use these."""
    seen: set[Node] = set()
    waiting = deque(starts)
    while waiting:
        node, chain = waiting.popleft()
        if node in seen:
            continue
        seen.add(node)
        for operator in index.named_by(node):
            yield operator.id, (*chain, Step(node[0], node[1], f"calls {operator.id}"))
        for user in index.users(node):
            if user[0] == node[0]:
                waiting.append((user, (*chain, Step(user[0], user[1], f"uses {node[1]}"))))


@dataclass(frozen=True, slots=True)
class Tested:
    """A test file of an operator. `distance`: 0 names it, 1 names a wrapper, 2 over one import."""

    path: str
    distance: int
    chain: Chain


def files_that_test(index: Index, operator: Operator) -> list[Tested]:
    """Test files that name an operator, its wrapper, or something that an import away wraps it."""
    found: dict[str, Tested] = {}
    best: dict[Node, int] = {}
    named = Step(operator.files[0] if operator.files else "", operator.name, f"is {operator.id}")
    waiting: deque[tuple[Node, Chain, int]] = deque(
        (user, (named, Step(*user, f"names {operator.id}")), 0)
        for user in (*index.callers(operator), *_native_tests(index, operator))
    )
    first = index.examined
    while waiting and len(best) < MOST and index.examined - first < EXAMINED:
        node, chain, distance = waiting.popleft()
        if best.get(node, 99) <= distance:
            continue
        best[node] = distance
        if is_test(node[0]):
            known = found.get(node[0])
            if known is None or known.distance > distance:
                found[node[0]] = Tested(node[0], distance, chain)
            continue
        for user in index.users(node):
            further = distance + (user[0] != node[0])
            if further <= HOPS + 1:
                waiting.append((user, (*chain, Step(*user, f"uses {node[1]}")), further))
    return sorted(found.values(), key=lambda test: (test.distance, test.path))


def _native_tests(index: Index, operator: Operator) -> Iterator[Node]:
    """C++ tests that call a function which implements the operator."""
    for source in operator.sources:
        if not source[0].endswith(".py"):
            yield from (user for user in index.users(source) if is_test(user[0]))
