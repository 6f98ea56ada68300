"""How far the gate may go: in a repository, and each rule by itself."""

from enum import IntEnum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer


class Mode(IntEnum):
    """How far the gate may go; each mode includes the ones before it."""

    OFF = 0
    OBSERVE = 1
    LABEL = 2
    ASK = 3
    CLOSE = 4

    @property
    def word(self) -> str:
        """As it is written in the configuration."""
        return self.name.lower()


def _mode(value: Any) -> Any:
    # YAML 1.1 reads a bare `off` as the boolean false.
    if value is False:
        return Mode.OFF
    if isinstance(value, str) and value.upper() in Mode.__members__:
        return Mode[value.upper()]
    if isinstance(value, Mode):
        return value
    raise ValueError("must be one of off, observe, label, ask, close")


ModeWord = Annotated[
    Mode,
    BeforeValidator(
        _mode, json_schema_input_type=Literal["off", "observe", "label", "ask", "close"]
    ),
    PlainSerializer(lambda m: m.word, return_type=str),
]
