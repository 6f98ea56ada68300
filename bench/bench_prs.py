"""Real pull requests through the pipeline in observe mode, and what the default burst rule does.

Titles, bodies, times and outcomes come from the table `prs.parquet` of `--data`; everything else of
the deliveries is made up. Only counts are printed, and nothing of the table is kept: the database
is thrown away at the end.
"""

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from lab import ROOT, Line, begin, servers, table
from pipeline import Clock, Pipeline
from sqlalchemy import create_engine, text

TABLE = "prs.parquet"
COLUMNS = [
    "pr_id", "repo_hash", "author_hash", "author_is_app", "label_quality", "created_at",
    "closed_at", "merged_at", "title", "body",
]  # fmt: skip
INSTALLED = "2015-01-01T00:00:00Z"


def stable(word: str) -> int:
    """A hash of the table as a numeric id, the same in every run."""
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:6], "big")


def rows(data: Path) -> list[dict[str, Any]]:
    """The pull requests in the order in which they were opened, with numbers of ours."""
    from pyarrow import parquet

    found = parquet.read_table(data / TABLE, columns=COLUMNS).to_pylist()
    found = [r for r in found if r["created_at"] and r["author_hash"] and r["repo_hash"]]
    found.sort(key=lambda r: (r["created_at"], r["pr_id"]))
    return [{**row, "number": n} for n, row in enumerate(found, 1)]


def some(found: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """Whole repositories in an order of chance, the same in every run, until there are enough."""
    size = Counter(row["repo_hash"] for row in found)
    chosen: set[str] = set()
    taken = 0
    for name in sorted(size, key=stable):
        if taken >= limit:
            break
        chosen.add(name)
        taken += size[name]
    return [row for row in found if row["repo_hash"] in chosen]


def recording(found: list[dict[str, Any]]) -> Iterator[str]:
    """What happened in order of time: each is opened, and later closed or merged."""
    events: list[tuple[datetime, int, str, dict[str, Any]]] = []
    for row in found:
        events.append((row["created_at"], row["number"], "opened", row))
        ended = row["merged_at"] or row["closed_at"]
        if ended:
            events.append((max(ended, row["created_at"]), row["number"], "closed", row))
    events.sort(key=lambda e: (e[0], e[2] == "closed", e[1]))
    for at, number, action, row in events:
        yield json.dumps(
            {
                "at": at.isoformat(),
                "event": "pull_request",
                "guid": f"{number}-{action}",
                "payload": payload(row, at, action),
            }
        )


def payload(row: dict[str, Any], at: datetime, action: str) -> dict[str, Any]:
    author, repository = stable(row["author_hash"]), stable(row["repo_hash"])
    sha = hashlib.sha256(f"{row['number']}".encode()).hexdigest()[:40]
    user = {
        "id": author,
        "login": f"account-{author}",
        "type": "Bot" if row["author_is_app"] else "User",
    }
    merged = row["merged_at"] if action == "closed" else None
    return {
        "action": action,
        "installation": {"id": 1, "created_at": INSTALLED},
        "repository": {
            "id": repository,
            "name": f"repository-{repository}",
            "full_name": f"owner/repository-{repository}",
        },
        "sender": user,
        "pull_request": {
            "id": row["number"],
            "number": row["number"],
            "state": "closed" if action == "closed" else "open",
            "title": row["title"] or "",
            "body": row["body"],
            "user": user,
            "merged": merged is not None,
            "merged_at": merged.isoformat() if merged else None,
            "created_at": row["created_at"].isoformat(),
            "updated_at": at.isoformat(),
            "head": {"ref": f"change-{row['number']}", "sha": sha, "repo": {"id": author}},
            "base": {"ref": "main", "sha": sha[::-1], "repo": {"id": repository}},
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument(
        "--limit",
        type=int,
        default=1500,
        help="about so many, of whole repositories (0: all; that takes minutes)",
    )
    options = parser.parse_args()
    if not (options.data / TABLE).exists():
        print(f"skipped: there is no {TABLE} in {options.data}; name its folder with --data DIR")
        return
    everything = rows(options.data)
    found = some(everything, options.limit) if options.limit else everything
    begin(
        f"real pull requests: {len(found):,} of {len(everything):,} of {TABLE}, observe mode, default policy"
    )
    with servers() as running:
        engine = create_engine(running.database_url)
        pipeline = Pipeline(running.database_url, Clock())
        begun = time.monotonic()
        deliveries = pipeline.replay(recording(found))
        seconds = time.monotonic() - begun
        report(engine, found)
        troubles = pipeline.troubles()
        pipeline.close()
        with engine.connect() as tx:
            seen = tx.execute(text("SELECT count(*) FROM cases WHERE version > 0")).scalar_one()
        engine.dispose()
    table(
        [
            Line("deliveries", deliveries, ""),
            Line("pull requests a second, one process", len(found) / seconds, ""),
            Line("pull requests without a decision", len(found) - seen, "", 0),
            Line("deliveries with an error, unread or left waiting", troubles, "", 0),
        ]
    )
    if troubles or seen != len(found):
        sys.exit("pull requests failed")


def report(engine: Any, found: list[dict[str, Any]]) -> None:
    """Decisions by state, and of those that the burst rule would close, how many were merged."""
    with engine.connect() as tx:
        first = tx.execute(
            text(
                """
                SELECT state, count(*) FROM (
                    SELECT DISTINCT ON (case_id) case_id, state FROM decisions
                    WHERE state NOT IN ('ended', 'closed') ORDER BY case_id, version DESC
                ) d GROUP BY state ORDER BY 2 DESC
                """
            )
        ).all()
        flagged = set(
            tx.execute(
                text(
                    """
                    SELECT DISTINCT c.number FROM decisions d JOIN cases c ON c.id = d.case_id
                    WHERE d.decision->'findings' @> '[{"rule": "burst"}]'
                    """
                )
            ).scalars()
        )
    print("  last decision while open: " + ", ".join(f"{state} {n:,}" for state, n in first))
    hit = [row for row in found if row["number"] in flagged]
    ended = Counter(_outcome(row) for row in hit)
    everybody = Counter(row["label_quality"] for row in found)
    print(f"  the burst rule (5 in 10 minutes) would have closed {len(hit):,} of {len(found):,}")
    if not hit:
        return
    print("    of them " + ", ".join(f"{word} {n:,}" for word, n in ended.most_common()))
    accounts = {(row["repo_hash"], row["author_hash"]) for row in hit}
    print(f"    by {len(accounts):,} accounts (counted for each repository)")
    print(f"    {'by label_quality':<24} {'would close':>11} {'merged':>7} {'of all':>7}")
    for quality in everybody:
        mine = [row for row in hit if row["label_quality"] == quality]
        merged = sum(_outcome(row) == "merged" for row in mine)
        print(f"      {quality:<22} {len(mine):>11,} {merged:>7,} {everybody[quality]:>7,}")


def _outcome(row: dict[str, Any]) -> str:
    if row["merged_at"]:
        return "merged"
    return "closed unmerged" if row["closed_at"] else "still open"


if __name__ == "__main__":
    main()
