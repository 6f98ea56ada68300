"""Judging of the shipped models on every table that a folder has, without training."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.adapters.model import Models
from app.adapters.models import latency_bands
from app.core.textmodel import sigmoid
from app.learning import accounts, latency, tables, unattended
from app.learning.metrics import (
    Figure,
    auc,
    calibration_error,
    precision_at,
    recall_at,
    with_interval,
)
from app.learning.tables import Floats, Pulls
from app.learning.text import Tell

Intervals = dict[str, list[float | None]]
_BEFORE_AGENTS = "2022-11-30"
_SQUASH = re.compile(r" \(#\d+\)$")


class Judged:
    """What was found: plain numbers for the contract, intervals beside them, rows for figures."""

    def __init__(self) -> None:
        self.shipped: dict[str, Any] = {}
        self.intervals: dict[str, Any] = {}
        self.pulls: Pulls | None = None
        self.odds: Floats = np.zeros(0)
        self.notes: list[str] = []

    def as_json(self, protocol: Any) -> dict[str, Any]:
        """As DESIGN.md has it, with `intervals` and `notes` beside."""
        return {
            "shipped": self.shipped,
            "intervals": self.intervals,
            "notes": self.notes,
            "protocol": protocol,
        }


def evaluate(models: Models, data: Path, tell: Tell) -> Judged:
    """All of it. Tables that are missing are left out."""
    found = Judged()
    trained_on = models.manifest["data"]
    for name in trained_on:
        if tables.digest(data, name) == trained_on[name]["sha256"]:
            found.notes.append(
                f"{name} is the very table that the shipped model learnt from: its figures are what the "
                "model remembers, not what it knows. The protocol's are the honest ones."
            )
    for title, judge in (
        ("pull requests", _pulls),
        ("people before agents", _before),
        ("unattended", _unattended),
        ("accounts", _bimbas),
        ("event streams", _agentscan),
        ("latencies", _latency),
        ("other tables", _others),
    ):
        tell(f"judging {title}")
        judge(models, data, found)
    return found


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)


def _pair(
    label: NDArray[np.int64], score: Floats, group: NDArray[Any]
) -> tuple[dict[str, Any], Intervals]:
    """AUC and recall at 1 %, with their intervals over groups."""
    figures: dict[str, Figure] = {
        "auc": with_interval(group, lambda i: auc(label[i], score[i])),
        "recall_at_1pct": with_interval(group, lambda i: recall_at(label[i], score[i])),
    }
    return (
        {name: _number(f.value) for name, f in figures.items()},
        {name: f.as_json() for name, f in figures.items()},
    )


def _pulls(models: Models, data: Path, found: Judged) -> None:
    pulls = tables.pulls(data)
    if pulls is None or not pulls.core.any():
        return
    pulls = pulls.take(pulls.core)
    readings = [
        models.text.read(title, body, explain=False) for title, body in tables.texts(pulls.rows)
    ]
    odds = np.array([r.log_odds for r in readings])
    probability = np.array([r.probability for r in readings])
    flagged = np.array([r.flagged for r in readings], dtype=np.bool_)
    unknown = np.array([r.verdict == "unknown" for r in readings], dtype=np.bool_)
    # Unknown counts as not flagged: such a text is never above one that is known to be an agent's,
    # which the verdict already makes sure of, since the flag lies inside of the agents' band.
    label, home = pulls.label, pulls.repository
    values, spans = _pair(label, odds, home)
    people = label == 0
    extra = {
        "flagged_people_at_threshold": with_interval(
            home[people], lambda i: float(flagged[people][i].mean())
        ),
        "unknown_share": with_interval(home, lambda i: float(unknown[i].mean())),
        "ece": with_interval(home, lambda i: calibration_error(label[i], probability[i])),
    }
    values |= {name: _number(f.value) for name, f in extra.items()}
    spans |= {name: f.as_json() for name, f in extra.items()}
    balanced = np.array([sigmoid(x) for x in odds])
    weight = np.where(people, 1 / max(people.sum(), 1), 1 / max((~people).sum(), 1))
    values["ece_where_half_are_agents"] = _number(_weighted_error(label, balanced, weight))
    values["recall_at_threshold"] = _number(
        float(flagged[label == 1].mean()) if (~people).any() else math.nan
    )
    values["precision_at_threshold"] = {
        f"{share:.0%}": _number(precision_at(label, flagged, share)) for share in (0.05, 0.2, 0.5)
    }
    parts: dict[str, NDArray[np.bool_]] = {
        "undisclosed": people | ~pulls.disclosed,
        "disclosed": people | pulls.disclosed,
    }
    families = {str(f): people | (pulls.family == f) for f in np.unique(pulls.family[~people])}
    result: dict[str, Any] = {"n": len(label), **values}
    intervals: dict[str, Any] = dict(spans)
    for name, mask in parts.items():
        result[name], intervals[name] = _pair(label[mask], odds[mask], home[mask])
    result["families"], intervals["families"] = {}, {}
    for name, mask in families.items():
        pair = _pair(label[mask], odds[mask], home[mask])
        result["families"][name], intervals["families"][name] = pair
    found.shipped["prs"], found.intervals["prs"] = result, intervals
    found.pulls, found.odds = pulls, odds


def _weighted_error(label: NDArray[np.int64], probability: Floats, weight: Floats) -> float:
    share = weight / weight.sum()
    place = np.minimum((probability * 10).astype(int), 9)
    total = 0.0
    for one in range(10):
        here = place == one
        if here.any():
            total += abs(float((share[here] * (label[here] - probability[here])).sum()))
    return total


def before_agents(data: Path) -> list[tuple[str, str, str]] | None:
    """Title, body and repository of people's changes from before there were agents."""
    rows = tables.read(data, "merged_pr_commits")
    if rows is None:
        return None
    return [
        (_SQUASH.sub("", r["title"] or ""), r["body"] or "", r["repo"])
        for r in rows
        if r["authored_at"] < _BEFORE_AGENTS and not r["author_is_bot"]
    ]


