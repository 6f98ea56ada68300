"""Figures of a judgement as SVG: ROC at low false-positive rates, calibration, families, months."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.core.textmodel import sigmoid
from app.learning.evaluate import Judged
from app.learning.metrics import recall_at
from app.learning.tables import Floats

_WIDE, _HIGH, _EDGE = 560, 360, 56
Points = Sequence[tuple[float, float]]


def write(found: Judged, folder: Path) -> list[Path]:
    """All figures that the rows allow; none without pull requests of both classes."""
    pulls = found.pulls
    if pulls is None or len(np.unique(pulls.label)) < 2:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    label, odds = pulls.label, found.odds
    people = label == 0
    drawn = {
        "roc.svg": _lines(
            "Agents found, by people flagged (shipped model, text alone)",
            ("share of people flagged", 0.05), ("share of agents found", 1.0),
            [("", _roc(label, odds))],
        ),
        "calibration.svg": _lines(
            "Calibration where half are agents",
            ("said", 1.0), ("found", 1.0),
            [("perfect", [(0, 0), (1, 1)]), ("model", _calibration(label, odds))],
        ),
        "families.svg": _bars(
            "Agents found at 1 % of people flagged, by family",
            [
                (str(f), recall_at(label[m], odds[m]))
                for f in np.unique(pulls.family[~people])
                for m in [people | (pulls.family == f)]
            ],
        ),
        "months.svg": _bars(
            "Agents found at 1 % of people flagged, by month of opening",
            _months(label, odds, pulls.created),
        ),
    }  # fmt: skip
    for name, svg in drawn.items():
        (folder / name).write_text(svg, encoding="utf-8")
    return [folder / name for name in drawn]


def _months(
    label: NDArray[np.int64], odds: Floats, created: NDArray[np.datetime64]
) -> list[tuple[str, float]]:
    months = created.astype("datetime64[M]").astype(str)
    people = label == 0
    return [
        (month, recall_at(label[mask], odds[mask]))
        for month in np.unique(months[~people])
        for mask in [people | (months == month)]
    ]


def _roc(label: NDArray[np.int64], odds: Floats) -> Points:
    order = np.argsort(-odds, kind="stable")
    hits = np.cumsum(label[order]) / max(1, label.sum())
    false = np.cumsum(1 - label[order]) / max(1, (1 - label).sum())
    inside = false <= 0.05
    return [(0.0, 0.0), *zip(false[inside].tolist(), hits[inside].tolist(), strict=True)]


def _calibration(label: NDArray[np.int64], odds: Floats) -> Points:
    probability = np.array([sigmoid(x) for x in odds.tolist()])
    weight = np.where(label == 1, 1 / max(1, label.sum()), 1 / max(1, (1 - label).sum()))
    place = np.minimum((probability * 10).astype(int), 9)
    found = []
    for one in range(10):
        here = place == one
        if here.any():
            share = weight[here] / weight[here].sum()
            found.append((float(share @ probability[here]), float(share @ label[here])))
    return found


def _frame(title: str, inner: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" role="img" '
        f'font-family="sans-serif" font-size="12"><title>{escape(title)}</title>'
        f'<rect width="{_WIDE}" height="{_HIGH}" fill="#fff"/>'
        f'<text x="{_EDGE}" y="24" font-size="14">{escape(title)}</text>{inner}</svg>\n'
    )


def _lines(
    title: str, x: tuple[str, float], y: tuple[str, float], series: Sequence[tuple[str, Points]]
) -> str:
    inner_w, inner_h = _WIDE - 2 * _EDGE, _HIGH - 2 * _EDGE
    base = _HIGH - _EDGE
    parts = []
    for step in range(6):
        share = step / 5
        at_x, at_y = _EDGE + share * inner_w, base - share * inner_h
        parts.append(
            f'<line x1="{at_x:.1f}" y1="{base}" x2="{at_x:.1f}" y2="{_EDGE}" stroke="#ddd"/>'
            f'<line x1="{_EDGE}" y1="{at_y:.1f}" x2="{_WIDE - _EDGE}" y2="{at_y:.1f}" stroke="#ddd"/>'
            f'<text x="{at_x:.1f}" y="{base + 16}" text-anchor="middle">{share * x[1]:.2g}</text>'
            f'<text x="{_EDGE - 6}" y="{at_y + 4:.1f}" text-anchor="end">{share * y[1]:.1f}</text>'
        )
    for (name, points), colour in zip(series, ("#1f5fa8", "#b4541a"), strict=False):
        path = " ".join(
            f"{_EDGE + min(px / x[1], 1) * inner_w:.1f},{base - min(py / y[1], 1) * inner_h:.1f}"
            for px, py in points
        )
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>')
        if points and name:
            end_x = _EDGE + points[-1][0] / x[1] * inner_w - 4
            end_y = base - points[-1][1] / y[1] * inner_h + 14
            parts.append(
                f'<text x="{end_x:.1f}" y="{end_y:.1f}" text-anchor="end" fill="{colour}">{name}</text>'
            )
    parts.append(
        f'<text x="{_WIDE / 2}" y="{_HIGH - 14}" text-anchor="middle">{escape(x[0])}</text>'
        f'<text x="14" y="{_HIGH / 2}" transform="rotate(-90 14 {_HIGH / 2})" '
        f'text-anchor="middle">{escape(y[0])}</text>'
    )
    return _frame(title, "".join(parts))


def _bars(title: str, values: Sequence[tuple[str, float]]) -> str:
    height = min(28, (_HIGH - 2 * _EDGE) / max(1, len(values)))
    parts = []
    for number, (name, value) in enumerate(values):
        top = _EDGE + number * height
        wide = (0.0 if np.isnan(value) else value) * (_WIDE - 4 * _EDGE)
        parts.append(
            f'<text x="{2 * _EDGE - 6}" y="{top + height * 0.7:.1f}" text-anchor="end">{escape(name)}'
            f'</text><rect x="{2 * _EDGE}" y="{top + 3:.1f}" width="{wide:.1f}" '
            f'height="{height - 6:.1f}" fill="#1f5fa8"/>'
            f'<text x="{2 * _EDGE + wide + 6:.1f}" y="{top + height * 0.7:.1f}">{value:.2f}</text>'
        )
    return _frame(title, "".join(parts))
