"""`pulsegate`: the command line.

The base install has only pydantic and typer, so what a command needs is imported inside it.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from app import __version__
from app import cli_due_process as due_process
from app import cli_model as model
from app.cli_kernels import kernels
from app.core.errors import RetryLater, UserError

if TYPE_CHECKING:
    from app.settings import Settings

USER_ERROR = 2

app = typer.Typer(
    name="pulsegate",
    help=("A gate for pull requests that asks whether somebody is there.\n\nExample: pulsegate up"),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
db = typer.Typer(
    help="The database's schema.\n\nExample: pulsegate db upgrade",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(db, name="db")
config = typer.Typer(
    help="The configuration of a repository.\n\nExample: pulsegate config check FILE",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(config, name="config")
audit = typer.Typer(
    help="The audit log.\n\nExample: pulsegate audit export",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(audit, name="audit")
due_process.register(app)
app.add_typer(kernels, name="kernels")
model.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pulsegate {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """A gate for pull requests that asks whether somebody is there.

    Example: pulsegate up
    """


@app.command()
def up() -> None:
    """Run everything in one command: servers, migrations, web, workers and beat.

    Without DATABASE_URL and REDIS_URL it brings its own PostgreSQL and Valkey. Ctrl-C stops all.

    Example: PORT=8001 pulsegate up
    """
    from app.wiring.up import up as run
    from app.wiring.welcome import welcome

    settings = _settings()
    run(settings, welcome(settings))


@app.command()
def web(
    setup_link: Annotated[
        bool, typer.Option(help="Print the link to /setup while there is no App.")
    ] = True,
) -> None:
    """Run the HTTP service alone, on HOST and PORT.

    Example: pulsegate web
    """
    import uvicorn

    from app.wiring.schema import require
    from app.wiring.servers import connected
    from app.wiring.welcome import setup_lines

    settings = _settings()
    with connected(settings) as env:
        os.environ.update(env)
        require(env["DATABASE_URL"])
        for line in setup_lines(_settings()) if setup_link else ():
            typer.echo(line)
        uvicorn.run(
            "app.web.app:create_app",
            factory=True,
            host=settings.host,
            port=settings.port,
            loop="uvloop",
            http="httptools",
            log_config=None,  # app.logs has set it up
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=5,
        )


@app.command()
def worker(
    queues: Annotated[
        str, typer.Option(help="The queues to serve, with commas between.")
    ] = "triage,sweep,perform,mail",
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Processes in its pool.")] = 2,
) -> None:
    """Run a worker for some queues.

    Example: pulsegate worker --queues perform --concurrency 4
    """
    from app.wiring.schema import require
    from app.wiring.servers import connected
    from app.worker.main import run_worker

    with connected(_settings()) as env:
        os.environ.update(env)
        require(env["DATABASE_URL"])
        run_worker([name.strip() for name in queues.split(",") if name.strip()], concurrency)


@app.command()
def mail() -> None:
    """Take in proof mails, as MAIL_INBOUND says: an SMTP or LMTP server, or who reads a mailbox by IMAP.

    Example: MAIL_INBOUND='smtp://127.0.0.1:2525?domain=verify.example.org' pulsegate mail
    """
    from app.wiring.mail import receive
    from app.wiring.servers import connected_here

    with connected_here(_settings()) as settings:
        receive(settings)


@app.command()
def beat() -> None:
    """Run the clock that starts the sweep and the nightly work; exactly one of it.

    Example: pulsegate beat
    """
    from app.wiring.servers import connected
    from app.worker.main import run_beat

    with connected(_settings()) as env:
        os.environ.update(env)
        run_beat()


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="JSON lines of deliveries, plain or gzip.")],
    json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Send recorded deliveries through the same pipeline, in observe mode.

    Nothing is asked of GitHub and nothing is written there. What was replayed before is left out.

    Example: pulsegate replay app/demo/day.jsonl
    """
    from app.settings import load
    from app.wiring.replay import replay as run
    from app.wiring.schema import migrate
    from app.wiring.servers import connected

    with connected(_settings()) as env:
        os.environ.update(env)
        migrate(env["DATABASE_URL"])
        new = seen = 0
        for step in run(load(), file):
            new, seen = new + step.new, seen + (not step.new)
            if sys.stderr.isatty():
                typer.echo(f"\r{new + seen} deliveries", nl=False, err=True)
    if sys.stderr.isatty():
        typer.echo("", err=True)
    if json:
        typer.echo(f'{{"replayed": {new}, "seen_before": {seen}}}')
    else:
        typer.echo(f"{new} deliveries replayed, {seen} were there before")


