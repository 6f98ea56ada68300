"""The score: how likely it is that nobody will answer for a pull request."""

import math
from typing import Protocol

from app.core.fact import Fact
from app.core.facts import Facts
from app.core.features import Signal, read_signals


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
    """What turns facts into a score: the rules below, or a trained model."""

    def of(self, facts: Facts) -> Score:
        """The score of one pull request. Pure, bounded in time, never raises."""


class RuleScorer:
    """A transparent additive model with weights set by hand.

    The base rate is what is unattended of pull requests by accounts never seen before, guessed at
    one in eight. The band narrows with the square root of what was seen.
    """

    model = "rules-1"
    base = -2.0
    half_width = 2.0

    def of(self, facts: Facts) -> Score:
        """See `Scorer`."""
        return self.score(read_signals(facts))

    def score(self, signals: tuple[Signal, ...]) -> Score:
        """The sum of signals."""
        odds = self.base + sum(s.weight for s in signals)
        evidence = sum(s.evidence for s in signals)
        half = self.half_width / math.sqrt(1 + evidence)
        return Score(
            probability=probability(odds),
            low=probability(odds - half),
            high=probability(odds + half),
            unknown=evidence == 0,
            base=self.base,
            signals=signals,
            model=self.model,
            order=round(odds, 4),
        )


def probability(odds: float) -> float:
    """Of log-odds, to four digits."""
    # Beyond this the number is 0 or 1 to all its digits, and `exp` would overflow.
    return round(1 / (1 + math.exp(-max(-50.0, min(50.0, odds)))), 4)
