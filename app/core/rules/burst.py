"""Many pull requests by one account within minutes."""

from datetime import timedelta

from pydantic import Field

from app.core.config import Strict
from app.core.rules.base import AtOnce, Found, Rule, Seen
from app.core.said import say


class Everywhere(Strict):
    """The same over all repositories that this Pulsegate serves."""

    prs: int = Field(
        default=20, strict=True, ge=2, le=1000, description="This many pull requests anywhere …"
    )
    minutes: int = Field(
        default=10, strict=True, ge=1, le=1440, description="… opened within so many minutes."
    )


class BurstRule(AtOnce):
    """Many pull requests by one account within minutes."""

    prs: int = Field(default=5, strict=True, ge=2, le=1000, description="This many pull requests …")
    minutes: int = Field(
        default=10, strict=True, ge=1, le=1440, description="… opened within so many minutes."
    )
    everywhere: Everywhere | None = Field(
        default=None,
        description="Also over all repositories that this Pulsegate serves. Absent: only here.",
    )


def _find(config: BurstRule, seen: Seen) -> Found | None:
    here = seen.facts.burst(config.prs, config.minutes)
    if here:
        return Found(
            sentence=say(
                "One account opened {count} pull requests here in quick succession; {prs} or more "
                "within {minutes} minutes are a burst.",
                count=len(here),
                prs=config.prs,
                minutes=config.minutes,
            )
        )
    rule = config.everywhere
    if rule is None:
        return None
    together = seen.facts.burst_anywhere(rule.prs, rule.minutes)
    if not together:
        return None
    # How many of them are here and what the others are called is not for the public.
    return Found(
        sentence=say(
            "One account opened {prs} or more pull requests in several repositories within "
            "{minutes} minutes.",
            prs=rule.prs,
            minutes=rule.minutes,
        )
    )


def window(config: BurstRule) -> timedelta:
    """How far around a pull request its author's others are looked at."""
    wide = config.everywhere.minutes if config.everywhere else 0
    return timedelta(minutes=max(config.minutes, wide))


RULE = Rule(
    name="burst",
    config=BurstRule,
    about=(
        "One account opens many pull requests within minutes: `prs` or more within `minutes` in this "
        "repository, or the numbers under `everywhere` over all repositories that this Pulsegate "
        "serves. All of a burst are meant, also those that came before the limit was reached. It "
        "reads only when pull requests were opened, so that nothing cures it; each author's "
        "`/pulse reopen` does open it again."
    ),
    find=_find,
    life="before",
    asks=lambda c: f"You open fewer than {c.prs} pull requests within {c.minutes} minutes.",
    cured=False,
)
