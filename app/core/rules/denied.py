"""Maintainers do not take pull requests by this account."""

from app.core.rules.base import AtOnce, Found, Rule, Seen
from app.core.said import say


class DeniedRule(AtOnce):
    """A maintainer wrote `/pulse deny @account`."""


def _find(_config: DeniedRule, seen: Seen) -> Found | None:
    trust = seen.facts.trust
    if trust is None or trust.kind != "denied" or trust.is_over(seen.now):
        return None
    # Who is on the list is nobody else's business, nor that there is one.
    return Found(
        sentence=say("This repository does not take in this pull request for now."),
        way=say("Write `/pulse appeal` on a line of its own to ask why, and until when."),
        until=trust.until,
    )


RULE = Rule(
    name="denied",
    config=DeniedRule,
    about=(
        "A maintainer denied the account with `/pulse deny @account`, perhaps for a time. What is "
        "written in public names no list and no reason; the author may appeal. What it closed is "
        "opened again by itself when the time is over or a maintainer vouches for the account."
    ),
    find=_find,
    word=True,
)
