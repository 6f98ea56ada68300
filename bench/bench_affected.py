"""The index over vLLM's whole tree: what it resolves, how sharp it is, and how long it takes.

Goals: 98 of 100 registered operators resolved to their source, at the median at most 10 test files
for a changed operator, a cold index under 10 s and a warm one under 1 s. vLLM's source distribution
comes from the package index by pip and is unpacked, never built or run; it is kept in a cache folder
outside of git (--cache).
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from app.adapters.affected import AffectedKernels
from app.adapters.facts_cache import FactsCache
from app.adapters.git_tree import GitTree
from app.kernels.affected.changes import Changed
from app.kernels.affected.config import Config
from app.kernels.affected.facts import FileFacts
from app.kernels.affected.index import Index
from app.kernels.affected.languages import is_device_source
from app.kernels.affected.reach import files_that_test
from app.kernels.affected.resolve import Trees, resolve

COLD, WARM = 10.0, 1.0  # seconds
RESOLVED, TESTS = 0.98, 10
REGISTERED = {"cpp", "pybind", "python"}  # what a line registers as an operator


def source(cache: Path, version: str) -> Path:
    """The unpacked source distribution of vLLM, fetched once.

    pip wants to run the build backend for the metadata even when it only downloads. It is given a
    Python that has none, so that it stops there with the sources unpacked and nothing of them run.
    """
    kept = cache / f"vllm-{version}"
    if kept.exists():
        return kept
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        bare, unpacked = Path(folder) / "bare", Path(folder) / "unpacked"
        venv.create(bare, with_pip=False)
        unpacked.mkdir()
        argv = [
            sys.executable, "-m", "pip", "--python", str(bare / "bin" / "python"), "download",
            "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--no-clean", "--dest",
            str(unpacked / "wheels"), f"vllm=={version}",
        ]  # fmt: skip
        environment = os.environ | {"TMPDIR": str(unpacked)}
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
        found = list(unpacked.glob("pip-download-*/vllm_*"))
        if not found:
            sys.exit(
                f"pip could not fetch vllm {version}:\n{done.stdout[-500:]}{done.stderr[-500:]}"
            )
        shutil.move(found[0], kept)
    return kept


def repository(tree: Path) -> Path:
    """The tree as a git repository with one commit."""
    if not (tree / ".git").exists():
        name = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        for argv in (["init", "-q"], ["add", "-A", "-f"], [*name, "commit", "-q", "-m", "vLLM"]):
            subprocess.run(["git", "-c", "core.autocrlf=false", *argv], cwd=tree, check=True)
    return tree


def timed(what: Callable[[], Index]) -> tuple[Index, float, float]:
    """What it made; wall-clock and processor seconds, those of children too."""
    before, begun = os.times(), time.perf_counter()
    made = what()
    after, wall = os.times(), time.perf_counter() - begun
    return made, wall, sum(after[:4]) - sum(before[:4])


def one_change(index: Index, path: str) -> int:
    """How many operators a change of a whole file leads to."""
    facts = index.files[path]
    old = FileFacts(symbols=facts.symbols, includes=facts.includes, rest="other")
    found = resolve([Changed(path, path, old, facts)], Trees(index, lambda: index), Config())
    return len(found.files[0].operators)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/pulsegate/bench")
    parser.add_argument("--version", default="0.33.0")
    options = parser.parse_args()
    git = GitTree(repository(source(options.cache, options.version)))
    head = git.commit("HEAD")
    missed = []

    with tempfile.TemporaryDirectory() as folder:

        def index() -> Index:
            cache = FactsCache(Path(folder) / "facts.sqlite", datetime.now(UTC).date())
            try:
                return AffectedKernels(git, cache, lambda *_: None).index(head)
            finally:
                cache.close()

        made, cold, cold_cpu = timed(index)
        rounds = [timed(index)[1:] for _ in range(3)]
        warm, warm_cpu = min(rounds)

    load = os.getloadavg()[0]
    print(f"vLLM {options.version}: {len(made.files):,} source files; load average {load:.1f}")
    print(f"index, cold: {cold:5.2f} s ({cold_cpu:.2f} s of processors)   goal < {COLD:.0f} s")
    print(f"index, warm: {warm:5.2f} s ({warm_cpu:.2f} s of processors)   goal < {WARM:.0f} s")
    missed += [name for name, s, goal in (("cold", cold, COLD), ("warm", warm, WARM)) if s >= goal]

    registered = [o for o in made.operators.values() if o.kind in REGISTERED]
    by_name = len({(o.namespace, o.name) for o in registered})
    sourced = sum(bool(o.sources) for o in registered)
    print(f"\noperators registered: {by_name}; resolved to their source: {sourced}", end="")
    print(f" ({sourced / len(registered):.1%})   goal ≥ {RESOLVED:.0%}")
    print("not resolved:", ", ".join(o.id for o in registered if not o.sources) or "none")
    missed += ["resolved"] if sourced / len(registered) < RESOLVED else []

    print(
        "\n                operators  sourced  no test  median  of tested  90 %   most  test files"
    )
    for name, kinds in (
        ("registered", REGISTERED), ("  in C++", {"cpp", "pybind"}), ("  in Python", {"python"}),
        ("layers", {"layer"}), ("kernels", {"kernel"}),
    ):  # fmt: skip
        chosen = [o for o in made.operators.values() if o.kind in kinds]
        counts = sorted(len(files_that_test(made, o)) for o in chosen)
        tested = [n for n in counts if n]
        median = statistics.median(counts)
        print(
            f"{name:<16}{len(chosen):>9}{sum(bool(o.sources) for o in chosen):>9}"
            f"{len(counts) - len(tested):>9}{median:>8.1f}{statistics.median(tested):>11.1f}"
            f"{counts[int(len(counts) * 0.9)]:>6}{counts[-1]:>7}"
        )
        if name == "registered" and median > TESTS:
            missed.append("tests")

    devices = [path for path in made.files if is_device_source(path) and path.startswith("csrc/")]
    spread = sorted(one_change(made, path) for path in devices)
    print(
        f"\nwhole-file changes of {len(devices)} device sources: operators at the median "
        f"{statistics.median(spread):.0f}, 90 % {spread[int(len(spread) * 0.9)]}, most {spread[-1]}, "
        f"leading to none {spread.count(0)}"
    )
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
