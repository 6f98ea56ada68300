"""Training and judging of the account model on tables of features and on event streams."""

from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from app.core.accountmodel import ACCOUNT_FORMAT, AccountModel
from app.core.activity import ACTIVITY_FEATURES, Activity
from app.learning import tables
from app.learning.tables import Floats, Rows
from app.learning.text import fit_trees, score_trees

_BIMBAS = {
    "NA": "feat_num_activities",
    "NT": "feat_num_activity_type",
    "NOR": "feat_owner",
    "ORR": "feat_ratio_owner_repo",
    "DCA": "consecutive_activity_time",
    "NAR": "activity_per_repo",
    "NTR": "activity_type_per_repo",
    "NCAR": "continuous_activity_repo",
    "DCAR": "time_spent_in_repo",
    "DAAR": "time_to_switch_repo",
    "DCAT": "time_to_switch_act_type",
    "NAT": "activity_per_act_type",
}


def _bimbas_column(feature: str) -> str:
    name, _, statistic = feature.partition("_")
    if not statistic:
        return _BIMBAS[name]
    return f"{_BIMBAS[name]}_{'50%' if statistic == 'median' else statistic}"


def _values(rows: Rows, columns: list[str]) -> Floats:
    return np.array([[float(r[c] or 0) for c in columns] for r in rows], dtype=np.float64)


def bimbas(data: Path, split: str | None = None) -> tuple[Floats, NDArray[np.int64]] | None:
    """Features and labels of the BIMBAS table; None where it is missing or empty."""
    rows = tables.read(data, "accounts_bimbas")
    rows = [r for r in rows or () if split is None or r["split"] == split]
    if not rows:
        return None
    columns = [_bimbas_column(f) for f in ACTIVITY_FEATURES]
    return _values(rows, columns), np.array([int(r["label"]) for r in rows], dtype=np.int64)


def licensed(data: Path) -> tuple[Floats, NDArray[np.int64]] | None:
    """Features of `accounts_rabbit_bothawk` with the labels of its MIT-licensed repository."""
    rows = tables.read(data, "accounts_rabbit_bothawk")
    rows = [r for r in rows or () if r["label_2026"] is not None]
    if not rows:
        return None
    columns = ["NA_" if f == "NA" else f for f in ACTIVITY_FEATURES]
    label = np.array([int(r["label_2026"] == "Bot") for r in rows], dtype=np.int64)
    return _values(rows, columns), label


def _balanced(label: NDArray[np.int64]) -> Floats:
    share = label.mean()
    return np.asarray(np.where(label == 1, 0.5 / share, 0.5 / (1 - share)), dtype=np.float64)


def out_of_fold(values: Floats, label: NDArray[np.int64], folds: int = 5) -> Floats:
    """Log-odds of each account by a model that did not see it."""
    found = np.zeros(len(label))
    weight = _balanced(label)
    splits = StratifiedKFold(folds, shuffle=True, random_state=0).split(values, label)
    for seen, unseen in splits:
        trees = fit_trees(values[seen], ACTIVITY_FEATURES, label[seen], weight[seen])
        found[unseen] = score_trees(trees, values[unseen])
    return found


def fit(values: Floats, label: NDArray[np.int64]) -> dict[str, Any]:
    """The model as JSON; its thresholds come from out-of-fold scores."""
    odds = out_of_fold(values, label)
    trees = fit_trees(values, ACTIVITY_FEATURES, label, _balanced(label))
    people, bots = np.sort(odds[label == 0])[::-1], np.sort(odds[label == 1])
    return {
        "format": ACCOUNT_FORMAT,
        "trees": trees.to_json(),
        "flag": round(float(people[max(0, int(0.01 * (len(people) + 1)) - 1)]), 6),
        "low": round(float(bots[max(0, int(0.05 * (len(bots) + 1)) - 1)]), 6),
    }


def scores(model: AccountModel, values: Floats) -> Floats:
    """Log-odds by the code that ships."""
    return np.array([model.odds(row) for row in values.tolist()], dtype=np.float64)


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    return value.replace(tzinfo=None) if isinstance(value, datetime) else None


def streams(data: Path) -> dict[str, tuple[str, list[Activity], set[str]]] | None:
    """`agentscan_events` by account: label, activities, own repositories. None where missing."""
    events = tables.read(
        data, "agentscan_events",
        ["fixture", "label", "type", "action", "repo_hash", "own_repo", "number", "at", "body"],
    )  # fmt: skip
    if events is None:
        return None
    labels = tables.read(data, "agentscan_accounts", ["fixture", "label"]) or []
    known = {str(r["fixture"]): str(r["label"]) for r in labels if r["label"] is not None}
    found: dict[str, tuple[str, list[Activity], set[str]]] = {
        name: (label, [], set()) for name, label in known.items()
    }
    for event in events:
        name, at = str(event["fixture"]), _moment(event["at"])
        if name not in found:
            found[name] = (str(event["label"]), [], set())
        if at is None:
            continue
        place = str(event["repo_hash"])
        kind = f"{event['type']} {event['action'] or ''}".strip()
        found[name][1].append(Activity(kind, place, place, at))
        if event["own_repo"]:
            found[name][2].add(place)
    return found


def people_streams(data: Path) -> dict[str, list[Activity]] | None:
    """`human_activities_msr2023` by account; its kinds in GitHub's words as far as one fits."""
    rows = tables.read(data, "human_activities_msr2023")
    if rows is None:
        return None
    found: dict[str, list[Activity]] = defaultdict(list)
    for row in rows:
        kind = (
            "PullRequestEvent opened"
            if row["activity"] == "Opening pull request"
            else row["activity"]
        )
        at = _moment(row["date"])
        if at is not None:
            found[row["account_hash"]].append(
                Activity(str(kind), row["repo_hash"], row["repo_hash"], at)
            )
    return dict(found)
