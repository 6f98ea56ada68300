"""What an account did in public, in numbers: gaps, spread over repositories, switching, hours.

The 38 features are those of BIMBAS (Chidambaram, Mens, Decan 2024), in its terms: NA activities, NT
types, NOR owners, ORR owners for each repository; then statistics of DCA (hours between activities),
NAR and NTR (activities and types in each repository), NCAR and DCAR (activities and hours in a row
in one repository), DAAR and DCAT (hours to the next repository and type), NAT (activities of a type).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby, pairwise
from typing import NamedTuple

# Fewer activities than this say nothing.
LEAST_ACTIVITIES = 5
MOST_EVENTS = 300

_STATISTICS = {
    "DCA": ("mean", "median", "std", "gini"),
    "NAR": ("mean", "median", "gini", "IQR"),
    "NTR": ("mean", "median", "std", "gini"),
    "NCAR": ("mean", "std", "IQR"),
    "DCAR": ("mean", "median", "std", "IQR"),
    "DAAR": ("mean", "median", "std", "gini", "IQR"),
    "DCAT": ("mean", "median", "std", "gini", "IQR"),
    "NAT": ("mean", "median", "std", "gini", "IQR"),
}
ACTIVITY_FEATURES = (
    "NA", "NT", "NOR", "ORR",
    *(f"{name}_{statistic}" for name, wanted in _STATISTICS.items() for statistic in wanted),
)  # fmt: skip


class Activity(NamedTuple):
    """One thing done. `kind` is GitHub's event type with its action: `PullRequestEvent opened`."""

    kind: str
    repository: str
    owner: str
    at: datetime


# Kinds that one act of a person causes twice within seconds; the second is no activity of its own.
_SAME_SECONDS = 6


def activities(events: Iterable[Activity]) -> list[Activity]:
    """Events in order of time, at most `MOST_EVENTS` of the newest, without echoes of one act.

    Merging fires a close, a push and the deletion of a branch in one repository within seconds.
    """
    newest = sorted(events, key=lambda e: (e.at, e.kind, e.repository))[-MOST_EVENTS:]
    kept: list[Activity] = []
    for event in newest:
        last = kept[-1] if kept else None
        echo = (
            last is not None
            and event.repository == last.repository
            and (event.at - last.at).total_seconds() <= _SAME_SECONDS
            and (
                event.kind == last.kind or event.kind.split(" ")[0] in {"PushEvent", "DeleteEvent"}
            )
        )
        if not echo:
            kept.append(event)
    return kept


def features(found: Sequence[Activity]) -> dict[str, float]:
    """The 38 features of activities in order of time; times in hours. All 0 where there are none."""
    kinds = Counter(a.kind for a in found)
    in_repository: dict[str, list[str]] = defaultdict(list)
    for one in found:
        in_repository[one.repository].append(one.kind)
    stays = _runs(found, lambda a: a.repository)
    series = {
        "DCA": [_hours(a.at, b.at) for a, b in pairwise(found)],
        "NAR": [float(len(v)) for v in in_repository.values()],
        "NTR": [float(len(set(v))) for v in in_repository.values()],
        "NCAR": [float(len(run)) for run in stays],
        "DCAR": [_hours(run[0].at, run[-1].at) for run in stays],
        "DAAR": [_hours(a[-1].at, b[0].at) for a, b in pairwise(stays)],
        "DCAT": [_hours(a[-1].at, b[0].at) for a, b in pairwise(_runs(found, lambda a: a.kind))],
        "NAT": [float(n) for n in kinds.values()],
    }
    owners = len({a.owner for a in found})
    values: dict[str, float] = {
        "NA": float(len(found)),
        "NT": float(len(kinds)),
        "NOR": float(owners),
        "ORR": owners / len(in_repository) if in_repository else 0.0,
    }
    for name, wanted in _STATISTICS.items():
        statistics = _statistics(series[name])
        values |= {f"{name}_{s}": round(statistics[s], 3) for s in wanted}
    return values


def _runs(found: Sequence[Activity], key: object) -> list[list[Activity]]:
    return [list(run) for _, run in groupby(found, key=key)]  # type: ignore[call-overload]


def _hours(start: datetime, end: datetime) -> float:
    return (end - start).total_seconds() / 3600


def _statistics(values: Sequence[float]) -> dict[str, float]:
    """Mean, median, sample deviation, Gini of what is not 0, and distance of the quartiles."""
    if not values:
        return dict.fromkeys(("mean", "median", "std", "gini", "IQR"), 0.0)
    ordered, count = sorted(values), len(values)
    mean = sum(ordered) / count
    squares = sum((v - mean) ** 2 for v in ordered)
    return {
        "mean": mean,
        "median": _quantile(ordered, 0.5),
        "std": math.sqrt(squares / (count - 1)) if count > 1 else 0.0,
        "gini": _gini([v for v in ordered if v]),
        "IQR": _quantile(ordered, 0.75) - _quantile(ordered, 0.25),
    }


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _gini(ordered: Sequence[float]) -> float:
    count, total = len(ordered), sum(ordered)
    if not count or not total:
        return 0.0
    return sum((2 * i - count - 1) * v for i, v in enumerate(ordered, 1)) / (count * total)


class Tempo(NamedTuple):
    """What makes an account of 2026 an automation, whatever its texts are like.

    `pulls_a_day`: most pull requests opened in other people's repositories within 24 hours;
    `repositories_a_day`: in how many of them; `clock`: hours of the day with activity, of 24, where
    there are enough to fill them; `longest_rest`: the longest pause in hours within the busiest
    three days; `fastest`: median seconds between pull requests in different repositories.
    """

    pulls_a_day: int
    repositories_a_day: int
    clock: int
    longest_rest: float
    fastest: float


def tempo(found: Sequence[Activity], own: Iterable[str] = ()) -> Tempo:
    """Read from activities in order of time; `own` are the account's own repositories."""
    mine = set(own)
    opened = [a for a in found if a.kind == "PullRequestEvent opened" and a.repository not in mine]
    most, wide = 0, 0
    start = 0
    for end in range(len(opened)):
        while _hours(opened[start].at, opened[end].at) > 24:
            start += 1
        window = opened[start : end + 1]
        most, wide = max(most, len(window)), max(wide, len({a.repository for a in window}))
    gaps = sorted(
        _hours(a.at, b.at) * 3600 for a, b in pairwise(opened) if a.repository != b.repository
    )
    return Tempo(
        pulls_a_day=most,
        repositories_a_day=wide,
        clock=len({a.at.hour for a in found}),
        longest_rest=_rest(found),
        fastest=_quantile(gaps, 0.5) if len(gaps) >= 3 else math.inf,
    )


def _rest(found: Sequence[Activity]) -> float:
    """The longest pause within the 72 hours that hold the most activities; infinite below 30."""
    best: Sequence[Activity] = ()
    start = 0
    for end in range(len(found)):
        while _hours(found[start].at, found[end].at) > 72:
            start += 1
        if end + 1 - start > len(best):
            best = found[start : end + 1]
    if len(best) < 30 or _hours(best[0].at, best[-1].at) < 48:
        return math.inf
    return max(_hours(a.at, b.at) for a, b in pairwise(best))
