"""A synthetic flood hidden in real pull requests: how well it is folded into campaigns.

Background are the titles and bodies of `prs.parquet` of `--data`. Into each of the repositories with
the most of them a flood is put: near-copies of a made-up text by several accounts, each with so many
words exchanged. Grouped is as `app.flows.campaigns` does: sketches, bands, likeness, at least three
within 14 days. Precision and recall are of pairs: two of the flood in one campaign are right, one of the
flood with one that is not is wrong. Only counts are printed.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

from bench_prs import rows
from lab import Line, begin, table

from app.adapters.minhash import MinHashes
from app.core.due_process import Campaigns
from app.core.github import Branch, PullRequest
from app.core.likeness import Sketch, alike, traits

CONFIG = Campaigns()
SIZE = 12
# What the flood's authors exchange, so that no two of its texts are the same.
WORDS = (
    *("improve", "refactor", "enhance", "optimize", "streamline", "harden", "simplify", "extend"),
    *("robust", "reliable", "consistent", "efficient", "error", "handling", "validation", "logging"),
    *("parser", "scheduler", "worker", "cache", "request", "response", "module", "function"),
    *("helper", "wrapper", "pipeline", "default", "option", "flag", "value", "input", "output"),
)  # fmt: skip
TEXT = (
    "This pull request improves the {0} of the {1} and adds {2} for all {3} so that the {4} stays {5} "
    "under load. It also makes the {6} more {7}, removes duplicated {8} code, and updates the {9}. All "
    "existing tests pass and the change was checked on several platforms before it was opened here."
)


@dataclass(frozen=True)
class One:
    """A pull request: `flood` is True for what was put in."""

    at: datetime
    author: str
    flood: bool
    sketch: Sketch
    kind: str


def pull(title: str, body: str, at: datetime) -> PullRequest:
    """Only what the sketch reads."""
    branch = Branch(ref="main", sha="a" * 40)
    return PullRequest(
        id=1, number=1, state="open", title=title, body=body, created_at=at, updated_at=at,
        head=branch, base=branch,
    )  # fmt: skip


def flood(at: datetime, exchanged: float, seed: int, sketcher: MinHashes) -> list[One]:
    """Near-copies of one text by as many accounts, each with a share of its words exchanged."""
    random = Random(seed)
    slots = [random.choice(WORDS) for _ in range(10)]
    words = TEXT.format(*slots).split()
    made = []
    for n in range(SIZE):
        own = [random.choice(WORDS) if random.random() < exchanged else w for w in words]
        when = at + timedelta(minutes=7 * n)
        found = sketcher.sketch(traits(pull("Improve error handling", " ".join(own), when), None))
        made.append(One(when, f"flood-{n}", True, found, "flood"))
    return made


def grouped(ones: Sequence[One]) -> list[set[int]]:
    """The campaigns, as sets of places in the list."""
    order = sorted(range(len(ones)), key=lambda i: ones[i].at)
    by_band: dict[int, list[int]] = defaultdict(list)
    group = list(range(len(ones)))

    def root(i: int) -> int:
        while group[i] != i:
            i = group[i]
        return i

    for i in order:
        one = ones[i]
        near = {j for band in one.sketch.bands for j in by_band[band]}
        within = timedelta(days=CONFIG.days)
        recent = [(j, ones[j].sketch) for j in near if one.at - ones[j].at <= within]
        found = alike(one.sketch, recent, CONFIG.likeness)
        if len(found) + 1 >= CONFIG.similar:
            for j in found:
                group[root(j)] = root(i)
        for band in one.sketch.bands:
            by_band[band].append(i)
    made: dict[int, set[int]] = defaultdict(set)
    for i in range(len(ones)):
        made[root(i)].add(i)
    return [g for g in made.values() if len(g) > 1]


def measure(repositories: list[list[One]], exchanged: float, sketcher: MinHashes) -> dict[str, int]:
    """Counts of pairs over all repositories, each with a flood in the middle of its time."""
    counts: Counter[str] = Counter()
    for n, background in enumerate(repositories):
        middle = sorted(one.at for one in background)[len(background) // 2]
        ones = background + flood(middle, exchanged, n, sketcher)
        for group in grouped(ones):
            for a, b in combinations(group, 2):
                both = ones[a].flood + ones[b].flood
                counts["right" if both == 2 else "mixed" if both == 1 else "others"] += 1
    counts["wanted"] = len(repositories) * SIZE * (SIZE - 1) // 2
    return counts


def background(data: Path, most: int, sketcher: MinHashes) -> list[list[One]]:
    """The repositories with the most pull requests, people's and agents' alike."""
    by_repository: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows(data):
        by_repository[row["repo_hash"]].append(row)
    largest = sorted(by_repository.values(), key=len, reverse=True)[:most]
    return [
        [
            One(
                row["created_at"],
                row["author_hash"],
                False,
                sketcher.sketch(
                    traits(pull(row["title"] or "", row["body"] or "", row["created_at"]), None)
                ),
                "person" if row["label_quality"] == "human_clean" else "other",
            )
            for row in found
        ]
        for found in largest
    ]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with prs.parquet")
    parser.add_argument("--repositories", type=int, default=60)
    options = parser.parse_args()
    sketcher = MinHashes()
    found = background(options.data, options.repositories, sketcher)
    total = sum(map(len, found))
    begin(
        f"campaigns: a flood of {SIZE} in each of {len(found)} repositories with {total:,} others"
    )
    lines = []
    for exchanged in (0.0, 0.02, 0.05, 0.1, 0.2):
        counts = measure(found, exchanged, sketcher)
        right, mixed, wanted = counts["right"], counts["mixed"], counts["wanted"]
        share = f"{exchanged:.0%} of the words exchanged"
        lines.append(Line(f"recall, {share}", right / wanted, ""))
        lines.append(Line(f"precision, {share}", right / max(right + mixed, 1), ""))
    alone = [group for ones in found for group in [*grouped(ones)] if group]
    several = sum(
        1 for ones in found for group in grouped(ones) if len({ones[i].author for i in group}) > 1
    )
    people = sum(
        1
        for ones in found
        for group in grouped(ones)
        if len({ones[i].author for i in group if ones[i].kind == "person"}) > 1
    )
    lines += [
        Line("campaigns seen in the real ones alone", len(alone), ""),
        Line("… of these by several accounts", several, ""),
        Line("… of these with more than one person", people, ""),
    ]
    table(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
