"""What a project adds to the answers and takes from them."""

import fnmatch
import tomllib
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.core.errors import UserError
from app.core.text import one_line

CONFIG_PATH = ".github/pulsegate-kernels.toml"
CONFIG_LARGEST = 100_000  # bytes

Pattern = Annotated[str, Field(min_length=1, max_length=300)]
Name = Annotated[str, Field(min_length=1, max_length=300)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Add(_Strict):
    """A change of one of these files also touches these operators and tests."""

    files: list[Pattern] = Field(min_length=1, max_length=200)
    operators: list[Name] = Field(default=[], max_length=500)
    tests: list[Name] = Field(default=[], max_length=500)
    why: str = Field(default="the configuration says so", max_length=300)


class Remove(_Strict):
    """These operators and tests are no answer; with `files`, not for a change of those alone."""

    files: list[Pattern] = Field(default=[], max_length=200)
    operators: list[Pattern] = Field(default=[], max_length=500)
    tests: list[Pattern] = Field(default=[], max_length=500)


class Config(_Strict):
    """The file `.github/pulsegate-kernels.toml`, read from the base commit only."""

    version: Literal[1] = 1
    ignore: list[Pattern] = Field(default=[], max_length=200)
    add: list[Add] = Field(default=[], max_length=100)
    remove: list[Remove] = Field(default=[], max_length=100)


def matches(patterns: list[str], text: str) -> bool:
    """Shell patterns, `*` also across slashes; a long run of stars takes no exponential time."""
    return any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns)


def parse_config(text: str, where: str) -> Config:
    """A configuration, or `UserError` with the first thing that is wrong."""
    hint = "docs/kernels-affected.md has every key with an example."
    try:
        return Config.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{where} is no TOML: {one_line(str(error))}", hint=hint) from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{where}: {one_line(key)}: {first['msg']}", hint=hint) from None
