"""Fits the bands of `app/core/proofs/latency.py`: python bench/fit_latency.py --data DIR.

Writes models/latency.json and docs/latency.svg, and prints how many of each class read as what. With
`--held-out N` it writes nothing: N times it fits on one half (of the apps' repositories, of the people)
and measures on the other, so that nobody is measured on what was fitted on them.

Fitted are rows with a licence that allows it alone (AIDev, CC-BY-4.0): answers of agents' own
accounts, and of people who reviewed agents' pull requests. All others are only measured on.
"""

import argparse
import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from scipy.stats import beta

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from app.core.proofs.latency import LEAST, Bands, pace

ROOT = Path(__file__).resolve().parent.parent
# Wide where machines are: more bands tell less, since each is bounded by how few answers it holds.
EDGES = (60.0, 180.0, 720.0, 1800.0, 3600.0, 14400.0)
SOURCE = (
    "AIDev (SAILResearch/AI_Teammates_in_SE3 and copies, CC-BY-4.0): autonomous apps, and reviewers "
    "of their pull requests"
)
CONFIDENCE = 0.95


def rows(path: Path) -> list[dict[str, Any]]:
    """A table as rows."""
    from pyarrow import parquet

    return list(parquet.read_table(path).to_pylist())


def counts(seconds: Iterable[float]) -> list[int]:
    """How many answers fall into each band."""
    found = [0] * (len(EDGES) + 1)
    for one in seconds:
        found[sum(one >= edge for edge in EDGES)] += 1
    return found


def bounds(found: Sequence[int], groups: int) -> tuple[list[float], list[float]]:
    """Jeffreys intervals of each band's share, as wide as if each group had answered ten times.

    Answers of one account in one repository are no independent draws, so that hundreds of them count
    for less.
    """
    total = sum(found)
    weight = min(1.0, 10 * groups / total)
    low, high = [], []
    for one in found:
        hits, rest = one * weight, (total - one) * weight
        low.append(float(beta.ppf((1 - CONFIDENCE) / 2, hits + 0.5, rest + 0.5)))
        high.append(float(beta.ppf(1 - (1 - CONFIDENCE) / 2, hits + 0.5, rest + 0.5)))
    return low, high


def fit(
    machines: list[dict[str, Any]], people: list[dict[str, Any]]
) -> tuple[Bands, list[float], list[float]]:
    """The bands, and the plain shares for the figure."""
    fast = counts(r["lat_first_s"] for r in machines)
    slow = counts(r["lat_s"] for r in people)
    m_low, m_high = bounds(fast, len({(r["author_hash"], r["repo_hash"]) for r in machines}))
    p_low, p_high = bounds(slow, len({r["actor_hash"] for r in people}))
    machine, person = [], []
    quickest = [f / sum(fast) for f in fast]
    plain = [s / sum(slow) for s in slow]
    middle = max(range(len(fast)), key=lambda i: quickest[i] / max(plain[i], 1e-9))
    for i in range(len(fast)):
        against = quickest[i] > plain[i]
        a, b = (m_low[i], p_high[i]) if against else (m_high[i], p_low[i])
        if (against and a < b) or (not against and a > b):
            a = b = plain[i] or 1e-3  # the data do not tell the two apart there
        if i > middle and against:
            a = b = plain[i] or 1e-3  # slowness never counts against anybody
        machine.append(round(a, 5))
        person.append(round(b, 5))
    return (
        Bands(edges=EDGES, machine=tuple(machine), person=tuple(person), source=SOURCE),
        quickest,
        plain,
    )


def sequences(
    found: list[dict[str, Any]], who: str, field: str, when: str
) -> dict[str, list[timedelta]]:
    """Each account's answers in order, in each repository where that is known."""
    by: dict[str, list[tuple[Any, float]]] = defaultdict(list)
    for row in found:
        if row[field] is not None and row[who]:
            by[f"{row[who]} {row.get('repo_hash', '')}"].append((row.get(when) or 0, row[field]))
    return {
        name: [timedelta(seconds=s) for _, s in sorted(times, key=lambda t: str(t[0]))]
        for name, times in by.items()
    }


def _names() -> list[str]:
    """The bands in words."""
    at = [f"{e / 60:g} min" if e < 3600 else f"{e / 3600:g} h" for e in EDGES]
    between = [
        f"{a.split()[0] if a.split()[1] == b.split()[1] else a} - {b}" for a, b in pairwise(at)
    ]
    return [f"< {at[0]}", *between, f"> {at[-1]}"]


