"""Commands of `pulsegate` on fairness: `report`, `backtest` and `trust`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.core.errors import UserError

if TYPE_CHECKING:
    from app.core.report import Report

trust = typer.Typer(
    help="Who is vouched for, and who is not.\n\nExample: pulsegate trust export OWNER/REPO",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Repo = Annotated[str, typer.Argument(metavar="OWNER/REPO", help="The repository.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(report)
    app.command()(backtest)
    app.add_typer(trust, name="trust")


def report(
    repository: Repo,
    days: Annotated[int, typer.Option(min=1, max=3650, help="The last so many days.")] = 28,
    json: AsJson = False,
) -> None:
    """What each rule did or would have done, and what became of those pull requests.

    Example: pulsegate report northlight/lumen --days 28
    """
    from app.settings import load
    from app.wiring.report import report as run
    from app.wiring.servers import connected_here

    with connected_here(load()) as settings:
        _print(run(settings, repository, days), json=json)


def backtest(
    repository: Annotated[
        str, typer.Argument(metavar="OWNER/REPO", help="On GitHub, or with --recording anything.")
    ],
    last: Annotated[int, typer.Option(min=1, max=20_000, help="So many pull requests.")] = 500,
    policy: Annotated[
        Path | None, typer.Option(help="Under this configuration instead of the repository's own.")
    ] = None,
    recording: Annotated[
        Path | None, typer.Option(help="From a recording (JSON lines) instead of GitHub.")
    ] = None,
    json: AsJson = False,
) -> None:
    """What the gate would have done on the last pull requests, before anybody installs it.

    Each is decided as of its own day. Nothing is written on GitHub; public repositories need no
    token, but with GITHUB_TOKEN what was changed is read too, and GitHub's limit rises from 60
    requests an hour to 5,000. What was read is kept in the state folder, so that a run that was
    stopped goes on.

    Example: pulsegate backtest vllm-project/vllm --last 500
    """
    from app.settings import load
    from app.wiring.backtest import from_github, from_recording

    settings = load()
    text = _text(policy) if policy else None
    if recording:
        found = from_recording(settings, recording, text, _tell)
    else:
        found = from_github(settings, repository, last, text, _tell)
    if sys.stderr.isatty():
        typer.echo("", err=True)
    _print(found.report, json=json)
    if not json:
        typer.echo("\nWhat history does not say:\n")
        for line in found.unknown:
            typer.echo(f"- {line}")


@trust.command("import")
def import_(
    repository: Repo,
    file: Annotated[Path, typer.Argument(help="A VOUCHED.td list.")],
) -> None:
    """Take in a list: one account a line, `-` before those who are denied.

    Each login is looked up at GitHub and kept by its numeric id. A vouch holds for a year. What
    was said of an account already stays, unless the list says the contrary.

    Example: pulsegate trust import northlight/lumen VOUCHED.td
    """
    from app.settings import load
    from app.wiring.servers import connected_here
    from app.wiring.trust import import_list

    with connected_here(load()) as settings:
        new, wrong, nobody = import_list(
            settings, repository, file, lambda n, of: _tell("looking up", n, of)
        )
    if sys.stderr.isatty():
        typer.echo("", err=True)
    for one in wrong:
        typer.echo(f"line {one.line} {one.why}", err=True)
    for login in nobody:
        typer.echo(f"GitHub knows nobody called {login}", err=True)
    typer.echo(f"{new} accounts are new")
    if wrong or nobody:
        raise typer.Exit(1)


@trust.command()
def export(
    repository: Repo,
    denied: Annotated[
        bool, typer.Option("--denied", help="Denials too; do not publish that list.")
    ] = False,
) -> None:
    """Print a VOUCHED.td list of who is vouched for.

    Example: pulsegate trust export northlight/lumen > VOUCHED.td
    """
    from app.settings import load
    from app.wiring.servers import connected_here
    from app.wiring.trust import export_list

    with connected_here(load()) as settings:
        typer.echo(export_list(settings, repository, denied=denied), nl=False)


def _print(found: "Report", *, json: bool) -> None:
    from app.core.report import as_markdown

    typer.echo(found.model_dump_json(indent=2) if json else as_markdown(found))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {error}", hint="Name a YAML file.") from None


def _tell(what: str, count: int, of: int) -> None:
    """A line on the terminal that is written over; in a log nothing but waits."""
    if sys.stderr.isatty():
        bar = f"{'#' * (20 * count // of):<20} {count:,} of {of:,}" if of else ""
        typer.echo(f"\r{what:<12} {bar:<50}", nl=False, err=True)
    elif not of:
        typer.echo(what, err=True)
