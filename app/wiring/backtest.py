"""`pulsegate backtest`: what the gate would have done on a repository's last pull requests."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pydantic import SecretStr

from app.adapters.github.client import public
from app.adapters.github.connection import Connection, path
from app.adapters.github.errors import narrow
from app.adapters.github.reader import GitHubReader
from app.adapters.policy_file import parse_policy
from app.core.change import Change
from app.core.errors import Rejected, UserError
from app.core.facts import RepositoryRef
from app.core.github import PullRequest, Repository
from app.core.history import BEFORE, UNKNOWN, WAITS, recording, unjudged
from app.core.past import Past
from app.core.recording import LINE_LIMIT
from app.core.report import Report
from app.db import installations, reports
from app.flows.replay import Replay, Rings
from app.flows.reporting import report_on
from app.settings import Settings
from app.wiring.history import Kept, Tell, last_pulls, past_changes, patient
from app.wiring.replay import opened
from app.wiring.schema import migrate
from app.wiring.servers import connected
from app.wiring.worker import WorkerParts


class Backtest(NamedTuple):
    """The report, and sentences on what it rests not on."""

    report: Report
    unknown: tuple[str, ...]


def from_github(
    settings: Settings, full_name: str, last: int, policy: str | None, tell: Tell
) -> Backtest:
    """Reads the last pull requests, or what is missing of them, and decides them again."""
    owner, _, name = full_name.partition("/")
    if not owner or not name or "/" in name:
        raise UserError(f"{full_name!r} is no repository", hint="Write it as owner/name.")
    token = settings.github_token.get_secret_value() if settings.github_token else None
    with public(settings.github_api_url, token) as github:
        try:
            repository = narrow(
                Repository, patient(lambda: github.read(path("repos", owner, name)).payload, tell)
            )
            folder = settings.state_dir / "backtest"
            kept = Kept(folder / f"{repository.id}.jsonl", PullRequest)
            pulls = last_pulls(github, repository, last, kept, tell)
            if policy is None:
                policy = patient(lambda: _own_policy(github, repository), tell)
        except Rejected as error:
            raise UserError(
                f"GitHub does not show {full_name}: {error.reason}",
                hint="Check the name; for a private repository set GITHUB_TOKEN.",
            ) from None
        changes = Kept(folder / f"{repository.id}.changes.jsonl", Past)
        past, why = changes.known, ""
        if token is None:
            why = "Set GITHUB_TOKEN to have that read: GitHub shows it to accounts only."
        else:
            try:
                past = past_changes(github, repository, pulls, changes, tell)
            except Rejected as error:
                why = f"GitHub does not show it: {error.reason}."
    lines = list(recording(repository, pulls, policy, past))
    found = _decided(settings, lines, tell)
    return Backtest(found.report, (*UNKNOWN, *found.unknown, *filter(None, [why])))


def from_recording(settings: Settings, file: Path, policy: str | None, tell: Tell) -> Backtest:
    """The same of a recording, of its first repository."""
    with opened(file) as lines:
        read = list(iter(lambda: lines.readline(LINE_LIMIT + 1), b""))
    found = _decided(settings, read, tell, policy)
    return Backtest(found.report, (BEFORE, WAITS, *found.unknown))


def _own_policy(github: Connection, repository: Repository) -> str | None:
    where = RepositoryRef(
        id=repository.id, installation_id=0, owner=repository.owner, name=repository.name
    )
    found = GitHubReader(lambda _: github).policy_file(where)
    return found.text if found else None


def _decided(
    settings: Settings, lines: Sequence[str | bytes], tell: Tell, policy: str | None = None
) -> Backtest:
    """Every line through the pipeline, in a database of its own that is thrown away."""
    if policy is not None:
        parse_policy(policy)
        lines = _with_policy(lines, policy)
    with _scratch(settings) as scratch:
        rings = Rings()
        parts = WorkerParts(scratch, doorbell=rings)
        try:
            changes: dict[tuple[int, int], Change] = {}
            triage = parts.without_github(changes).triage
            flow = Replay(parts.base.database, triage, rings, parse_policy, changes)
            for count, _ in enumerate(flow.run(lines), 1):
                tell("deciding", count, len(lines) - 1)
            with parts.base.database.begin() as tx:
                places = reports.places(tx, recorded=True)
                if not places:
                    raise UserError("nothing was decided", hint="Is there any pull request?")
                where = places[0]
                newest = reports.newest(tx, where.id)
                oldest = reports.oldest(tx, where.id)
                standing = installations.standing(tx, where.id)
                if standing is None or newest is None or oldest is None:
                    raise UserError("nothing was decided", hint="Is there any pull request?")
                until = newest + timedelta(seconds=1)
                report = report_on(tx, where, standing.policy.mode, oldest, until)
                here = sum(1 for repository_id, _ in changes if repository_id == where.id)
                return Backtest(report, tuple(filter(None, [unjudged(here, report.pulls)])))
        finally:
            parts.close()


def _with_policy(lines: Iterable[str | bytes], policy: str) -> list[str | bytes]:
    """The recording under another configuration: of every repository in it."""
    read = [line for line in lines if line.strip()]
    names = set()
    for line in read:
        payload = json.loads(line).get("payload") or {}
        repository = payload.get("repository")
        if isinstance(repository, dict) and isinstance(repository.get("full_name"), str):
            names.add(repository["full_name"])
    first = json.loads(read[0]) if read else {}
    header = first if "recording" in first else {"recording": 1}
    body = read[1:] if "recording" in first else read
    header["policies"] = dict.fromkeys(sorted(names), policy)
    return [json.dumps(header), *body]


@contextmanager
def _scratch(settings: Settings) -> Iterator[Settings]:
    with TemporaryDirectory(prefix="pulsegate-backtest-") as folder:
        # PostgreSQL runs as another user where we are root, and has to get there.
        Path(folder).chmod(0o711)
        alone = settings.model_copy(
            update={"state_dir": Path(folder) / "state", "database_url": None, "redis_url": None}
        )
        with connected(alone) as env:
            migrate(env["DATABASE_URL"])
            urls = {name: SecretStr(env[name.upper()]) for name in ("database_url", "redis_url")}
            keys = {"secret_key": tuple(SecretStr(key) for key in env["SECRET_KEY"].split(","))}
            yield alone.model_copy(update={**urls, **keys})
