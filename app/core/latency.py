"""What the times of an author's answers say: alive, a machine, or unknown.

A sequential likelihood ratio over bands of time (Wald 1945). Slowness counts against nobody: a band in
which machines are as frequent as people says nothing. Below `LEAST_ANSWERS` nothing is said.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

LATENCY_FORMAT = 1
LEAST_ANSWERS = 3
# Ends of the bands in seconds: half a minute, 2, 5 and 15 minutes, 1, 4 and 24 hours.
BANDS = (30.0, 120.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0)
# From here on an answer is slow, and slowness is never a machine's mark.
_SLOW = 3600.0
# Wald's bounds for one person in a hundred called a machine, and one machine in ten called alive.
_MACHINE = math.log(0.90 / 0.01)
_ALIVE = math.log(0.10 / 0.99)

LatencyVerdict = Literal["alive", "unknown", "machine"]


class LatencyModel(NamedTuple):
    """`steps`: the log-likelihood ratio, machine against person, of an answer in each band."""

    steps: tuple[float, ...]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "LatencyModel":
        """`ValueError` where it is of another format."""
        if data.get("format") != LATENCY_FORMAT or len(data["steps"]) != len(BANDS) + 1:
            raise ValueError("the model of latencies is of another format")
        return cls(tuple(float(x) for x in data["steps"]))

    def read(self, seconds: Iterable[float]) -> LatencyVerdict:
        """The verdict on answers in order of time; it stops where it is clear."""
        total, count = 0.0, 0
        for one in seconds:
            if one < 0 or not math.isfinite(one):
                continue
            count += 1
            total += self.steps[bisect_right(BANDS, one)]
            if count >= LEAST_ANSWERS and not _ALIVE < total < _MACHINE:
                return "machine" if total >= _MACHINE else "alive"
        return "unknown"


def steps_of(machines: Iterable[float], people: Iterable[float]) -> tuple[float, ...]:
    """The steps from latencies in seconds, with one added to each band (Laplace)."""
    counted = []
    for values in (machines, people):
        counts = [1.0] * (len(BANDS) + 1)
        for value in values:
            counts[bisect_right(BANDS, value)] += 1
        counted.append([c / sum(counts) for c in counts])
    found = [math.log(m / p) for m, p in zip(*counted, strict=True)]
    slow = bisect_right(BANDS, _SLOW - 1)
    return tuple(round(min(0.0, x) if i > slow else x, 4) for i, x in enumerate(found))
