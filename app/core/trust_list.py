"""`VOUCHED.td`: a list of who is vouched for and who is not welcome, as text that people edit.

One account a line: `login reason`, `platform:login reason`, or `-login reason` for a denial; `#`
begins a comment. The format is that of https://github.com/mitchellh/vouch ("Trustdown").
"""

import re
from collections.abc import Iterable

from app.core.fact import Fact
from app.core.text import one_line

PLATFORM = "github"
MOST = 20_000
_LINE = re.compile(
    r"^(-?)(?:([a-z][a-z0-9]{0,30}):)?([A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}(?:\[bot\])?)(?:\s+(.*))?$"
)


class TrustLine(Fact):
    """One account of a list."""

    login: str
    denied: bool
    reason: str = ""


class Unread(Fact):
    """A line that says nothing that can be read, and why."""

    line: int
    why: str


def parse(text: str) -> tuple[list[TrustLine], list[Unread]]:
    """The accounts of a list, in order; of one that comes twice the last line counts."""
    found: dict[str, TrustLine] = {}
    wrong: list[Unread] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        match = _LINE.match(line[:500])
        if match is None:
            wrong.append(Unread(line=number, why="is no login with a reason behind it"))
            continue
        minus, platform, login, reason = match.groups()
        if platform not in {None, PLATFORM}:
            wrong.append(Unread(line=number, why=f"is an account of {platform}, not of GitHub"))
            continue
        if len(found) >= MOST:
            wrong.append(Unread(line=number, why=f"comes after {MOST:,} accounts"))
            break
        one = TrustLine(login=login, denied=bool(minus), reason=one_line(reason or "", 200))
        found.pop(login.casefold(), None)
        found[login.casefold()] = one
    return list(found.values()), wrong


def render(lines: Iterable[TrustLine]) -> str:
    """A list that `parse` reads again, in the order of logins."""
    rows = [
        f"{'-' if one.denied else ''}{PLATFORM}:{one.login}"
        + (f" {one.reason}" if one.reason else "")
        for one in sorted(lines, key=lambda one: one.login.casefold())
    ]
    return "\n".join(["# VOUCHED.td, written by Pulsegate", *rows, ""])
