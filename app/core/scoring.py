"""The score: how likely it is that nobody will answer for a pull request."""

import math
from typing import Protocol

from app.core.fact import Fact
from app.core.facts import Facts
from app.core.features import Signal


class Score(Fact):
    """A probability of *unattended* in its band, all in 0..1, and what it adds up from.

    `base` and the signals' weights are log-odds and add up to the probability. `unknown` means
    that nothing was seen that says either way; such a score never leads to an action. `order` is
    for the queue alone, in log-odds: what a text is like may move it, and nothing else.
    """

    probability: float
    low: float
    high: float
    unknown: bool
    base: float
    signals: tuple[Signal, ...]
    model: str
    order: float = 0.0


class Scorer(Protocol):
    """What turns facts into a score."""

    def of(self, facts: Facts) -> Score:
        """The score of one pull request. Pure, bounded in time, never raises."""


# Half of the band where nothing was seen, in log-odds: from 2 % to 50 % around a base of 12 %.
HALF_WIDTH = 2.0


def add_up(base: float, signals: tuple[Signal, ...], model: str) -> Score:
    """The score of signals: log-odds are summed; the band narrows with the square root of evidence."""
    odds = base + sum(s.weight for s in signals)
    evidence = sum(s.evidence for s in signals)
    half = HALF_WIDTH / math.sqrt(1 + evidence)
    return Score(
        probability=probability(odds),
        low=probability(odds - half),
        high=probability(odds + half),
        unknown=evidence == 0,
        base=base,
        signals=signals,
        model=model,
        order=round(odds, 4),
    )


def probability(odds: float) -> float:
    """Of log-odds, to four digits."""
    # Beyond this the number is 0 or 1 to all its digits, and `exp` would overflow.
    return round(1 / (1 + math.exp(-max(-50.0, min(50.0, odds)))), 4)
