"""A maintainer asked for a sign of life."""

from pydantic import Field

from app.core.modes import Mode, ModeWord
from app.core.rules.base import Found, Rule, RuleConfig, Seen
from app.core.said import say


class AskedForRule(RuleConfig):
    """A maintainer wrote `/pulse verify @account`."""

    mode: ModeWord = Field(default=Mode.ASK, description="How far this rule may go.")


def _find(_config: AskedForRule, seen: Seen) -> Found | None:
    trust = seen.facts.trust
    if trust is None or trust.kind != "to_verify" or trust.is_over(seen.now):
        return None
    return Found(
        sentence=say("A maintainer asked whether somebody is there."),
        way=say("Say in a few words of your own what this change is for and how you tried it out."),
        until=trust.until,
    )


RULE = Rule(
    name="asked_for",
    config=AskedForRule,
    about=(
        "A maintainer wrote `/pulse verify @account`. The author is asked; in mode `close` what "
        "stays unanswered for the grace window is closed."
    ),
    find=_find,
    life="always",
    natural=Mode.ASK,
    cured=False,
)
