"""The protocol's figures: AUC, recall at 1 % of people flagged, calibration, each with its interval."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.learning.tables import Floats

Labels = NDArray[np.int64]
FLAGGED = 0.01


class Figure(NamedTuple):
    """A figure with its 95 % interval; NaN where it is not defined."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """`0.953 (0.94–0.96)`."""
        if math.isnan(self.value):
            return "-"
        return f"{self.value:.3f} ({self.low:.2f}–{self.high:.2f})"

    def as_json(self) -> list[float | None]:
        """Value, low, high; null where it is not defined."""
        return [None if math.isnan(x) else round(x, 4) for x in self]


def auc(label: Labels, score: Floats) -> float:
    """Area under the ROC curve by ranks (Mann-Whitney), ties counting half; NaN without a class."""
    positive = int(label.sum())
    negative = len(label) - positive
    if not positive or not negative:
        return math.nan
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    total = float(ranks[label == 1].sum()) - positive * (positive + 1) / 2
    return total / (positive * negative)


def recall_at(label: Labels, score: Floats, most: float = FLAGGED) -> float:
    """Share of agents above the score that at most `most` of the people are above."""
    people = np.sort(score[label == 0])[::-1]
    if not len(people) or not (label == 1).any():
        return math.nan
    threshold = people[min(math.floor(most * len(people)), len(people) - 1)]
    return float((score[label == 1] > threshold).mean())


def calibration_error(label: Labels, probability: Floats, bins: int = 10) -> float:
    """Expected calibration error over bins of equal width (Naeini 2015)."""
    if not len(label):
        return math.nan
    place = np.minimum((probability * bins).astype(int), bins - 1)
    total = 0.0
    for one in range(bins):
        here = place == one
        if here.any():
            total += here.mean() * abs(float(label[here].mean() - probability[here].mean()))
    return total


def precision_at(label: Labels, flagged: NDArray[np.bool_], prevalence: float) -> float:
    """Precision that the same flags would have where so many are agents."""
    if not (label == 1).any() or not (label == 0).any():
        return math.nan
    true = float(flagged[label == 1].mean()) * prevalence
    false = float(flagged[label == 0].mean()) * (1 - prevalence)
    return true / (true + false) if true + false else math.nan


def with_interval(
    group: NDArray[Any], figure: Callable[[NDArray[np.int64]], float], *, draws: int = 300
) -> Figure:
    """A figure of rows, with its percentile interval over resampled groups (repositories).

    `figure` gets indices of rows. The draws are seeded: the same data give the same interval.
    """
    every = np.arange(len(group))
    value = figure(every)
    names, inverse = np.unique(group, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(inverse))[:-1]) if len(names) else []
    random = np.random.default_rng(20261201)
    drawn = []
    for _ in range(draws if len(names) > 1 else 0):
        chosen = random.integers(0, len(names), len(names))
        found = figure(np.concatenate([parts[i] for i in chosen]))
        if not math.isnan(found):
            drawn.append(found)
    if not drawn:
        return Figure(value, math.nan, math.nan)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Figure(value, float(low), float(high))
