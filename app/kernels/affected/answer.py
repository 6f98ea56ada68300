"""The answer: files, operators and tests, each with its reason."""

from typing import Literal

from pydantic import BaseModel, Field

from app.core.text import one_line


class Link(BaseModel):
    """One step of a reason, in order from the change to what it touches."""

    file: str
    symbol: str = ""
    why: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.symbol}" if self.symbol else self.file
        return f"{where} {self.why}" if where else self.why


class FileAnswer(BaseModel):
    """A changed file. `kind`: what it was read as, empty for what is not read."""

    file: str
    was: str = Field(default="", description="Its name before, if it was renamed.")
    status: Literal["added", "modified", "deleted", "renamed", "other"]
    kind: str = ""
    operators: int = Field(default=0, description="So many operators it leads to.")
    flags: list[str] = []


class OperatorAnswer(BaseModel):
    """An operator that the change touches. `flags` say why that may be too much."""

    operator: str
    kind: str
    sources: list[str]
    changed: list[str] = Field(description="Changed files that lead to it.")
    reason: list[Link]
    flags: list[str] = []


class TestAnswer(BaseModel):
    """A test file worth running. `distance`: 0 names an operator, 1 a wrapper, 2 one import off."""

    __test__ = False  # not pytest's

    test: str
    distance: int
    operators: list[str]
    reason: list[Link]


class Answer(BaseModel):
    """All of it. Commits are full ids; `merge_base` is what the head was compared with."""

    base: str
    head: str
    merge_base: str
    files: list[FileAnswer]
    operators: list[OperatorAnswer]
    tests: list[TestAnswer]
    warnings: list[str] = []


def as_text(answer: Answer, *, most: int = 40) -> str:
    """For a terminal: at most so many operators and tests, each with its reason."""
    if not answer.operators:
        lines = [f"{len(answer.files)} changed files, no operator is affected"]
    else:
        counts = len(answer.files), len(answer.operators), len(answer.tests)
        lines = ["{} changed files, {} operators affected, {} test files".format(*counts)]
    for operator in answer.operators[:most]:
        flags = f"  [{', '.join(operator.flags)}]" if operator.flags else ""
        lines += ["", f"{operator.operator} ({operator.kind}){flags}"]
        lines += [f"    {link}" for link in operator.reason]
    lines += _more(len(answer.operators), most, "operators")
    if answer.tests:
        lines += ["", "tests:"]
    for test in answer.tests[:most]:
        lines.append(f"    {test.test}")
        lines.append(f"        {test.reason[-1]}")
    lines += _more(len(answer.tests), most, "tests")
    lines += ["", *(f"warning: {text}" for text in answer.warnings)] if answer.warnings else []
    return "\n".join(
        one_line(line, 400) if not line.startswith(" ") else _kept(line) for line in lines
    )


def _more(count: int, most: int, what: str) -> list[str]:
    return ["", f"and {count - most} {what} more; --json has them all"] if count > most else []


def _kept(line: str) -> str:
    """Made safe to print, with its indent."""
    plain = line.lstrip(" ")
    return line[: len(line) - len(plain)] + one_line(plain, 400)
