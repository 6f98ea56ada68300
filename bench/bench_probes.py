"""What the probe would ask of a repository's own changes: python bench/bench_probes.py --git DIR.

Takes the last commits of a git repository that have one parent (where pull requests are squashed,
each is one), and asks of each what the gate would ask. Prints how many are asked, by kind, how long
it takes, and with --show N some of the questions, to be read by eye.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from app.core.proofs.diff import from_git
from app.core.proofs.probe import Probe
from app.core.proofs.question import question

ROOT = Path(__file__).resolve().parent.parent


def git(folder: Path, *words: str) -> str:
    """What a git command prints; undecodable bytes replaced."""
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        check=True,
        capture_output=True,
    )
    return done.stdout.decode(errors="replace")


def changes(folder: Path, last: int) -> list[tuple[str, str, str]]:
    """The last commits with one parent: sha, title, body."""
    form = "--format=%H%x1f%s%x1f%b%x1e"
    found = git(folder, "log", "--no-merges", "--min-parents=1", f"-{last}", form, "HEAD")
    parts = [one.strip("\n").split("\x1f") for one in found.split("\x1e") if one.strip()]
    return [(one[0], one[1], one[2]) for one in parts]


def main() -> None:
    """Asks, counts, shows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--git", type=Path, action="append", help="repeatable; else this repository"
    )
    parser.add_argument("--last", type=int, default=200, help="commits of each repository")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="so many questions, picked at random")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    asked: list[tuple[str, str, Probe]] = []
    total, slowest, report = 0, 0.0, {}
    for folder in options.git or [ROOT]:
        mine: list[Probe] = []
        found = changes(folder, options.last)
        for sha, title, body in found:
            patches = from_git(git(folder, "show", "--format=", "--no-color", "-U3", sha))
            started = time.perf_counter()
            probe = question(patches, title, body, chance.randrange(1 << 30))
            slowest = max(slowest, time.perf_counter() - started)
            if probe is not None:
                mine.append(probe)
                asked.append((sha, title, probe))
        total += len(found)
        kinds = dict(Counter(one.kind for one in mine).most_common())
        name = folder.parent.name if folder.name in {"repo", ".git"} else folder.name
        report[name] = {"changes": len(found), "asked": len(mine), "kinds": kinds}
    share = len(asked) / total if total else 0.0
    whole = {"changes": total, "asked": len(asked), "share": round(share, 3)}
    whole["slowest_ms"] = round(slowest * 1000, 1)
    if options.json:
        sys.stdout.write(json.dumps({"all": whole, "repositories": report}) + "\n")
        return
    for name, one in report.items():
        sys.stdout.write(f"{name}: {one}\n")
    sys.stdout.write(f"all: {whole}\n")
    for sha, title, probe in chance.sample(asked, min(options.show, len(asked))):
        sys.stdout.write(f"\n{sha[:10]} {title[:90]}\n   [{probe.kind}] {probe.sentence}\n")


if __name__ == "__main__":
    main()
