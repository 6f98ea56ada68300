"""Commands of `pulsegate` on kernels: `kernels affected`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

kernels = typer.Typer(
    help="Compute kernels.\n\nExample: pulsegate kernels affected --base main --head HEAD",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@kernels.callback()
def _root() -> None:
    """Compute kernels.

    Example: pulsegate kernels affected --base main --head HEAD
    """


@kernels.command()
def affected(  # noqa: PLR0913 - its options
    base: Annotated[str, typer.Option(help="The branch or commit it is to be merged into.")],
    head: Annotated[str, typer.Option(help="The branch or commit of the change.")],
    repo: Annotated[Path, typer.Option(help="The folder of a git repository.")] = Path(),
    config: Annotated[
        Path | None,
        typer.Option(help="This TOML file instead of the base's .github/pulsegate-kernels.toml."),
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="The cache's file instead of the user's own.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Which operators a change touches, which tests name them, and why.

    Nothing of the repository is run or checked out: its files are read by git and parsed.

    Example: pulsegate kernels affected --repo ~/vllm --base main --head my-branch
    """
    from app.kernels.affected.answer import as_text
    from app.wiring.kernels import affected as run

    found = run(repo, base, head, config=config, cache=cache, tell=_tell)
    typer.echo(found.model_dump_json(indent=2) if json else as_text(found))


def _tell(what: str, count: int, of: int) -> None:
    """A line on the terminal that is written over; in a log nothing."""
    if sys.stderr.isatty() and (count % 50 == 0 or count == of):
        typer.echo(f"\r{what} {count:,} of {of:,}", nl=count == of, err=True)
