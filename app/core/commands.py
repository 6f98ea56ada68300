"""Comment commands: `/pulse …` at the start of a line, outside quotes and code."""

import difflib
import re
from typing import Literal, get_args

from app.core.fact import Fact
from app.core.own_lines import own_lines
from app.core.said import Said, say
from app.core.text import one_line

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
MOST = 5  # commands of one comment that are read
MOST_DAYS = 5 * 365

_COMMAND = re.compile(r"/pulse(?=\s|$)", re.IGNORECASE)
_MOST_READ = 65_536  # characters of a comment: GitHub takes no longer one
_LINE = 400  # characters of a line that are read
# GitHub's own rule for logins, an enterprise's short code behind `_`, and the ending of Apps.
_LOGIN = re.compile(r"@([A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}(?:_[A-Za-z0-9]{1,20})?(?:\[bot\])?)$")
_SPAN = re.compile(r"([0-9]{1,4})(d|w|m|y)$")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_BECAUSE = re.compile(r"(?:^|\s+)because:?(?:\s+|$)", re.IGNORECASE)
_REASON = 200


class Given(Fact):
    """One command. `login` is whom it is about, `days` how long it holds; None where not said."""

    command: Command
    login: str | None = None
    days: int | None = None
    reason: str = ""


class Wrong(Fact):
    """Something that was meant as a command and is none; `problem` says what to write instead."""

    problem: Said


class _Wrong(Exception):
    def __init__(self, problem: Wrong) -> None:
        self.problem = problem


def commands(body: str) -> tuple[Given | Wrong, ...]:
    """The commands of a comment, in order, each once, at most `MOST`.

    A line within code, a quote or an HTML comment is somebody showing a command, not giving one.
    """
    if "\n" not in body.strip() and _COMMAND.match(body.strip()[:_LINE]):
        # Nothing but the command, perhaps indented as it stood in our own comment.
        body = body.strip()
    found: list[Given | Wrong] = []
    for line in own_lines(body[:_MOST_READ], _COMMAND):
        words = line[len("/pulse") : _LINE]
        one = _read(words)
        found += [one] if one not in found else []
    if len(found) > MOST:
        more = say("Of the commands of one comment only the first {most} are read.", most=MOST)
        found[MOST:] = [Wrong(problem=more)]
    return tuple(found)


def _read(words: str) -> Given | Wrong:
    word, rest = [*words.split(None, 1), "", ""][:2]
    rest = rest.strip()
    if word not in get_args(Command):
        near = difflib.get_close_matches(word[:20].lower(), get_args(Command), 1)
        if near:
            return Wrong(
                problem=say(
                    "`/pulse {word}` is no command; did you mean `/pulse {near}`?",
                    word=one_line(word, 30),
                    near=near[0],
                )
            )
        return Wrong(
            problem=say(
                "`/pulse` takes one of these words: {words}.", words=", ".join(get_args(Command))
            )
        )
    command: Command = word  # type: ignore[assignment]
    try:
        return _with_rest(command, rest)
    except _Wrong as error:
        return error.problem


def _with_rest(command: Command, rest: str) -> Given:
    if command == "appeal":
        return Given(command=command, reason=one_line(rest, _REASON))
    plain, *because = _BECAUSE.split(rest, maxsplit=1)
    reason = "".join(because)
    tokens = plain.split()
    login, days = None, None
    if command in {"verify", "vouch", "deny"}:
        if tokens and tokens[0].startswith("@"):
            login = _login(tokens.pop(0))
        elif command != "verify":
            raise _Wrong(
                Wrong(
                    problem=say("Say whom: `/pulse {command} @login`.", command=command),
                )
            )
        if tokens[:1] == ["for"] and len(tokens) > 1:
            days = _days(tokens[1])
            tokens = tokens[2:]
    if tokens:
        raise _Wrong(
            Wrong(
                problem=say(
                    "`/pulse {command}` does not take “{rest}”.",
                    command=command,
                    rest=one_line(" ".join(tokens), 60),
                )
            )
        )
    return Given(command=command, login=login, days=days, reason=one_line(reason, _REASON))


def _login(token: str) -> str:
    found = _LOGIN.match(token)
    if found is None:
        raise _Wrong(Wrong(problem=say("“{token}” is no GitHub login.", token=one_line(token, 60))))
    return found.group(1)


def _days(token: str) -> int:
    found = _SPAN.match(token)
    days = int(found.group(1)) * _DAYS[found.group(2)] if found else 0
    if not 1 <= days <= MOST_DAYS:
        raise _Wrong(
            Wrong(
                problem=say(
                    "“{token}” is no time; write for example 90d, 6w, 3m or 1y, up to five years.",
                    token=one_line(token, 30),
                )
            )
        )
    return days
