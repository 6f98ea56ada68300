"""Signals: named, explained readings of the facts.

What maintainers report as unfair is not read at all: age of the account, style, grammar, emoji,
language, completeness of the profile.
"""

from app.core.disclosure import disclosed
from app.core.fact import Fact
from app.core.facts import Facts
from app.core.said import Said, say

RATE_MINUTES = 10


class Signal(Fact):
    """One reading. `weight` is in log-odds of *unattended*; `evidence` counts what was seen."""

    name: str
    value: str
    sentence: Said
    weight: float
    evidence: int = 0


def disclosure_signal(facts: Facts) -> Signal | None:
    """What the pull request says of agents itself; it weighs nothing."""
    commits = facts.change.commits if facts.change else ()
    name = disclosed(facts.pull, [line for c in commits for line in c.trailers])
    if name is None:
        return None
    return Signal(
        name="disclosed",
        value=name,
        sentence=say(
            "Says that it was written with help of {name}. This informs and counts for nothing "
            "against it.",
            name=name,
        ),
        weight=0.0,
    )
