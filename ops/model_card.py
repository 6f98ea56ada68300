"""Keeps the figures of docs/model-card.md as the shipped manifest has them.

python -m ops.model_card           # writes them
python -m ops.model_card --check   # exits with 1 where they are not current
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CARD = ROOT / "docs" / "model-card.md"
START, END = "<!-- figures: python -m ops.model_card -->\n", "<!-- end of figures -->\n"


def _cell(figure: Any) -> str:
    if not isinstance(figure, list) or figure[0] is None:
        return "–"
    value, low, high = figure
    return f"{value:.3f}" + ("" if low is None else f" ({low:.3f}–{high:.3f})")


def figures(manifest: dict[str, Any]) -> str:
    """The tables."""
    rows, metrics = manifest["rows"], manifest["metrics"]
    libraries = ", ".join(f"{name} {v}" for name, v in manifest["libraries"].items())
    lines = [
        f"Version `{manifest['version']}`, trained on {rows['agents']:,} agents' and "
        f"{rows['people']:,} people's pull requests of {rows['repositories']:,} repositories, opened "
        f"{manifest['window'][0]} to {manifest['window'][1]}, with {libraries}.",
        "",
        "| judged on | rows | AUC | agents found at 1 % of people flagged |",
        "|---|--:|--:|--:|",
    ]
    for name, found in metrics.items():
        if "auc" in found:
            recall = _cell(found.get("recall_at_1pct"))
            lines.append(f"| {name} | {found.get('n', '')} | {_cell(found['auc'])} | {recall} |")
    lines += [
        "",
        "| at the thresholds of training folds | grouped by repository | time split |",
        "|---|--:|--:|",
    ]
    grouped, late = metrics.get("grouped by repository", {}), metrics.get("time split", {})
    for key, words in (
        ("people_flagged_at_threshold", "people flagged"),
        ("recall_at_threshold", "agents found"),
        ("unknown_share", "unknown"),
        ("covered_at_90", "covered by the band of 90 %"),
        ("ece", "expected calibration error"),
    ):
        lines.append(f"| {words} | {_cell(grouped.get(key))} | {_cell(late.get(key))} |")
    precision = grouped.get("precision", {})
    told = ", ".join(f"{value:.2f} where {share} are agents" for share, value in precision.items())
    lines += ["", f"Precision at that threshold: {told}.", ""]
    return "\n".join(lines)


def page(text: str) -> str:
    """The card with its figures as they should be."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    manifest = json.loads((ROOT / "models" / "manifest.json").read_text())
    return f"{before}{START}\n{figures(manifest)}\n{END}{after}"


def main() -> int:
    """Writes, or with --check only compares."""
    text = CARD.read_text()
    current = page(text)
    if "--check" in sys.argv:
        return int(text != current)
    CARD.write_text(current)
    return 0


if __name__ == "__main__":
    sys.exit(main())
