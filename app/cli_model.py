"""Commands of `pulsegate` on the models of the score: `train`, `evaluate` and `score`."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

Data = Annotated[Path, typer.Option("--data", help="The folder with the tables.")]
Models = Annotated[
    Path | None, typer.Option("--models", help="Models of this folder instead of the shipped ones.")
]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(train)
    app.command()(evaluate)
    app.command()(score)


def train(
    data: Data,
    out: Annotated[Path, typer.Option(help="Where the models go.")] = Path("models"),
    judge: Annotated[
        bool, typer.Option(help="Judge by the whole protocol too, for the manifest.")
    ] = True,
) -> None:
    """Train the models from the tables of a folder; the same rows give the same bytes.

    Only rows whose licence allows it are learnt from. Takes some minutes; progress goes to stderr.

    Example: pulsegate train --data ../data --out models
    """
    from app.learning.tables import folder
    from app.learning.train import train as run

    manifest = run(folder(data), out, _progress(), judge=judge)
    for name, figures in manifest["metrics"].items():
        typer.echo(_row(name, figures))
    size = sum(f["bytes"] for f in manifest["files"].values())
    typer.echo(f"{manifest['version']} is in {out} ({size:,} bytes)")


def evaluate(
    data: Data,
    json: Annotated[Path | None, typer.Option("--json", help="Write all figures there.")] = None,
    figures: Annotated[Path | None, typer.Option(help="Draw figures (SVG) into there.")] = None,
    models: Models = None,
) -> None:
    """Judge the shipped models on every table that a folder has; nothing is trained.

    Prints each figure with its 95 % interval (bootstrap over repositories), then the protocol's
    table as it was measured when the models were trained.

    Example: pulsegate evaluate --data ../data --json figures.json --figures figures
    """
    from json import dumps

    from app.adapters.model import load
    from app.learning.evaluate import evaluate as run
    from app.learning.figures import write
    from app.learning.tables import folder

    loaded = load(models)
    found = run(loaded, folder(data), _progress())
    typer.echo(f"The shipped models ({loaded.version}) on {data}")
    _tell(found.shipped, found.intervals)
    for note in found.notes:
        typer.echo(f"note: {note}")
    typer.echo(
        "The protocol, measured at training by models that had not seen what they are judged on"
    )
    for name, row in loaded.manifest["metrics"].items():
        typer.echo(_row(name, row))
    if json is not None:
        text = dumps(found.as_json(loaded.manifest["metrics"]), indent=2, ensure_ascii=False)
        json.write_text(text + "\n", encoding="utf-8")
    if figures is not None:
        for file in write(found, figures):
            typer.echo(f"drawn: {file}")


def score(
    pull: Annotated[
        str, typer.Argument(help="The address of a pull request, or - for JSON lines from stdin.")
    ],
    json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
    models: Models = None,
) -> None:
    """Score a pull request and say why, in the words of the check run.

    A JSON line is a pull request as GitHub writes it, or just {"title": …, "body": …}. Without a
    token, GitHub allows 60 requests an hour; GITHUB_TOKEN raises that.

    Example: pulsegate score https://github.com/octocat/hello-world/pull/1
    """
    from app.adapters.model import load
    from app.settings import load as settings
    from app.wiring.score import from_address, from_lines, told

    loaded = load(models)
    scored = (
        from_lines(loaded, sys.stdin) if pull == "-" else from_address(loaded, settings(), pull)
    )
    for one in scored:
        typer.echo(one.as_json() if json else told(one))


def _progress() -> Callable[[str], None]:
    started = time.monotonic()

    def say(words: str) -> None:
        typer.echo(f"{time.monotonic() - started:6.0f} s  {words}", err=True)

    return say


def _span(figure: Any) -> str:
    """A figure with its interval, as lists of three have it."""
    if isinstance(figure, list) and len(figure) == 3:
        value, low, high = figure
        if value is None:
            return "-"
        return f"{value:.3f}" + (f" ({low:.3f}–{high:.3f})" if low is not None else "")
    if isinstance(figure, dict):
        return ", ".join(f"{key} {_span(value)}" for key, value in figure.items())
    return "-" if figure is None else str(figure)


def _row(name: str, figures: dict[str, Any]) -> str:
    return f"  {name}: " + "; ".join(
        f"{key.replace('_', ' ')} {_span(value)}" for key, value in figures.items()
    )


def _tell(values: dict[str, Any], intervals: dict[str, Any], name: str = "") -> None:
    """Prints numbers, with their intervals where there are any, a table or part of it a line."""
    flat = {k: intervals.get(k, v) for k, v in values.items() if not isinstance(v, dict)}
    if flat:
        typer.echo(_row(name or "all", flat))
    for key, value in values.items():
        if isinstance(value, dict):
            inner = intervals.get(key)
            _tell(
                value, inner if isinstance(inner, dict) else {}, f"{name}, {key}" if name else key
            )
