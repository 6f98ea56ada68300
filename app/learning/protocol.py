"""The protocol of the data folder: every figure by models that saw nothing of what they are judged on.

Grouped by repository; then by time; then each family left out; then the same author's; then an
ablation. Thresholds come from training folds.
"""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from app.learning import accounts, tables, unattended
from app.learning.metrics import (
    auc,
    calibration_error,
    precision_at,
    recall_at,
    with_interval,
)
from app.learning.tables import Bools, Floats, Pulls
from app.learning.text import (
    Matrix,
    Tell,
    blend,
    fit_bands,
    fit_parts,
    fit_stack,
    matrix,
    out_of_fold,
    weigh,
)

FOLDS = 5
SPLIT_AT = np.datetime64("2025-06-01")
Table = dict[str, dict[str, Any]]


def _figures(
    label: NDArray[np.int64], odds: Floats, home: NDArray[Any]
) -> dict[str, list[float | None]]:
    return {
        "auc": with_interval(home, lambda i: auc(label[i], odds[i])).as_json(),
        "recall_at_1pct": with_interval(home, lambda i: recall_at(label[i], odds[i])).as_json(),
    }


def _share(flags: Bools, home: NDArray[Any]) -> list[float | None]:
    return with_interval(home, lambda i: float(flags[i].mean())).as_json()


def grouped(pulls: Pulls, m: Matrix, words: Floats, trees: Floats) -> Table:
    """By repository. Each fold is calibrated, and gets its thresholds, from the other folds."""
    core = np.flatnonzero(pulls.core)
    label, home = pulls.label[core], pulls.repository[core]
    short, words, trees = m.short[core], words[core], trees[core]
    odds, flag, verdict = np.zeros(len(core)), np.zeros(len(core), bool), np.zeros(len(core), int)
    covered = np.zeros(len(core), bool)
    for seen, unseen in GroupKFold(FOLDS).split(odds, label, home):
        stack = fit_stack(words[seen], trees[seen], short[seen], label[seen])
        before = weigh(stack, words[seen], trees[seen], short[seen])
        bands = fit_bands(before, label[seen], short[seen])
        odds[unseen] = weigh(stack, words[unseen], trees[unseen], short[unseen])
        for i in unseen:
            word = "unknown" if short[i] else bands.verdict(float(odds[i]))
            verdict[i] = {"agent": 1, "people": 0, "unknown": -1}[word]
            flag[i] = word == "agent" and odds[i] > bands.flag
            inside = odds[i] < bands.people if label[i] == 0 else odds[i] > bands.agent
            covered[i] = short[i] or verdict[i] == -1 or inside
    probability = 1 / (1 + np.exp(-odds))
    people = label == 0
    table: Table = {
        "grouped by repository": {
            "n": len(core),
            **_figures(label, odds, home),
            "people_flagged_at_threshold": _share(flag[people], home[people]),
            "recall_at_threshold": _share(flag[~people], home[~people]),
            "unknown_share": _share(verdict == -1, home),
            "covered_at_90": _share(covered, home),
            "ece": with_interval(
                home, lambda i: calibration_error(label[i], probability[i])
            ).as_json(),
            "precision": {
                f"{p:.0%}": round(precision_at(label, flag, p), 4) for p in (0.05, 0.2, 0.5)
            },
        }
    }
    disclosed = pulls.disclosed[core]
    for name, mask in (
        ("undisclosed only", people | ~disclosed),
        ("disclosed only", people | disclosed),
    ):
        table[name] = {"n": int(mask.sum()), **_figures(label[mask], odds[mask], home[mask])}
    for family in np.unique(pulls.family[core][~people]):
        mask = people | (pulls.family[core] == family)
        table[f"{family}, seen in training"] = _figures(label[mask], odds[mask], home[mask])
    for name, part in (("word groups alone", words), ("trees alone", trees)):
        table[name] = _figures(label, part, home)
    return table


def by_time(pulls: Pulls, m: Matrix, tell: Tell) -> Table:
    """Trained before June 2025, judged after, with the threshold from before."""
    early, late = pulls.created < SPLIT_AT, (pulls.created >= SPLIT_AT) & pulls.core
    both = "repositories may be on both sides"
    late = (pulls.created >= SPLIT_AT) & pulls.core
    if early.sum() < 100 or len(np.unique(pulls.label[late])) < 2:
        return {}
    before, then = pulls.take(early), m.take(early)
    words, trees = out_of_fold(then, before, FOLDS, tell)
    core = before.core
    stack = fit_stack(words[core], trees[core], then.short[core], before.label[core])
    bands = fit_bands(
        weigh(stack, words[core], trees[core], then.short[core]),
        before.label[core],
        then.short[core],
    )
    parts = fit_parts(then, before)
    after = m.take(late)
    odds = weigh(stack, *parts.score(after), after.short)
    label, home = pulls.label[late], pulls.repository[late]
    flagged = (odds > max(bands.flag, bands.agent)) & ~after.short
    return {
        "time split": {
            "n": int(late.sum()),
            "note": both,
            **_figures(label, odds, home),
            "people_flagged_at_threshold": _share(flagged[label == 0], home[label == 0]),
            "recall_at_threshold": _share(flagged[label == 1], home[label == 1]),
        }
    }


