"""Judging of the reading of answers' times, which `bench/fit_latency.py` fitted."""

from collections import defaultdict
from datetime import timedelta
from pathlib import Path

from app.core.proofs.latency import Bands, pace
from app.learning import tables


def judge(bands: Bands, data: Path) -> dict[str, dict[str, float]] | None:
    """For each class of actor, the shares of authors in a repository read as each kind."""
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
        ordered = sorted(pairs, key=lambda p: (str(p[0]), p[1]))
        read = pace([timedelta(seconds=seconds) for _, seconds in ordered], bands)
        counted[kind][read.kind] += 1
    return {
        kind: {word: round(n / sum(counts.values()), 4) for word, n in counts.items()}
        for kind, counts in sorted(counted.items())
    }