def figure(quickest: Sequence[float], plain: Sequence[float], bands: Bands) -> str:
    """Both densities over the bands, and which bands count for what."""
    names = _names()
    top, width, height = max(*quickest, *plain), 64, 180
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width * len(names) + 60} 260" '
        'font-family="sans-serif" font-size="11">',
        "<title>How soon agents' own accounts and reviewers answer</title>",
    ]
    for i, name in enumerate(names):
        x = 40 + i * width
        for offset, share, colour in ((6, quickest[i], "#b3541e"), (30, plain[i], "#2c6e63")):
            tall = height * share / top
            parts.append(
                f'<rect x="{x + offset}" y="{200 - tall:.1f}" width="22" height="{tall:.1f}" fill="{colour}"/>'
            )
        ratio = bands.machine[i] / bands.person[i]
        parts.append(f'<text x="{x + 29}" y="215" text-anchor="middle">{escape(name)}</text>')
        parts.append(
            f'<text x="{x + 29}" y="230" text-anchor="middle" fill="#555">×{ratio:.2f}</text>'
        )
    parts.append('<text x="40" y="250" fill="#b3541e">agents\' own accounts</text>')
    parts.append('<text x="190" y="250" fill="#2c6e63">people who review</text>')
    parts.append(
        '<text x="330" y="250" fill="#555">× counts one answer so many times for a machine</text></svg>'
    )
    return "\n".join(parts) + "\n"


def half(name: str, seed: int) -> bool:
    """Which half of a split an account or repository is in."""
    return hashlib.sha256(f"{seed} {name}".encode()).digest()[0] < 128


def print_held_out(
    replies: list[dict[str, Any]],
    machines: list[dict[str, Any]],
    people: list[dict[str, Any]],
    splits: int,
) -> None:
    """Shares of each class over all splits, of those who were not fitted on."""
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for seed in range(splits):
        bands, _, _ = fit(
            [r for r in machines if half(r["repo_hash"], seed)],
            [r for r in people if half(r["actor_hash"], seed)],
        )
        for name in ("autonomous_app", "agent_under_human_account", "human"):
            others = [
                r
                for r in replies
                if r["actor_class"] == name
                # Of the two small classes nobody is fitted on: they count whole in every split.
                and (name != "autonomous_app" or not half(r["repo_hash"], seed))
            ]
            _count(found, name, sequences(others, "author_hash", "lat_first_s", "at"), bands)
        others = [r for r in people if not half(r["actor_hash"], seed)]
        _count(
            found, "reviewers (people)", sequences(others, "actor_hash", "lat_s", "pr_id"), bands
        )
    for (name, when), kinds in found.items():
        total = sum(kinds.values())
        shares = {kind: round(kinds[kind] / total, 3) for kind in ("alive", "unknown", "machine")}
        print(f"{name}, {when}: {total / splits:.0f} in each split: {json.dumps(shares)}")


def _count(
    found: dict[tuple[str, str], Counter[str]],
    name: str,
    answers: dict[str, list[timedelta]],
    bands: Bands,
) -> None:
    for times in answers.values():
        if len(times) >= LEAST:
            for when, some in (
                ("after three", times[:LEAST]),
                ("after ten", times),
            ):
                found[name, when][pace(some, bands).kind] += 1
                if when == "after three":
                    within = all(60 <= t.total_seconds() < 900 for t in some)
                    found[name, "three within 1-15 min"]["machine" if within else "unknown"] += 1


def main() -> None:
    """Fits, writes, measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--held-out", type=int, default=0, metavar="N", help="splits, seeds 0 … N-1"
    )
    options = parser.parse_args()
    replies = rows(options.data / "reply_latency.parquet")
    reviewers = rows(options.data / "reviewer_latency.parquet")
    machines = [
        r for r in replies if r["actor_class"] == "autonomous_app" and r["lat_first_s"] is not None
    ]
    people = [r for r in reviewers if r["agent"] != "Human" and r["lat_s"] is not None]
    if options.held_out:
        print_held_out(replies, machines, people, options.held_out)
        return
    bands, quickest, plain = fit(machines, people)
    (ROOT / "models" / "latency.json").write_text(bands.model_dump_json(indent=1) + "\n")
    (ROOT / "docs" / "latency.svg").write_text(figure(quickest, plain, bands))
    print(f"fitted on {len(machines):,} answers of agents and {len(people):,} of people")
    for name in ("autonomous_app", "agent_under_human_account", "human"):
        found = [r for r in replies if r["actor_class"] == name]
        _print(name, sequences(found, "author_hash", "lat_first_s", "at"), bands)
    _print("reviewers (people)", sequences(people, "actor_hash", "lat_s", "pr_id"), bands)


def _print(name: str, found: dict[str, list[timedelta]], bands: Bands) -> None:
    long = {who: times for who, times in found.items() if len(times) >= LEAST}
    kinds = Counter(pace(times, bands).kind for times in long.values())
    three = Counter(pace(times[:LEAST], bands).kind for times in long.values())
    print(
        f"{name}: {len(found)} accounts, {len(long)} with {LEAST} answers or more: "
        f"{json.dumps(kinds)}; after three: {json.dumps(three)}"
    )


if __name__ == "__main__":
    main()
