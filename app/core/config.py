"""The parts that the configuration's types are made of."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Protocol

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
)

from app.core.text import clean, one_line

# Strict, since YAML's `yes` would otherwise count as 1, and 1 is somebody's account.
AccountId = Annotated[int, Field(strict=True, ge=1, lt=2**63)]


def _label(value: str) -> str:
    if value != one_line(value):
        raise ValueError("must be one line without invisible characters or spaces around it")
    return value


LabelName = Annotated[str, Field(min_length=1, max_length=50), AfterValidator(_label)]
# Wording of the maintainers' own, on one line of Markdown: theirs to write, so not escaped.
Message = Annotated[str, Field(max_length=300), AfterValidator(_label)]


def _integer(value: Any) -> Any:
    # `true` and `1.0` equal 1.
    if type(value) is not int:
        raise ValueError("must be the number 1")
    return value


Version = Annotated[Literal[1], BeforeValidator(_integer)]


class Patterns(Protocol):
    """Matching in linear time, whatever the pattern: those are written by strangers."""

    def path_problem(self, pattern: str) -> str | None:
        """Why a path pattern cannot be used; None where it can."""

    def text_problem(self, pattern: str) -> str | None:
        """Why a regular expression cannot be used; None where it can."""

    def paths(self, patterns: Sequence[str], paths: Sequence[str]) -> tuple[str, ...]:
        """Those of the paths that the patterns match, as `.gitignore` reads them, in order."""

    def found(self, patterns: Sequence[str], text: str) -> bool:
        """Whether one of the regular expressions is found in a text."""


PATTERNS = "patterns"  # the key of a `Patterns` in the context of a validation


def _path_pattern(value: str, info: ValidationInfo) -> str:
    return _usable(value, info, "path_problem")


def _text_pattern(value: str, info: ValidationInfo) -> str:
    return _usable(value, info, "text_problem")


def _usable(value: str, info: ValidationInfo, check: str) -> str:
    if clean(value) != value:
        raise ValueError("must not hold control characters")
    # What comes from the database was checked when it was read from the file.
    patterns = (info.context or {}).get(PATTERNS)
    problem = getattr(patterns, check)(value) if patterns is not None else None
    if problem:
        raise ValueError(problem)
    return value


LANGUAGES = "languages"  # the key of the languages that have a catalogue, in the same context


def _has_words(value: str, info: ValidationInfo) -> str:
    # Of what comes from the database the catalogue may be gone since: English then.
    known = (info.context or {}).get(LANGUAGES)
    if known is not None and not {value, value.partition("-")[0]} & set(known):
        raise ValueError(f"there is no catalogue for {value}; there are {', '.join(known)}")
    return value


Language = Annotated[
    str,
    Field(strict=True, pattern=r"^[a-z]{2,3}(-[A-Za-z]{2,8})?$"),
    AfterValidator(_has_words),
]

PathPattern = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_path_pattern)]
TextPattern = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_text_pattern)]


class Strict(BaseModel):
    """Base of all configuration: unknown keys are errors, values are immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid")
