"""From touched operators to the answer: tests, the configuration's say, and the order."""

from collections.abc import Iterable

from app.kernels.affected.answer import Answer, FileAnswer, Link, OperatorAnswer, TestAnswer
from app.kernels.affected.config import Add, Config, Remove, matches
from app.kernels.affected.index import Index
from app.kernels.affected.languages import is_test, language_of
from app.kernels.affected.operators import Operator
from app.kernels.affected.reach import Chain, Step, files_that_test
from app.kernels.affected.resolve import FileResult, Resolution, Touched, Trees


def assemble(found: Resolution, trees: Trees, config: Config) -> Answer:
    """The answer without its commits. What the configuration removes is removed last."""
    paths = [result.changed.path for result in found.files if "ignored" not in result.flags]
    added = [(add, path) for add in config.add if (path := _first(add.files, paths)) is not None]
    for add, because in added:
        _add_operators(found, trees.head, add, because)
    removed = [one for one in config.remove if not one.files or _all_match(one, paths)]
    for operator in list(found.touched):
        if any(matches(one.operators, operator) for one in removed):
            del found.touched[operator]
    operators = sorted(found.touched.values(), key=lambda t: (t.operator.kind, t.operator.id))
    tests = _Tests()
    tests.of_operators(operators, trees)
    tests.changed(found, trees.head)
    for add, because in added:
        chain = (Step(because, "", "changed"), Step("", "", add.why))
        for test in add.tests:
            tests.enter(test, 0, "", chain)
    return Answer(
        base="",
        head="",
        merge_base="",
        files=[_file(result, found) for result in found.files],
        operators=[_operator(touched) for touched in operators],
        tests=[
            test
            for test in sorted(tests.made.values(), key=lambda test: (test.distance, test.test))
            if not any(matches(one.tests, test.test) for one in removed)
        ],
    )


def _first(patterns: list[str], paths: list[str]) -> str | None:
    return next((path for path in paths if matches(patterns, path)), None)


def _all_match(one: Remove, paths: list[str]) -> bool:
    return all(matches(one.files, path) for path in paths)


def _add_operators(found: Resolution, head: Index, add: Add, because: str) -> None:
    for name in add.operators:
        namespace, _, last = name.rpartition("::")
        operator = head.operators.get(name) or Operator(name, namespace, last, "configured")
        if name not in found.touched:
            chain = (Step(because, "", "changed"), Step("", "", add.why))
            found.touched[name] = Touched(operator, chain, [because], {"configured"})


class _Tests:
    """Test files with the nearest reason for each."""

    def __init__(self) -> None:
        self.made: dict[str, TestAnswer] = {}

    def of_operators(self, operators: Iterable[Touched], trees: Trees) -> None:
        """Those of every operator but the ones reached through another, whose tests these are."""
        for touched in operators:
            if "through" in touched.flags:
                continue
            operator = touched.operator
            index = trees.head if operator.kind == "configured" else trees.of(operator.id)
            for test in files_that_test(index, operator):
                if test.path in trees.head.files:
                    chain = (*touched.chain, *test.chain)
                    self.enter(test.path, test.distance, operator.id, chain)

    def changed(self, found: Resolution, head: Index) -> None:
        """Changed tests that name an operator."""
        for result in found.files:
            path = result.changed.path
            if is_test(path) and result.changed.new is not None and head.names_operator(path):
                self.enter(path, 0, "", (Step(path, "", "changed, and names an operator"),))

    def enter(self, path: str, distance: int, operator: str, chain: Chain) -> None:
        """One more reason for a test; `operator` may be empty."""
        known = self.made.get(path)
        if known is None or known.distance > distance:
            known = self.made[path] = TestAnswer(
                test=path,
                distance=distance,
                operators=known.operators if known else [],
                reason=[_link(step) for step in chain],
            )
        if operator and operator not in known.operators:
            known.operators.append(operator)


def _file(result: FileResult, found: Resolution) -> FileAnswer:
    changed = result.changed
    if changed.old is None and changed.new is None:
        status = "other"
    elif changed.old is None:
        status = "added"
    elif changed.new is None:
        status = "deleted"
    else:
        status = "renamed" if changed.renamed else "modified"
    language = language_of(changed.path)
    return FileAnswer(
        file=changed.path,
        was=changed.old_path if changed.renamed else "",
        status=status,
        kind=language.value if language else "",
        operators=sum(operator in found.touched for operator in result.operators),
        flags=sorted(result.flags),
    )


def _operator(touched: Touched) -> OperatorAnswer:
    operator = touched.operator
    return OperatorAnswer(
        operator=operator.id,
        kind=operator.kind,
        sources=[f"{path}:{name}" if name else path for path, name in operator.sources],
        changed=touched.changed,
        reason=[_link(step) for step in touched.chain],
        flags=sorted(touched.flags),
    )


def _link(step: Step) -> Link:
    return Link(file=step.path, symbol=step.symbol, why=step.why)
