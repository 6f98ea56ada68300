"""Comment commands: `/pulse …` at the start of a line, outside quotes and code."""

import re
from typing import Literal, get_args

Command = Literal[
    "status",
    "explain",
    "verify",
    "vouch",
    "deny",
    "exempt",
    "hold",
    "close",
    "reopen",
    "undo",
    "adopt",
    "appeal",
]

# What follows the backticks of a fence holds none: else they are code within a line.
_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_QUOTE = re.compile(r"^ {0,3}>")
_COMMAND = re.compile(r"^/pulse[ \t]+([a-z]{1,20})[ \t]*$")


def commands(body: str) -> tuple[Command, ...]:
    """The known commands of a comment, in order, each once.

    A line inside a fenced or indented block, a quote or a list is somebody showing a command, not
    giving one; so is a line right below a quote, which Markdown takes for its continuation. What
    stands in an HTML comment nobody sees.
    """
    found: list[Command] = []
    fence: str | None = None
    quoted = hidden = False
    # Not `splitlines`, which also breaks where GitHub does not: within a quote, say.
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if mark:
            fence = _after(fence, mark.group(1), line)
            continue
        if fence is not None:
            continue
        was_hidden, hidden = hidden, _hides(line, hidden)
        quoted = bool(_QUOTE.match(line)) or (quoted and bool(line.strip()))
        given = _COMMAND.match(line) if not (quoted or was_hidden) else None
        if given:
            found.extend(c for c in get_args(Command) if c == given.group(1) and c not in found)
    return tuple(found)


def _hides(line: str, hidden: bool) -> bool:
    """Whether an HTML comment is open at the end of the line."""
    opened, closed = line.rfind("<!--"), line.rfind("-->")
    return opened > closed if opened != closed else hidden


def _after(fence: str | None, mark: str, line: str) -> str | None:
    """The fence that is open after a fence line; a longer one of the same kind closes it."""
    if fence is None:
        return mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and line.strip() == mark
    return None if closes else fence
