"""Learning who is unattended: pull requests whose reviewers' questions found no answer."""

from collections import defaultdict
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from app.core.plain import plain
from app.core.shape import shape
from app.core.unattended import (
    BEHAVIOUR_FEATURES,
    RAISES,
    UNATTENDED_FORMAT,
    Behaviour,
    UnattendedModel,
    behaviour_features,
)
from app.learning import tables
from app.learning.tables import Bools, Floats, Rows
from app.learning.text import fit_trees, score_trees

_SMALL = {"max_iter": 80, "max_leaf_nodes": 6, "min_samples_leaf": 30}

# What asks something of an author, and what counts as their answer: anything they do afterwards.
QUESTIONS = {"comment", "review_commented", "review_comment", "review_changes_requested"}


class Asked(NamedTuple):
    """Pull requests on which a person wrote. `label`: 1 where their author did nothing afterwards."""

    rows: Rows
    label: NDArray[np.int64]
    repository: NDArray[np.str_]
    family: NDArray[np.str_]
    seen: list[Behaviour]
    licensed: Bools

    def take(self, where: NDArray[Any]) -> "Asked":
        """Some of them."""
        at = np.arange(len(self.rows))[where]
        return Asked(
            [self.rows[i] for i in at], self.label[at], self.repository[at], self.family[at],
            [self.seen[i] for i in at], self.licensed[at],
        )  # fmt: skip


def asked(data: Path) -> Asked | None:
    """From `pr_events` and `prs`; None where one is missing."""
    events, pulls = tables.read(data, "pr_events"), tables.read(data, "prs")
    if events is None or pulls is None:
        return None
    happened: dict[int, Rows] = defaultdict(list)
    for event in events:
        if event["at"] is not None:
            happened[event["pr_id"]].append(event)
    answers = {number: _answered(list_) for number, list_ in happened.items()}
    history = _Histories(pulls, answers)
    rows = [
        p
        for p in pulls
        if answers.get(p["pr_id"]) is not None
        and p["label_quality"] in {"agent", "human_clean"}
        and p["created_at"] is not None
    ]
    return Asked(
        rows=rows,
        label=np.array([int(not answers[p["pr_id"]]) for p in rows], dtype=np.int64),
        repository=np.array([p["repo_hash"] or "" for p in rows], dtype=np.str_),
        family=np.array([p["agent"] or "" for p in rows], dtype=np.str_),
        seen=[history.before(p) for p in rows],
        licensed=np.array(
            [all(tables.licensed(e["src"]) for e in happened[p["pr_id"]]) for p in rows],
            dtype=np.bool_,
        ),
    )


def _answered(events: Rows) -> bool | None:
    """Whether the author did anything after the first question of a person; None without one."""
    by_time = sorted(events, key=lambda e: e["at"])
    asked_at = next(
        (e["at"] for e in by_time if e["role"] == "human" and e["kind"] in QUESTIONS), None
    )
    if asked_at is None:
        return None
    return any(
        e["at"] > asked_at and (e["role"] == "author" or e["actor_hash"] == e["author_hash"])
        for e in by_time
    )


class _Histories:
    """What each author did in each repository, as far as the tables hold it."""

    def __init__(self, pulls: Rows, answers: dict[int, bool | None]) -> None:
        self._answers = answers
        self._by_author: dict[tuple[str, str], Rows] = defaultdict(list)
        for pull in pulls:
            if pull["author_hash"] and pull["created_at"] is not None:
                self._by_author[pull["repo_hash"], pull["author_hash"]].append(pull)

    def before(self, pull: dict[str, Any]) -> Behaviour:
        """As of its creation: what came later is not known then."""
        now = pull["created_at"]
        others = [
            p
            for p in self._by_author[pull["repo_hash"], pull["author_hash"]]
            if p["pr_id"] != pull["pr_id"] and p["created_at"] <= now
        ]
        ended = [p for p in others if p["closed_at"] is not None and p["closed_at"] <= now]
        merged = sum(p["merged_at"] is not None for p in ended)
        heard = [self._answers.get(p["pr_id"]) for p in ended]
        return Behaviour(
            answered=sum(h is True for h in heard),
            unanswered=sum(h is False for h in heard),
            merged=merged,
            closed_unmerged=len(ended) - merged,
            open=len(others) - len(ended),
            together=sum(now - p["created_at"] <= timedelta(minutes=10) for p in others),
            same_day=sum(now - p["created_at"] <= timedelta(hours=24) for p in others),
        )


