"""Signals: named, explained readings of the facts.

What maintainers report as unfair is not read at all: age of the account, style, grammar, emoji,
language, completeness of the profile.
"""

import math

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


def read_signals(facts: Facts) -> tuple[Signal, ...]:
    """All signals that have something to say, the weightiest first.

    The weights are set by hand and say so; the trained model replaces them behind the same type.
    """
    found = [*_rate(facts), *_merged(facts), *_answers(facts), *_pile(facts), *_disclosure(facts)]
    return tuple(sorted(found, key=lambda s: -abs(s.weight)))


def _rate(facts: Facts) -> list[Signal]:
    together = len(facts.burst(2, RATE_MINUTES))
    if together < 2:
        return []
    return [
        Signal(
            name="rate",
            value=str(together),
            sentence=say(
                "{count} pull requests by this account within {minutes} minutes of each other.",
                count=together,
                minutes=RATE_MINUTES,
            ),
            weight=min(4.0, 0.6 * (together - 1)),
            evidence=together - 1,
        )
    ]


def _merged(facts: Facts) -> list[Signal]:
    merged = facts.history.merged
    if not merged:
        return []
    return [
        Signal(
            name="merged_before",
            value=str(merged),
            sentence=say(
                "{count} earlier pull requests of this account were merged here.", count=merged
            ),
            weight=-min(3.0, 1.0 * merged),
            evidence=merged,
        )
    ]


def _answers(facts: Facts) -> list[Signal]:
    yes, no = facts.history.answered, facts.history.unanswered
    if not yes + no:
        return []
    sentence = say(
        "Of {count} earlier pull requests that others wrote on, the author answered on {answered}.",
        count=yes + no,
        answered=yes,
    )
    # Laplace's rule of succession, as log-odds: (no + 1) / (yes + 1).
    weight = max(-2.0, min(2.0, math.log((no + 1) / (yes + 1))))
    return [
        Signal(
            name="answers",
            value=f"{yes}/{yes + no}",
            sentence=sentence,
            weight=weight,
            evidence=yes + no,
        )
    ]


def _pile(facts: Facts) -> list[Signal]:
    history = facts.history
    waiting = history.open + history.closed_unmerged
    if history.merged or waiting < 3:
        return []
    return [
        Signal(
            name="pile",
            value=str(waiting),
            sentence=say(
                "{count} other pull requests of this account are open or were closed unmerged, "
                "none was merged.",
                count=waiting,
            ),
            weight=min(2.0, 0.3 * (waiting - 2)),
            evidence=waiting,
        )
    ]


def _disclosure(facts: Facts) -> list[Signal]:
    found = disclosure_signal(facts)
    return [found] if found else []


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
