"""How likely it is that nobody answers a reviewer: from behaviour here, weighted by what was learnt.

Behaviour alone leads to action. What a text is like may reorder the queue and nothing more.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from app.core.trees import Trees

UNATTENDED_FORMAT = 1


class Behaviour(NamedTuple):
    """What an author did in a repository before this pull request, in counts.

    `answered` and `unanswered`: earlier ones on which others wrote. `together`: others of the same
    author within ten minutes, `same_day` within 24 hours of this one.
    """

    answered: int = 0
    unanswered: int = 0
    merged: int = 0
    closed_unmerged: int = 0
    open: int = 0
    together: int = 0
    same_day: int = 0


BEHAVIOUR_FEATURES = ("silence", "merged", "closed_unmerged", "open", "together", "same_day")


def behaviour_features(seen: Behaviour) -> dict[str, float]:
    """As the model reads it: counts as ln(1 + n); `silence` by Laplace's rule, as log-odds."""
    return {
        "silence": math.log((seen.unanswered + 1) / (seen.answered + 1)),
        "merged": math.log1p(seen.merged),
        "closed_unmerged": math.log1p(seen.closed_unmerged),
        "open": math.log1p(seen.open),
        "together": math.log1p(seen.together),
        "same_day": math.log1p(seen.same_day),
    }


# What may raise and what may lower: nobody is worse off for having been merged.
RAISES = frozenset(BEHAVIOUR_FEATURES) - {"merged"}


class UnattendedModel(NamedTuple):
    """A base in log-odds and a weight for each feature of behaviour: this may act.

    For the queue's order alone, the shape of the text is read too: `queue_base` and `queue_weights`
    (of the behaviour's score and of the shape's).
    """

    base: float
    weights: Mapping[str, float]
    queue_base: float
    queue_weights: tuple[float, float]
    shape: Trees

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "UnattendedModel":
        """`ValueError` where it is of another format."""
        if data.get("format") != UNATTENDED_FORMAT or set(data["weights"]) != set(
            BEHAVIOUR_FEATURES
        ):
            raise ValueError("the model of unattended pull requests is of another format")
        behaviour, shape = data["queue_weights"]
        return cls(
            float(data["base"]),
            dict(data["weights"]),
            float(data["queue_base"]),
            (float(behaviour), float(shape)),
            Trees.from_json(data["shape"]),
        )

    def contributions(self, seen: Behaviour) -> dict[str, float]:
        """Log-odds by feature; with `base` they add up to the behaviour's score."""
        values = behaviour_features(seen)
        return {name: self.weights[name] * value for name, value in values.items()}

    def score(self, seen: Behaviour) -> float:
        """Log-odds of behaviour alone."""
        return self.base + sum(self.contributions(seen).values())

    def queue(self, seen: Behaviour, values: Mapping[str, float]) -> float:
        """Log-odds with the text's `shape`: for the queue's order, never for an act."""
        read = self.shape.score([values[name] for name in self.shape.features])
        behaviour, weight = self.queue_weights
        return self.queue_base + behaviour * self.score(seen) + weight * read
