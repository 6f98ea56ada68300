"""`pulsegate config check`: a file from disk against what the service would take."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from app.adapters.policy_file import PolicyFiles
from app.core.errors import UserError
from app.core.fact import Fact
from app.core.modes import Mode
from app.core.policy import LIMIT, Policy
from app.core.problems import Problem
from app.core.rules import RULES


class Answer(Fact):
    """What a check found. `rules` are the modes in force of the rules that are not off."""

    file: str
    valid: bool
    problems: tuple[Problem, ...] = ()
    mode: str | None = None
    rules: Mapping[str, str] = Field(default_factory=dict)


def answer(file: Path, default: Path | None) -> Answer:
    """Checks a file, `-` for standard input. `UserError` where one cannot be read."""
    below = _written(default) if default else None
    reading = PolicyFiles().read(_text(file), below)
    if reading.policy is None:
        return Answer(file=str(file), valid=False, problems=reading.problems)
    policy = reading.policy
    return Answer(file=str(file), valid=True, mode=policy.mode.word, rules=_in_force(policy))


def readable(found: Answer) -> str:
    """For people, and for editors: `FILE:LINE:COLUMN: key: message`."""
    if not found.valid:
        return "\n".join(
            f"{found.file}:{p.line}:{p.column}: {p.key + ': ' if p.key else ''}{p.message}"
            for p in found.problems
        )
    rules = ", ".join(f"{name} {mode}" for name, mode in found.rules.items()) or "none"
    return f"{found.file} is fine: mode {found.mode}; rules in force: {rules}"


def _in_force(policy: Policy) -> dict[str, str]:
    modes = {rule.name: policy.of(rule).mode for rule in RULES}
    return {name: policy.in_force(m).word for name, m in modes.items() if m is not Mode.OFF}


def _written(default: Path) -> dict[str, Any] | None:
    reading = PolicyFiles().read(_text(default))
    if reading.policy is None:
        raise UserError(f"{default}: {reading.complaint()}", hint="Mend the default first.")
    return reading.written


def _text(file: Path) -> str:
    try:
        if str(file) == "-":
            raw = sys.stdin.buffer.read(LIMIT + 1)
        else:
            with file.open("rb") as opened:
                raw = opened.read(LIMIT + 1)
        if len(raw) > LIMIT:
            # Refused by the same words as by the service, whatever it holds.
            return "#" * (LIMIT + 1)
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise UserError(
            f"{file} cannot be read: {error.strerror or error}", hint="Name a file, or -."
        ) from None
    except UnicodeDecodeError:
        raise UserError(f"{file} is not UTF-8 text", hint="Save it as UTF-8.") from None
