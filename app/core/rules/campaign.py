"""A maintainer decided on a whole campaign of pull requests."""

from app.core.modes import Mode
from app.core.rules.base import AtOnce, Found, Rule, Seen
from app.core.said import say


class CampaignRule(AtOnce):
    """A maintainer decided on the campaign that the pull request belongs to."""


_RUNGS = {"label": Mode.LABEL, "ask": Mode.ASK, "close": Mode.CLOSE}


def _find(_config: CampaignRule, seen: Seen) -> Found | None:
    word = seen.facts.campaign
    if word is None:
        return None
    way = {
        "label": None,
        "ask": say("Say in a few words of your own what this change is for and how you tried it."),
        "close": say("If yours is none of them, write `/pulse appeal` on a line of its own."),
    }[word.word]
    return Found(
        sentence=say("A maintainer decided on a group of pull requests that this one is part of."),
        way=way,
        most=_RUNGS[word.word],
        ordered=True,
    )


RULE = Rule(
    name="campaign",
    config=CampaignRule,
    about=(
        "Pull requests that belong to one flood are one campaign on the dashboard: an author's "
        "burst, or near-duplicates by several accounts. A maintainer decides on it once: label, "
        "ask or close. The earliest of a group by several accounts, and everybody in it who is "
        "vouched for, proven, or on the team, stay out unless they are named one by one. What it closed is opened "
        "again by itself once the decision is taken back."
    ),
    find=_find,
    word=True,
)