def _behaviour(found: Asked) -> Floats:
    rows = [behaviour_features(seen) for seen in found.seen]
    return np.array([[row[name] for name in BEHAVIOUR_FEATURES] for row in rows], dtype=np.float64)


def _shapes(found: Asked) -> tuple[Floats, tuple[str, ...]]:
    rows = [shape(plain(title, body)) for title, body in tables.texts(found.rows)]
    names = tuple(sorted(rows[0]))
    return np.array([[row[name] for name in names] for row in rows], dtype=np.float64), names


def _weights(found: Asked) -> Floats:
    """Each repository weighs by the root of its size."""
    _, place, counts = np.unique(found.repository, return_inverse=True, return_counts=True)
    return np.asarray(counts[place] ** -0.5, dtype=np.float64)


def fit(found: Asked) -> UnattendedModel:
    """Behaviour by logistic regression with signs that are fair, then the shape of the text on top."""
    weight = _weights(found)
    base, weights = _fit_behaviour(_behaviour(found), found.label, weight)
    values, names = _shapes(found)
    read = np.zeros(len(found.label))
    for seen, unseen in GroupKFold(4).split(values, found.label, found.repository):
        trees = fit_trees(values[seen], names, found.label[seen], weight[seen], **_SMALL)
        read[unseen] = score_trees(trees, values[unseen])
    model = UnattendedModel(
        base, weights, 0.0, (1.0, 0.0), fit_trees(values, names, found.label, weight, **_SMALL)
    )
    odds = np.array([model.score(one) for one in found.seen])
    both = LogisticRegression(C=1, max_iter=1000).fit(
        np.column_stack([odds, read]), found.label, weight
    )
    return model._replace(
        queue_base=round(float(both.intercept_[0]), 6),
        queue_weights=(round(float(both.coef_[0][0]), 6), round(float(both.coef_[0][1]), 6)),
    )


def _fit_behaviour(
    values: Floats, label: NDArray[np.int64], weight: Floats
) -> tuple[float, dict[str, float]]:
    """Logistic regression (L2) whose weights may not be below 0, nor above it where they lower."""
    share = weight / weight.sum()

    def loss(beta: Floats) -> tuple[float, Floats]:
        odds = values @ beta[1:] + beta[0]
        value = float(share @ (np.logaddexp(0, odds) - label * odds)) + 1e-3 * float(
            beta[1:] @ beta[1:]
        )
        slope = share * (1 / (1 + np.exp(-odds)) - label)
        return value, np.r_[slope.sum(), values.T @ slope + 2e-3 * beta[1:]]

    bounds = [(None, None), *((0, None) if f in RAISES else (None, 0) for f in BEHAVIOUR_FEATURES)]
    found = minimize(
        loss, np.zeros(values.shape[1] + 1), jac=True, bounds=bounds, method="L-BFGS-B"
    )
    named = zip(BEHAVIOUR_FEATURES, found.x[1:], strict=True)
    return round(float(found.x[0]), 6), {name: round(float(x), 6) + 0.0 for name, x in named}


def as_json(model: UnattendedModel) -> dict[str, Any]:
    """As `UnattendedModel.from_json` reads it."""
    return {
        "format": UNATTENDED_FORMAT,
        **model._asdict(),
        "queue_weights": list(model.queue_weights),
        "shape": model.shape.to_json(),
    }


def score(model: UnattendedModel, found: Asked) -> tuple[Floats, Floats]:
    """Log-odds of each, by the code that ships: of behaviour, which may act, and for the queue."""
    shapes = [shape(plain(title, body)) for title, body in tables.texts(found.rows)]
    acts = [model.score(seen) for seen in found.seen]
    queue = [model.queue(seen, values) for seen, values in zip(found.seen, shapes, strict=True)]
    return np.array(acts, dtype=np.float64), np.array(queue, dtype=np.float64)


def family_rate(found: Asked, seen: NDArray[Any], unseen: NDArray[Any]) -> Floats:
    """The baseline: the share that stayed unanswered in each family, from other repositories."""
    rates = {
        family: found.label[seen][found.family[seen] == family].mean()
        for family in np.unique(found.family[seen])
    }
    mean = float(found.label[seen].mean())
    return np.array([rates.get(f, mean) for f in found.family[unseen]], dtype=np.float64)
