"""Where a pull request stands in the maintainers' queue: proven people first, then unknown, then suspected.

The form of a text may move it within its part of the queue, and never from one part to another.
"""

from enum import IntEnum

from app.core.fact import Fact
from app.core.facts import Facts
from app.core.proofs.challenge import State
from app.core.scoring import Score


class Tier(IntEnum):
    """The queue's parts, in order."""

    PROVEN = 0
    UNKNOWN = 1
    SUSPECTED = 2


class Turn(Fact):
    """A place in the queue: the part, and within it the log-odds of *unattended*, the lowest first."""

    tier: Tier
    order: float


def turn(facts: Facts, score: Score, *, exempt: bool, applies: bool) -> Turn:
    """The place. `exempt`: the gate leaves its author alone; `applies`: a rule applies to it."""
    proven = facts.proof is not None or facts.asked.challenge.state is State.VERIFIED
    if exempt or proven or facts.voucher is not None:
        tier = Tier.PROVEN
    elif applies or (not score.unknown and score.low > 0.5):
        tier = Tier.SUSPECTED
    else:
        tier = Tier.UNKNOWN
    return Turn(tier=tier, order=score.order)
