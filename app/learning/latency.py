"""Fitting and judging of the reading of answers' times."""

from collections import defaultdict
from pathlib import Path

from app.core.latency import LATENCY_FORMAT, LatencyModel, steps_of
from app.learning import tables


def fit(data: Path) -> LatencyModel | None:
    """From rows under a licence: apps' answers, and people's answers on agents' pull requests."""
    replies, reviewers = tables.read(data, "reply_latency"), tables.read(data, "reviewer_latency")
    events = tables.read(data, "pr_events", ["pr_id", "src"])
    if replies is None or reviewers is None or events is None:
        return None
    without = {e["pr_id"] for e in events if not tables.licensed(e["src"])}
    machines = [
        float(r["lat_last_s"])
        for r in replies
        if r["actor_class"] == "autonomous_app" and r["pr_id"] not in without
    ]
    people = [
        float(r["lat_s"]) for r in reviewers if r["agent"] != "Human" and r["pr_id"] not in without
    ]
    return LatencyModel(steps_of(machines, people))


def as_json(model: LatencyModel) -> dict[str, object]:
    """As `LatencyModel.from_json` reads it."""
    return {"format": LATENCY_FORMAT, "steps": list(model.steps)}


def judge(model: LatencyModel, data: Path) -> dict[str, dict[str, float]] | None:
    """For each class of actor, the shares of authors in a repository read as alive, unknown, machine."""
    rows = tables.read(data, "reply_latency")
    if rows is None:
        return None
    answers: dict[tuple[str, str, str], list[tuple[object, float]]] = defaultdict(list)
    for row in rows:
        key = (row["actor_class"], row["repo_hash"], row["author_hash"])
        answers[key].append((row["at"], float(row["lat_last_s"])))
    counted: dict[str, dict[str, int]] = defaultdict(
        lambda: {"alive": 0, "unknown": 0, "machine": 0}
    )
    for (kind, _, _), pairs in answers.items():
        ordered = [seconds for _, seconds in sorted(pairs, key=lambda p: (str(p[0]), p[1]))]
        counted[kind][model.read(ordered)] += 1
    return {
        kind: {word: round(n / sum(counts.values()), 4) for word, n in counts.items()}
        for kind, counts in sorted(counted.items())
    }
