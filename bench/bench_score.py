"""What the score costs, what evading it gains, and how fast a repository's own experience helps.

python -m bench.bench_score [DATA]

Time and memory are measured on texts made here; the tricks on agents' pull requests of DATA (the folder
of tables), which is left out where it is not given. `recall` is at the shipped threshold, in-sample where
DATA is what the model learnt from: what counts is the difference that a trick makes.
"""

import math
import random
import re
import sys
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from app.adapters.model import FILES, Models, load, shipped
from app.core.facts import Facts
from app.core.github import Account, Branch, PullRequest
from app.core.local import Outcome, fit_local

UNITS = [
    "word ",
    "- [x] `a`: **b** (c)\n",
    "<!--",
    "(",
    "https://",
    "@a",
    "`",
    "## x\n",
    "\u0430a ",
    "a",
]


def timed(run: Callable[[], object]) -> float:
    """Milliseconds of processor time."""
    started = time.process_time()
    run()
    return (time.process_time() - started) * 1000


def pull(title: str, body: str) -> Facts:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    side = Branch(ref="fix", sha="a" * 40)
    made = PullRequest(
        id=1, number=1, state="open", title=title, body=body, user=Account(id=1, login="a"),
        created_at=now, updated_at=now, head=side, base=side,
    )  # fmt: skip
    return Facts(pull=made, role=None, installed_at=now)


def costs(models: Models, texts: list[tuple[str, str]]) -> None:
    scorer = models.scorer()
    given = [pull(title, body) for title, body in texts]
    taken = sorted(timed(partial(scorer.of, one)) for one in given)
    middle, high = taken[len(taken) // 2], taken[int(0.95 * len(taken))]
    print(f"one pull request scored and explained, {len(texts)} texts:")
    print(f"  median {middle:.1f} ms, p95 {high:.1f} ms, most {taken[-1]:.1f} ms")
    for unit in UNITS:
        body = unit * (1_000_000 // len(unit))
        tracemalloc.start()
        spent = timed(lambda b=body: models.text.read("x", b))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"  1 MB of {unit!r}: {spent:.0f} ms (traced), {peak / 1e6:.1f} MB")


def typos(text: str) -> str:
    rng = random.Random(len(text))
    words = text.split(" ")
    for at in range(len(words)):
        if rng.random() < 0.1 and len(words[at]) > 4:
            cut = rng.randrange(1, len(words[at]) - 2)
            one = words[at]
            words[at] = one[:cut] + one[cut + 1] + one[cut] + one[cut + 2 :]
    return " ".join(words)


SYNONYMS = {
    "ensure": "make sure", "implement": "write", "comprehensive": "full", "enhance": "better",
    "update": "change", "add": "put in", "remove": "take out", "improve": "better", "this pr": "here I",
    "summary": "what", "testing": "tried", "changes": "what is new", "overview": "about", "fix": "mend",
}  # fmt: skip


def paraphrased(text: str) -> str:
    for word, other in SYNONYMS.items():
        text = re.sub(rf"\b{word}", other, text, flags=re.IGNORECASE)
    return text


TRICKS: dict[str, Callable[[str], str]] = {
    "as it is": lambda t: t,
    "zero-width characters": lambda t: t.replace("e", "e\u200b"),
    "homoglyphs": lambda t: t.replace("a", "\u0430").replace("o", "\u043e").replace("e", "\u0435"),
    "typos in every tenth word": typos,
    "words exchanged": paraphrased,
    "headings removed": lambda t: re.sub(r"^#{1,6} .*\n?", "", t, flags=re.MULTILINE),
    "headings and bold removed": lambda t: re.sub(r"^#{1,6} .*\n?|\*\*", "", t, flags=re.MULTILINE),
    "lists made lines": lambda t: re.sub(r"^ *[-*] ", "", t, flags=re.MULTILINE),
    "all markup removed": lambda t: re.sub(r"[#*`_>-]|\[[ x]\]", "", t),
    "body emptied": lambda _: "",
}


def tricks(models: Models, texts: list[tuple[str, str]]) -> None:
    print(f"tricks on {len(texts)} agents' pull requests: share flagged, mean change in log-odds")
    first = [models.text.read(t, b, explain=False) for t, b in texts]
    for name, change in TRICKS.items():
        found = [models.text.read(t, change(b), explain=False) for t, b in texts]
        moved = sum(f.log_odds - g.log_odds for f, g in zip(found, first, strict=True)) / len(found)
        flagged = sum(f.flagged for f in found) / len(found)
        unknown = sum(f.verdict == "unknown" for f in found) / len(found)
        print(f"  {name}: flagged {flagged:.3f}, unknown {unknown:.3f}, {moved:+.2f}")


def curve() -> None:
    print(
        "a repository's own experience: mean distance of its offset from the truth, 200 runs each"
    )
    for shift in (0.0, 1.0, 2.0):
        row = []
        for count in (0, 5, 10, 20, 50, 100, 200):
            total = 0.0
            for seed in range(200):
                rng = random.Random(seed)
                seen = []
                for _ in range(count):
                    odds = rng.gauss(-1, 1)
                    p = 1 / (1 + math.exp(-(odds + shift)))
                    seen.append(Outcome(odds=odds, unattended=rng.random() < p))
                total += abs(fit_local(seen).offset - shift)
            row.append(f"{count}: {total / 200:.2f}")
        print(f"  truth {shift:+.0f}: " + ", ".join(row))


def artefact() -> Models:
    size = sum((shipped() / name).stat().st_size for name in (*FILES, "manifest.json"))
    taken = sorted(timed(load) for _ in range(5))
    print(
        f"the artefact: {size / 1e6:.1f} MB, loaded in {taken[2]:.0f} ms (most {taken[-1]:.0f} ms)"
    )
    return load()


def main() -> None:
    models = artefact()
    if len(sys.argv) > 1:
        from app.learning import tables

        found = tables.pulls(Path(sys.argv[1]))
        if found is None:
            raise SystemExit("there is no prs.parquet")
        costs(models, tables.texts(found.rows)[::4])
        tricks(models, tables.texts(found.take(found.core & (found.label == 1)).rows)[::4])
    else:
        body = "## Summary\n" + "- Add `cache.get()` to **the** store, see #12 (fast)\n"
        costs(models, [(f"Add cache {n}", body * (1 + n % 40)) for n in range(200)])
    curve()


if __name__ == "__main__":
    main()
