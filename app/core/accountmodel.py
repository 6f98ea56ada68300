"""How much an account's public activity is like an automation's: a part of the score, never alone.

Two ways lead there, since bots of the past and agents of today differ. The features of
`activity.features` in boosted trees find what repeats itself; `activity.tempo` finds what nobody
could do by hand. Below `LEAST_ACTIVITIES` nothing is known.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from app.core.activity import (
    ACTIVITY_FEATURES,
    LEAST_ACTIVITIES,
    Activity,
    Tempo,
    activities,
    features,
    tempo,
)
from app.core.trees import Trees

ACCOUNT_FORMAT = 1

# Nobody opens so many pull requests in so many projects of others within a day, by hand.
# Set by hand: no table joins such streams to labels under a licence for it.
PULLS_A_DAY = 25
REPOSITORIES_A_DAY = 12
# Three days without a pause for sleep.
SHORTEST_REST_HOURS = 3.0

AccountVerdict = Literal["automation", "people", "unknown"]


class AccountReading(NamedTuple):
    """`log_odds` free of prevalence; `tempo` what was counted; `by_tempo` whether that decided."""

    log_odds: float
    verdict: AccountVerdict
    seen: int
    tempo: Tempo | None = None
    by_tempo: bool = False


UNKNOWN = AccountReading(0.0, "unknown", 0)


class AccountModel:
    """The reading of event streams, as trained."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """From the artefact's JSON. `ValueError` where it is of another format."""
        trees = Trees.from_json(data["trees"])
        if data.get("format") != ACCOUNT_FORMAT or trees.features != ACTIVITY_FEATURES:
            raise ValueError("the account model is of another format")
        self._trees = trees
        self.flag = float(data["flag"])
        self.low = float(data["low"])

    def odds(self, values: Sequence[float]) -> float:
        """Log-odds of one row of features, classes weighing the same."""
        return self._trees.score(values)

    def verdict(self, odds: float) -> AccountVerdict:
        """`automation` above what 1 % of people reach, `people` below what 5 % of bots are."""
        if odds > self.flag:
            return "automation"
        return "people" if odds < self.low else "unknown"

    def read(self, events: Iterable[Activity], own: Iterable[str] = ()) -> AccountReading:
        """One account's events; `own` are its own repositories. Bounded by `MOST_EVENTS`."""
        found = activities(events)
        if len(found) < LEAST_ACTIVITIES:
            return UNKNOWN._replace(seen=len(found))
        values = features(found)
        odds = self.odds([values[name] for name in ACTIVITY_FEATURES])
        pace = tempo(found, own)
        hectic = too_fast(pace)
        if hectic:
            odds = max(odds, self.flag + 1.0)
        return AccountReading(odds, self.verdict(odds), len(found), pace, hectic)


def too_fast(pace: Tempo) -> bool:
    """Whether it is beyond what people do by hand."""
    floods = pace.pulls_a_day >= PULLS_A_DAY and pace.repositories_a_day >= REPOSITORIES_A_DAY
    restless = pace.clock == 24 and pace.longest_rest < SHORTEST_REST_HOURS
    return floods or (restless and not math.isinf(pace.longest_rest))
