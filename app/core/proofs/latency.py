"""How soon an account answers: whether that looks like a person, a machine, or neither.

A sequential probability ratio test (Wald, Annals of Mathematical Statistics 16, 1945) over answers,
each of which counts by the band that its latency falls into. Slowness never counts against anybody,
and a few answers say nothing. It leads to no act: it is shown to maintainers.
"""

from collections.abc import Sequence
from datetime import timedelta
from math import inf, log
from typing import Literal

from pydantic import model_validator

from app.core.fact import Fact

# Of a hundred people, at most one may read as a machine; of a hundred machines, five as a person.
PEOPLE_AS_MACHINES = 0.01
MACHINES_AS_PEOPLE = 0.05
# Fewer answers than this say nothing, however quick they were.
LEAST = 3
# So many are read, the first. Answers of one account are no independent draws: over dozens of them
# the error rates would no longer hold.
MOST = 10
# No single answer counts for more than this many times either way: people are in a hurry at times.
_MOST_RATIO = 4.0

Kind = Literal["alive", "machine", "unknown"]


class Bands(Fact):
    """Shares of answers in each band of latency, for machines and for people.

    `edges` are seconds, rising; band i is below `edges[i]`, the last one above all. Each share is a
    bound: of `machine` the least and of `person` the most that the data allow where quickness counts
    against somebody, so that few data count for little.
    """

    edges: tuple[float, ...]
    machine: tuple[float, ...]
    person: tuple[float, ...]
    source: str

    @model_validator(mode="after")
    def _fits(self) -> "Bands":
        wanted = len(self.edges) + 1
        if sorted(self.edges) != list(self.edges) or {len(self.machine), len(self.person)} != {
            wanted
        }:
            raise ValueError("edges must rise, and each band needs both shares")
        return self

    def ratio(self, latency: timedelta) -> float:
        """How many times likelier a machine answers so soon than a person."""
        seconds = max(latency.total_seconds(), 0.0)
        band = sum(seconds >= edge for edge in self.edges)
        found = self.machine[band] / self.person[band] if self.person[band] else inf
        return min(max(found, 1 / _MOST_RATIO), _MOST_RATIO)


class Pace(Fact):
    """What the answers say. `evidence` is the sum of log ratios; above 0 it speaks for a machine."""

    kind: Kind
    answers: int
    evidence: float


def pace(latencies: Sequence[timedelta], bands: Bands) -> Pace:
    """The reading of an account's first answers, in their order; it stops where it is clear."""
    upper = log((1 - MACHINES_AS_PEOPLE) / PEOPLE_AS_MACHINES)
    lower = log(MACHINES_AS_PEOPLE / (1 - PEOPLE_AS_MACHINES))
    evidence = 0.0
    for count, latency in enumerate(latencies[:MOST], 1):
        evidence += log(bands.ratio(latency))
        if count < LEAST:
            continue
        if evidence >= upper:
            return Pace(kind="machine", answers=count, evidence=evidence)
        if evidence <= lower:
            return Pace(kind="alive", answers=count, evidence=evidence)
    return Pace(kind="unknown", answers=min(len(latencies), MOST), evidence=evidence)
