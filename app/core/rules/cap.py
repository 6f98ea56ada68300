"""A cap on the open pull requests of a newcomer."""

from pydantic import Field

from app.core.facts import Facts, OpenPull
from app.core.modes import Mode, ModeWord
from app.core.rules.base import Found, Rule, RuleConfig, Seen
from app.core.said import say


class CapRule(RuleConfig):
    """A newcomer has more pull requests open at once than the cap."""

    mode: ModeWord = Field(default=Mode.OFF, description="How far this rule may go.")
    open: int = Field(
        default=3, strict=True, ge=1, le=1000, description="So many may be open at once."
    )
    drafts: bool = Field(default=True, strict=True, description="Whether drafts count.")
    newcomer_merged: int = Field(
        default=1,
        strict=True,
        ge=1,
        le=1000,
        description="Who has fewer merged pull requests than this here is a newcomer.",
    )


def _find(config: CapRule, seen: Seen) -> Found | None:
    facts = seen.facts
    if facts.history.merged >= config.newcomer_merged:
        return None
    if facts.pull.draft and not config.drafts:
        return None
    before = _places_before(config, facts)
    if before < config.open:
        return None
    return Found(
        sentence=say(
            "Open here by its author beside this one: {count}. Until one was merged, the limit is "
            "{open} at once.",
            count=before,
            open=config.open,
        ),
        way=say("As soon as one of them is closed or merged, there is a place for this one."),
    )


def _places_before(config: CapRule, facts: Facts) -> int:
    """How many of the author's open ones have their place before this one.

    The earliest keep theirs: what is opened again, or ready where drafts do not count, comes after
    those that stood meanwhile. One that we closed stands behind all that are open.
    """
    counted = [o for o in facts.open_pulls if config.drafts or not o.draft]
    others = [o for o in counted if o.number != facts.pull.number]
    if facts.pull.state == "closed":
        return len(others)
    own = next((o for o in facts.open_pulls if o.number == facts.pull.number), None)
    own = own or OpenPull(number=facts.pull.number, at=facts.pull.created_at)
    mine = own.place(drafts=config.drafts)
    return sum(1 for other in others if other.place(drafts=config.drafts) < mine)


RULE = Rule(
    name="cap",
    config=CapRule,
    about=(
        "A newcomer (fewer than `newcomer_merged` merged pull requests here) may have `open` pull "
        "requests open at once. The earliest keep their places; the rule applies to those beyond. "
        "With `drafts: false` a draft takes no place until it is ready for review, and then the "
        "last; so does what its author opens again. As soon as one is closed or merged its place "
        "is free, and what this rule closed is opened again by itself."
    ),
    find=_find,
    asks=lambda c: (
        f"You have at most {c.open} pull requests open at a time, until {c.newcomer_merged} of yours were merged."
    ),
)
