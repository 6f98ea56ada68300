"""From touched operators to the answer: tests, the configuration's say, and the order."""

from collections.abc import Callable, Iterable

from app.kernels.affected.answer import Answer, FileAnswer, Link, OperatorAnswer, TestAnswer
from app.kernels.affected.config import Config, Remove, matches
from app.kernels.affected.index import Index
from app.kernels.affected.languages import is_test, language_of
from app.kernels.affected.operators import Operator
from app.kernels.affected.reach import Chain, Step, Tested, tests_of
from app.kernels.affected.resolve import FileResult, Resolution, Touched


def assemble(
    found: Resolution, head: Index, base: Callable[[], Index], config: Config
) -> Answer:
    """The answer without its commits. What the configuration removes is removed last."""
    paths = [result.changed.path for result in found.files if "ignored" not in result.flags]
    _add_operators(found, head, config, paths)
    removed = [one for one in config.remove if not one.files or _all_match(one, paths)]
    for id in list(found.touched):
        if any(matches(one.operators, id) for one in removed):
            del found.touched[id]
    operators = sorted(found.touched.values(), key=lambda t: (t.operator.kind, t.operator.id))
    tests = _tests(operators, head, base, found, config, paths)
    return Answer(
        base="",
        head="",
        merge_base="",
        files=[_file(result, found) for result in found.files],
        operators=[_operator(touched) for touched in operators],
        tests=[test for test in tests if not any(matches(r.tests, test.test) for r in removed)],
        warnings=found.warnings,
    )


def _all_match(one: Remove, paths: list[str]) -> bool:
    return all(matches(one.files, path) for path in paths)


def _add_operators(found: Resolution, head: Index, config: Config, paths: list[str]) -> None:
    for add in config.add:
        because = next((path for path in paths if matches(add.files, path)), None)
        if because is None:
            continue
        for id in add.operators:
            operator = head.operators.get(id) or Operator(id, *_parts(id), "configured")
            if id not in found.touched:
                chain = (Step(because, "", "changed"), Step("", "", add.why))
                found.touched[id] = Touched(operator, chain, [because], {"configured"})


def _parts(id: str) -> tuple[str, str]:
    namespace, _, name = id.rpartition("::")
    return namespace, name


def _tests(  # noqa: PLR0913, PLR0917 - all that tests come from
    operators: Iterable[Touched],
    head: Index,
    base: Callable[[], Index],
    found: Resolution,
    config: Config,
    paths: list[str],
) -> list[TestAnswer]:
    made: dict[str, TestAnswer] = {}

    def enter(path: str, distance: int, operator: str, chain: Chain) -> None:
        known = made.get(path)
        if known is None or known.distance > distance:
            reason = [_link(step) for step in chain]
            names = known.operators if known else []
            made[path] = known = TestAnswer(
                test=path, distance=distance, operators=names, reason=reason
            )
        if operator and operator not in known.operators:
            known.operators.append(operator)

    for touched in operators:
        id = touched.operator.id
        for test in _tests_somewhere(touched.operator, head, base):
            if test.path in head.files:
                enter(test.path, test.distance, id, (*touched.chain, *test.chain))
    for result in found.files:
        path = result.changed.path
        if is_test(path) and result.changed.new is not None and _names_operator(path, head):
            enter(path, 0, "", (Step(path, "", "changed, and names an operator"),))
    for add in config.add:
        because = next((path for path in paths if matches(add.files, path)), None)
        for path in add.tests if because is not None else ():
            enter(path, 0, "", (Step(because or "", "", "changed"), Step("", "", add.why)))
    return sorted(made.values(), key=lambda test: (test.distance, test.test))


def _tests_somewhere(
    operator: Operator, head: Index, base: Callable[[], Index]
) -> list[Tested]:
    return tests_of(head if operator.id in head.operators else base(), operator)


def _names_operator(path: str, head: Index) -> bool:
    return any(path in {node[0] for node in head.callers(o)} for o in head.operators.values())


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
        operators=sum(id in found.touched for id in result.operators),
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
