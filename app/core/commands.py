"""Comment commands: `/pulse …` at the start of a line, outside quotes and code."""

import re
from typing import Literal, get_args

Command = Literal["reopen"]

# What follows the backticks of a fence holds none: else they are code within a line.
_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_COMMAND = re.compile(r"^/pulse[ \t]+([a-z]{1,20})[ \t]*$")


def commands(body: str) -> tuple[Command, ...]:
    """The known commands of a comment, in order, each once.

    A line inside a fenced or indented block, a quote or a list is somebody showing a command, not
    giving one.
    """
    found: list[Command] = []
    fence: str | None = None
    # Not `splitlines`, which also breaks where GitHub does not: within a quote, say.
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if mark:
            fence = _after(fence, mark.group(1), line)
            continue
        given = _COMMAND.match(line) if fence is None else None
        if given:
            found.extend(c for c in get_args(Command) if c == given.group(1) and c not in found)
    return tuple(found)


def _after(fence: str | None, mark: str, line: str) -> str | None:
    """The fence that is open after a fence line; a longer one of the same kind closes it."""
    if fence is None:
        return mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and line.strip() == mark
    return None if closes else fence