def _before(models: Models, data: Path, found: Judged) -> None:
    rows = before_agents(data)
    if rows is None:
        return
    flagged = sum(models.text.read(t, b, explain=False).flagged for t, b, _ in rows)
    found.shipped["before_2022_11_30"] = {"flagged": flagged, "of": len(rows)}


def _unattended(models: Models, data: Path, found: Judged) -> None:
    asked = unattended.asked(data)
    if asked is None or not len(asked.label):
        return
    acts, queue = unattended.score(models.unattended, asked)
    label, home = asked.label, asked.repository
    every = np.arange(len(label))
    rate = unattended.family_rate(asked, every, every)
    figures = {
        "auc": with_interval(home, lambda i: auc(label[i], queue[i])),
        "behaviour_auc": with_interval(home, lambda i: auc(label[i], acts[i])),
        "family_rate_auc": with_interval(home, lambda i: auc(label[i], rate[i])),
    }
    found.shipped["unattended"] = {
        **{name: _number(f.value) for name, f in figures.items()},
        "n": len(label),
    }
    found.intervals["unattended"] = {name: f.as_json() for name, f in figures.items()}


def _bimbas(models: Models, data: Path, found: Judged) -> None:
    read = accounts.bimbas(data)
    if read is None:
        return
    values, label = read
    odds = accounts.scores(models.account, values)
    pair, spans = _pair(label, odds, np.arange(len(label)))
    people = label == 0
    pair["flagged_people_at_threshold"] = _number(
        float((odds[people] > models.account.flag).mean()) if people.any() else math.nan
    )
    found.shipped["accounts_bimbas"], found.intervals["accounts_bimbas"] = pair, spans


def _agentscan(models: Models, data: Path, found: Judged) -> None:
    streams = accounts.streams(data)
    if streams is None:
        return
    counted = {"found": 0, "of_automation": 0, "false": 0, "of_organic": 0}
    unknown = 0
    for label, events, own in streams.values():
        reading = models.account.read(events, own)
        hit = reading.verdict == "automation"
        unknown += reading.verdict == "unknown"
        if label == "automation":
            counted["of_automation"] += 1
            counted["found"] += hit
        elif label == "organic":
            counted["of_organic"] += 1
            counted["false"] += hit
    found.shipped["agentscan"] = {**counted, "unknown": unknown}


def _latency(_: Models, data: Path, found: Judged) -> None:
    judged = latency.judge(latency_bands(), data)
    if judged is not None:
        found.shipped["reply_latency"] = judged


def _others(models: Models, data: Path, found: Judged) -> None:
    """People's event streams, where the table is there: how many windows are taken for a machine's."""
    streams = accounts.people_streams(data)
    if streams is None:
        return
    counts = {"automation": 0, "people": 0, "unknown": 0}
    for events in streams.values():
        counts[models.account.read(events).verdict] += 1
    found.shipped["people_streams"] = counts