@config.command()
def check(
    file: Annotated[Path, typer.Argument(help="The file, or - for standard input.")],
    default: Annotated[
        Path | None, typer.Option(help="The organisation's default, to be laid below it.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Check a configuration file: what is wrong and where, or what would be in force.

    Exits with 0 where it is fine, 1 where it is not, 2 where it cannot be read.

    Example: pulsegate config check .github/pulsegate.yml
    """
    from app.wiring.config_check import answer, readable

    found = answer(file, default)
    typer.echo(found.model_dump_json(indent=2) if json else readable(found))
    if not found.valid:
        raise typer.Exit(1)


@audit.command()
def export(
    since: Annotated[str, typer.Option(help="Only from this date on, such as 2026-12-01.")] = "",
    repository: Annotated[str, typer.Option(help="Only of this repository: owner/name.")] = "",
) -> None:
    """Write the audit log to standard output as JSON lines, in order.

    Example: pulsegate audit export --since 2026-12-01 > audit.jsonl
    """
    import json

    from app.wiring.audit_log import export as run
    from app.wiring.servers import connected_here

    with connected_here(_settings()) as settings:
        for entry in run(settings, since, repository):
            typer.echo(json.dumps(entry, ensure_ascii=False))


@audit.command()
def erase(
    who: Annotated[str, typer.Argument(help="A login, or a numeric account id.")],
) -> None:
    """Forget whom the audit log means by a pseudonym. The log itself stays.

    Exits with 1 where nobody is known by that name.

    Example: pulsegate audit erase somebody
    """
    from app.wiring.audit_log import erase as run
    from app.wiring.servers import connected_here

    with connected_here(_settings()) as settings:
        erased = run(settings, who)
    if not erased:
        typer.echo(f"the audit log knows nobody as {who}", err=True)
        raise typer.Exit(1)
    typer.echo(f"the audit log knows {who} no more; its entries keep a name that is nobody's")


@db.command()
def upgrade() -> None:
    """Bring the database's schema to the newest revision.

    Example: pulsegate db upgrade
    """
    from app.wiring.schema import migrate, revisions
    from app.wiring.servers import connected

    with connected(_settings()) as env:
        migrate(env["DATABASE_URL"])
        typer.echo(f"the schema is at {revisions(env['DATABASE_URL'])[0]}")


@db.command()
def downgrade(
    revision: Annotated[str, typer.Argument(help="A revision, or -1 for the one before.")],
) -> None:
    """Take the database's schema back. What newer tables hold is lost.

    Example: pulsegate db downgrade -- -1
    """
    from app.wiring.schema import migrate_down, revisions
    from app.wiring.servers import connected

    with connected(_settings()) as env:
        migrate_down(env["DATABASE_URL"], revision)
        typer.echo(f"the schema is at {revisions(env['DATABASE_URL'])[0] or 'nothing'}")


@db.command()
def current() -> None:
    """Say which revision the database's schema is at, and which one this Pulsegate wants.

    Exits with 1 where the two differ.

    Example: pulsegate db current
    """
    from app.wiring.schema import revisions
    from app.wiring.servers import connected

    with connected(_settings()) as env:
        found, wanted = revisions(env["DATABASE_URL"])
    typer.echo(f"the schema is at {found or 'nothing'}, wanted is {wanted}")
    if found != wanted:
        raise typer.Exit(1)


def _settings() -> "Settings":
    """The settings, with logging set up by them."""
    from app.logs import configure
    from app.settings import load

    settings = load()
    configure(settings.log_level, settings.log_format)
    return settings


def main() -> None:
    """The entry point: what a person can mend is a sentence and exit code 2, not a traceback."""
    try:
        app()
    except UserError as error:
        _complain(error.message, error.hint)
    except RetryLater as error:
        _complain(error.reason, "try again; what was done until now is kept")
    except ModuleNotFoundError as error:
        if not error.name or error.name.partition(".")[0] == "app":
            raise
        _complain(
            f"this command needs {error.name}, which is not installed",
            "pip install 'pulsegate[service]', and for train and evaluate 'pulsegate[train]'",
        )


def _complain(message: str, hint: str) -> NoReturn:
    typer.echo(f"pulsegate: {message}", err=True)
    if hint:
        typer.echo(f"  what to do: {hint}", err=True)
    sys.exit(USER_ERROR)


if __name__ == "__main__":
    main()
