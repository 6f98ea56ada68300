"""Training of all parts, from the rows whose licence allows it, and their manifest."""

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from app.adapters.model import FILES, MANIFEST_FORMAT
from app.core.disclosure_table import TABLE_VERSION
from app.core.errors import UserError
from app.core.shape import SHAPE_VERSION
from app.core.textmodel import TextModel
from app.learning import accounts, protocol, tables, unattended
from app.learning.tables import Floats, Pulls
from app.learning.text import (
    Matrix,
    Tell,
    as_json,
    fit_bands,
    fit_parts,
    fit_stack,
    matrix,
    out_of_fold,
    weigh,
)

_USED = {
    "prs": "CC-BY-4.0 (AIDev slices; rows of purdue left out)",
    "pr_events": "CC-BY-4.0 (AIDev; rows of renato and purdue left out)",
    "accounts_rabbit_bothawk": "MIT (justanyone2023/bothawk_flask)",
}
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyarrow")


def train(data: Path, out: Path, tell: Tell, *, judge: bool = True) -> dict[str, Any]:
    """Trains, judges by the protocol and writes the artefact into `out`. The manifest comes back.

    The same rows, versions and processor give the same bytes; no time and no path is written.
    """
    pulls = tables.pulls(data)
    if pulls is None or not pulls.licensed.any():
        raise UserError("prs.parquet is missing", hint="the text model learns from it")
    pulls = pulls.take(pulls.licensed)
    if len(np.unique(pulls.label)) < 2 or len(np.unique(pulls.repository)) < 10:
        raise UserError("too few pull requests to learn from", hint="give the whole folder")
    # One thread: sums then have one order.
    with threadpool_limits(1):
        tell("features of texts")
        m = matrix(pulls)
        tell(f"text model: {len(pulls.rows)} pull requests, {len(m.groups)} word groups")
        words, trees = out_of_fold(m, pulls, protocol.FOLDS, tell)
        files = {
            "text.json": _text(pulls, m, words, trees),
            "account.json": _account(data, tell),
            "unattended.json": _unattended(data, tell),
        }
        metrics = _metrics(data, pulls, m, words, trees, tell) if judge else {}
    return _write(out, files, metrics, data, pulls)


def _text(pulls: Pulls, m: Matrix, words: Floats, trees: Floats) -> dict[str, Any]:
    core = pulls.core
    stack = fit_stack(words[core], trees[core], m.short[core], pulls.label[core])
    odds = weigh(stack, words[core], trees[core], m.short[core])
    bands = fit_bands(odds, pulls.label[core], m.short[core])
    parts = fit_parts(m, pulls)
    data = as_json(m, parts, stack, bands, float(pulls.label[core].mean()))
    _same(data, pulls, weigh(stack, *parts.score(m), m.short))
    return data


def _same(data: dict[str, Any], pulls: Pulls, odds: Floats) -> None:
    """That what ships reads as what was trained does: rounding apart."""
    model = TextModel(data)
    prior = np.log(data["prevalence"] / (1 - data["prevalence"]))
    for (title, body), wanted in list(zip(tables.texts(pulls.rows), odds, strict=True))[::50]:
        got = model.read(title, body, explain=False).log_odds + prior
        if abs(got - wanted) > 0.02:
            raise UserError(
                f"the artefact reads a text as {got:.3f}, the trained model as {wanted:.3f}",
                hint="this is a fault of Pulsegate or of an unsupported scikit-learn; please report it",
            )


def _account(data: Path, tell: Tell) -> dict[str, Any]:
    found = accounts.licensed(data)
    if found is None:
        raise UserError("accounts_rabbit_bothawk.parquet is missing", hint="give the whole folder")
    tell(f"account model: {len(found[1])} accounts")
    return accounts.fit(*found)


def _unattended(data: Path, tell: Tell) -> dict[str, Any]:
    asked = unattended.asked(data)
    if asked is None:
        raise UserError("pr_events.parquet is missing", hint="give the whole folder")
    asked = asked.take(asked.licensed)
    tell(f"unattended: {len(asked.label)} pull requests on which people wrote")
    return unattended.as_json(unattended.fit(asked))


def _metrics(  # noqa: PLR0913 - what the protocol judges
    data: Path, pulls: Pulls, m: Matrix, words: Floats, trees: Floats, tell: Tell
) -> dict[str, Any]:
    tell("protocol: grouped by repository")
    table = protocol.grouped(pulls, m, words, trees)
    tell("protocol: by time")
    table |= protocol.by_time(pulls, m, tell)
    tell("protocol: families never seen")
    table |= protocol.families_out(pulls, m, tell)
    tell("protocol: same author, style, accounts, unattended")
    table |= protocol.same_author(data, pulls)
    table |= protocol.with_style(pulls, tell)
    table |= protocol.accounts_table(data)
    table |= protocol.unattended_table(data)
    return table


def _write(
    out: Path, files: dict[str, dict[str, Any]], metrics: dict[str, Any], data: Path, pulls: Pulls
) -> dict[str, Any]:
    out.mkdir(parents=True, exist_ok=True)
    listed: dict[str, dict[str, Any]] = {}
    for name in FILES:
        raw = json.dumps(files[name], ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        (out / name).write_bytes(raw)
        listed[name] = {"sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}
    together = hashlib.sha256(
        "".join(str(f["sha256"]) for f in listed.values()).encode()
    ).hexdigest()
    manifest = {
        "format": MANIFEST_FORMAT,
        "version": f"trained-{together[:8]}",
        "shape_version": SHAPE_VERSION,
        "disclosure_table": TABLE_VERSION,
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in _LIBRARIES},
        "data": {
            name: {"sha256": tables.digest(data, name), "licence": licence}
            for name, licence in _USED.items()
        },
        "window": [str(pulls.created.min())[:10], str(pulls.created.max())[:10]],
        "rows": {
            "agents": int((pulls.label == 1).sum()),
            "people": int((pulls.label == 0).sum()),
            "repositories": len(np.unique(pulls.repository)),
        },
        "thresholds": {
            "text": files["text.json"]["bands"],
            "account": {key: files["account.json"][key] for key in ("flag", "low")},
        },
        "files": listed,
        "metrics": metrics,
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False, sort_keys=True)
    (out / "manifest.json").write_text(text + "\n", encoding="utf-8")
    return manifest
