"""Paths that outsiders may not touch."""

from pydantic import Field

from app.core.config import Message, PathPattern
from app.core.modes import Mode, ModeWord
from app.core.rules.base import Found, Rule, RuleConfig, Seen, worded
from app.core.said import say

_SHOWN = 5


class PathsRule(RuleConfig):
    """It touches paths that are kept for the team."""

    mode: ModeWord = Field(default=Mode.ASK, description="How far this rule may go.")
    patterns: tuple[PathPattern, ...] = Field(
        default=(),
        max_length=200,
        description="Paths that nobody outside the team may touch; as in `.gitignore`.",
    )
    message: Message = Field(
        default="", description="Your own words for what is asked, in place of ours."
    )


def _find(config: PathsRule, seen: Seen) -> Found | None:
    change = seen.facts.change
    if change is None or not config.patterns:
        return None
    if not change.has_all_files and not seen.patterns.paths(
        config.patterns, [file.path for file in change.files]
    ):
        return Found(
            sentence=say("It changes more files than can be looked at here."),
            way=say("Split it into smaller pull requests, or ask a maintainer in an issue first."),
            most=Mode.ASK,
        )
    touched = seen.patterns.paths(config.patterns, [file.path for file in change.files])
    if not touched:
        return None
    return Found(
        sentence=say(
            "It touches paths that are kept for the maintainers: {paths}.",
            paths=", ".join(touched[:_SHOWN]) + (", …" if len(touched) > _SHOWN else ""),
        ),
        way=worded(config.message)
        or say("Leave these out of this pull request, or ask a maintainer in an issue first."),
    )


RULE = Rule(
    name="paths",
    config=PathsRule,
    about=(
        "Whoever has no triage rights may not touch the paths of `patterns`: workflows, release "
        "scripts, vendored code. Of a change of more than 100 files the first 100 are looked at; where "
        "none of them is one of these, the author is asked, and nothing is closed for it."
    ),
    find=_find,
    asks=lambda c: "It leaves alone what only maintainers change." if c.patterns else "",
    needs=("change",),
)
