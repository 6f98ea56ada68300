"""A repository's own experience: the score moved towards what really happened there.

Shrunk towards the global model: with five outcomes it hardly moves, with fifty it mostly follows
them. Where what happens drifts away from what is said, the score says that it does not know.
"""

import math
from collections.abc import Sequence

from app.core.fact import Fact

# Prior of the offset, in log-odds: most repositories lie within one of the global model.
PRIOR_DEVIATION = 1.0
# The most that is looked at, the newest, and how many of them are watched for drift.
MOST_OUTCOMES = 500
WATCHED = 30
# A mean error so many standard errors away happens once in about a thousand watches by chance.
DRIFT_SIGMAS = 3.3


class Outcome(Fact):
    """What was said of one pull request, in log-odds of the global model, and what came of it."""

    odds: float
    unattended: bool


class Local(Fact):
    """What is added to log-odds here. `drifted`: what was said lately did not come true."""

    offset: float = 0.0
    outcomes: int = 0
    unattended: int = 0
    drifted: bool = False


def fit_local(outcomes: Sequence[Outcome]) -> Local:
    """From outcomes in order of time: the most likely offset under a normal prior (MAP, by Newton)."""
    kept = outcomes[-MOST_OUTCOMES:]
    offset = _offset(kept)
    # Drift is a change: judged by the offset of what came before what is watched.
    before = _offset(kept[:-WATCHED])
    return Local(
        offset=round(offset, 4),
        outcomes=len(kept),
        unattended=sum(one.unattended for one in kept),
        drifted=_drifted(kept[-WATCHED:], before) if len(kept) >= 2 * WATCHED else False,
    )


def _offset(outcomes: Sequence[Outcome]) -> float:
    offset = 0.0
    for _ in range(30):
        slope, curve = -offset / PRIOR_DEVIATION**2, 1 / PRIOR_DEVIATION**2
        for one in outcomes:
            p = _probability(one.odds + offset)
            slope += one.unattended - p
            curve += p * (1 - p)
        step = slope / curve
        offset += max(-1.0, min(1.0, step))
        if abs(step) < 1e-6:
            break
    return max(-5.0, min(5.0, offset))


def _drifted(watched: Sequence[Outcome], offset: float) -> bool:
    error = spread = 0.0
    for one in watched:
        p = _probability(one.odds + offset)
        error += one.unattended - p
        spread += p * (1 - p)
    return abs(error) > DRIFT_SIGMAS * math.sqrt(max(spread, 0.25))


def _probability(odds: float) -> float:
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, odds))))