def families_out(pulls: Pulls, m: Matrix, tell: Tell) -> Table:
    """Each family by models that never saw it, against people of repositories that they never saw."""
    table: Table = {}
    for family in np.unique(pulls.family[pulls.label == 1]):
        odds = np.zeros(len(pulls.label))
        for seen, unseen in GroupKFold(3).split(odds, pulls.label, pulls.repository):
            others = seen[pulls.family[seen] != family]
            words, trees = fit_parts(m.take(others), pulls.take(others)).score(m.take(unseen))
            odds[unseen] = blend(words, trees)
        mask = pulls.core & ((pulls.label == 0) | (pulls.family == family))
        table[f"{family}, never seen"] = {
            "n": int((pulls.core & (pulls.family == family)).sum()),
            **_figures(pulls.label[mask], odds[mask], pulls.repository[mask]),
        }
        tell(f"  without {family}")
    return table


def with_style(pulls: Pulls, tell: Tell) -> Table:
    """What the left-out features of style would add to the trees' part."""
    m = matrix(pulls, with_style=True)
    odds = np.zeros(len(pulls.label))
    for seen, unseen in GroupKFold(FOLDS).split(odds, pulls.label, pulls.repository):
        _, odds[unseen] = fit_parts(m.take(seen), pulls.take(seen)).score(m.take(unseen))
    tell("  with style")
    core = pulls.core
    return {"trees with style": _figures(pulls.label[core], odds[core], pulls.repository[core])}


_NOT_PROSE = re.compile(r"^(?:co-authored-by|signed-off-by):|generated with", re.IGNORECASE)


def same_author(data: Path, pulls: Pulls) -> Table:
    """The same people with and without an agent: their commits' messages read as a description."""
    rows = tables.read(data, "same_author_claude_commits")
    listed = tables.read(data, "same_author_claude_prs")
    if rows is None or listed is None:
        return {}
    messages: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        lines = [x for x in (row["commit_message"] or "").split("\n") if not _NOT_PROSE.search(x)]
        messages[row["pr_key"]].append("\n".join(lines).strip())
    known = [r for r in listed if messages.get(r["pr_key"])]
    titles = [messages[r["pr_key"]][0].split("\n")[0] for r in known]
    asked = Pulls(
        rows=[
            {"title": t, "body": "\n".join(f"- {x}" for x in messages[r["pr_key"]])}
            for t, r in zip(titles, known, strict=True)
        ],
        label=np.array([int(r["label"]) for r in known], dtype=np.int64),
        repository=np.array([r["repo_hash"] for r in known], dtype=np.str_),
        family=np.array([""] * len(known), dtype=np.str_),
        core=np.ones(len(known), dtype=np.bool_),
        disclosed=np.zeros(len(known), dtype=np.bool_),
        created=np.array(
            [r["created"].replace(tzinfo=None) for r in known], dtype="datetime64[us]"
        ),
        licensed=np.zeros(len(known), dtype=np.bool_),
        mixed=np.zeros(len(known), dtype=np.bool_),
    )
    together = Pulls(
        pulls.rows + asked.rows,
        *(np.concatenate([a, b]) for a, b in zip(pulls[1:], asked[1:], strict=True)),
    )
    joint = matrix(together)
    first, second = (
        joint.take(np.arange(len(pulls.rows))),
        joint.take(np.arange(len(pulls.rows), len(together.rows))),
    )
    words, trees = fit_parts(first, pulls).score(second)
    odds = blend(words, trees)
    return {
        "same author, commits' messages": {
            "n": len(known),
            **_figures(asked.label, odds, asked.repository),
        }
    }


def accounts_table(data: Path) -> Table:
    """Accounts: the licensed model's own folds, and a research model on BIMBAS's own train part."""
    table: Table = {}
    licensed = accounts.licensed(data)
    if licensed is not None:
        values, label = licensed
        odds = accounts.out_of_fold(values, label)
        table["accounts, licensed rows"] = {
            "n": len(label),
            **_figures(label, odds, np.arange(len(label))),
        }
    read = accounts.bimbas(data)
    if read is not None:
        values, label = read
        odds = accounts.out_of_fold(values, label)
        table["accounts, research model on BIMBAS folds"] = {
            "n": len(label),
            **_figures(label, odds, np.arange(len(label))),
        }
    return table


def unattended_table(data: Path) -> Table:
    """Unattended by repositories never seen, beside the family's rate."""
    asked = unattended.asked(data)
    if asked is None or len(asked.label) < 50:
        return {}
    found = {name: np.zeros(len(asked.label)) for name in ("behaviour", "queue", "family's rate")}
    splits = GroupKFold(FOLDS).split(found["queue"], asked.label, asked.repository)
    for seen, unseen in splits:
        model = unattended.fit(asked.take(seen))
        found["behaviour"][unseen], found["queue"][unseen] = unattended.score(
            model, asked.take(unseen)
        )
        found["family's rate"][unseen] = unattended.family_rate(asked, seen, unseen)
    table: Table = {}
    rest = asked.family != "Devin"
    for name, odds in found.items():
        table[f"unattended, {name}"] = _auc_alone(asked.label, odds, asked.repository)
        table[f"unattended without Devin, {name}"] = _auc_alone(
            asked.label[rest], odds[rest], asked.repository[rest]
        )
    return table


def _auc_alone(label: NDArray[np.int64], odds: Floats, home: NDArray[Any]) -> dict[str, Any]:
    figure = with_interval(home, lambda i: auc(label[i], odds[i]))
    return {"n": len(label), "auc": figure.as_json()}
