"""`pulsegate backtest`: what the gate would have done on a repository's last pull requests."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from pydantic import SecretStr, ValidationError

from app.adapters.github.client import public
from app.adapters.github.connection import Connection, path
from app.adapters.github.errors import narrow
from app.adapters.github.reader import GitHubReader, items
from app.adapters.policy_file import parse_policy
from app.core.errors import Rejected, RetryLater, UserError
from app.core.facts import RepositoryRef
from app.core.github import PullRequest, Repository
from app.core.history import recording
from app.core.recording import LINE_LIMIT
from app.core.report import Report
from app.db import installations, reports
from app.flows.replay import Replay, Rings
from app.flows.reporting import report_on
from app.settings import Settings
from app.wiring.replay import opened
from app.wiring.schema import migrate
from app.wiring.servers import connected
from app.wiring.worker import WorkerParts

T = TypeVar("T")
PAGE = 100
MOST = 20_000
# GitHub's limits last an hour; one that asks for longer is no limit that anybody waits for.
LONGEST_WAIT = timedelta(minutes=70)

Tell = Callable[[str, int, int], None]
"""Shows progress: what is being done, how much of it, out of how much."""


def from_github(
    settings: Settings, full_name: str, last: int, policy: str | None, tell: Tell
) -> Report:
    """Reads the last pull requests, or what is missing of them, and decides them again."""
    owner, _, name = full_name.partition("/")
    if not owner or not name or "/" in name:
        raise UserError(f"{full_name!r} is no repository", hint="Write it as owner/name.")
    token = settings.github_token.get_secret_value() if settings.github_token else None
    with public(settings.github_api_url, token) as github:
        try:
            repository = narrow(
                Repository, _patient(lambda: github.read(path("repos", owner, name)).payload, tell)
            )
            kept = _Kept(settings.state_dir / "backtest" / f"{repository.id}.jsonl")
            pulls = list(_history(github, repository, last, kept, tell))
            if policy is None:
                policy = _patient(lambda: _own_policy(github, repository), tell)
        except Rejected as error:
            raise UserError(
                f"GitHub does not show {full_name}: {error.reason}",
                hint="Check the name; for a private repository set GITHUB_TOKEN.",
            ) from None
    return _decided(settings, list(recording(repository, pulls, policy)), tell)


def from_recording(settings: Settings, file: Path, policy: str | None, tell: Tell) -> Report:
    """The same of a recording, of its first repository."""
    with opened(file) as lines:
        read = list(iter(lambda: lines.readline(LINE_LIMIT + 1), b""))
    return _decided(settings, read, tell, policy)


class _Kept:
    """What was read before, a pull request a line, so that a run that was stopped goes on."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.pulls: dict[int, PullRequest] = {}
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                try:
                    pull = PullRequest.model_validate_json(line)
                except ValidationError:
                    continue  # the last line of a run that was killed
                self.pulls[pull.number] = pull

    def add(self, pulls: Iterable[PullRequest]) -> None:
        """Keeps these, on the disk too."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as out:
            for pull in pulls:
                self.pulls[pull.number] = pull
                out.write(pull.model_dump_json() + "\n")


def _history(
    github: Connection, repository: Repository, last: int, kept: _Kept, tell: Tell
) -> Iterator[PullRequest]:
    """The last pull requests, newest first: read, or kept from before where they had ended."""
    where = path("repos", repository.owner, repository.name, "pulls")
    wanted, page = min(last, MOST), 1
    found: dict[int, PullRequest] = {}
    while len(found) < wanted:
        query = {
            "state": "all",
            "sort": "created",
            "direction": "desc",
            "per_page": str(PAGE),
            "page": str(page),
        }
        answer = _patient(lambda q=query: github.read(where, q), tell)  # type: ignore[misc]
        read = [narrow(PullRequest, item) for item in items(answer.payload)]
        kept.add(read)
        found |= {pull.number: pull for pull in read}
        tell("reading", min(len(found), wanted), wanted)
        if len(read) < PAGE:
            break
        page += 1
        # What ended stays as it is: pages that hold nothing else are not read again.
        page = _skipped(found, kept, page, wanted)
    yield from sorted(found.values(), key=lambda p: -p.number)[:wanted]


def _skipped(found: dict[int, PullRequest], kept: _Kept, page: int, wanted: int) -> int:
    """The next page that has to be read; what lies before it is taken from what was kept."""
    older = sorted((p for n, p in kept.pulls.items() if n < min(found)), key=lambda p: -p.number)
    while len(found) < wanted and len(older) >= PAGE:
        block, older = older[:PAGE], older[PAGE:]
        if any(pull.state == "open" for pull in block):
            break
        found |= {pull.number: pull for pull in block}
        page += 1
    return page


def _patient(read: Callable[[], T], tell: Tell) -> T:
    """A read that waits for GitHub's limits, and says so."""
    for _ in range(5):
        try:
            return read()
        except RetryLater as error:
            wait = error.after or timedelta(seconds=10)
            if wait > LONGEST_WAIT:
                raise
            until = datetime.now(UTC) + wait
            tell(f"GitHub asks to wait until {until:%H:%M} UTC", 0, 0)
            time.sleep(wait.total_seconds())
    raise RetryLater("GitHub did not answer five times")


def _own_policy(github: Connection, repository: Repository) -> str | None:
    where = RepositoryRef(
        id=repository.id, installation_id=0, owner=repository.owner, name=repository.name
    )
    found = GitHubReader(lambda _: github).policy_file(where)
    return found.text if found else None


def _decided(
    settings: Settings, lines: Sequence[str | bytes], tell: Tell, policy: str | None = None
) -> Report:
    """Every line through the pipeline, in a database of its own that is thrown away."""
    if policy is not None:
        parse_policy(policy)
        lines = _with_policy(lines, policy)
    with _scratch(settings) as scratch:
        rings = Rings()
        parts = WorkerParts(scratch, doorbell=rings)
        try:
            triage = parts.without_github().triage
            flow = Replay(parts.base.database, triage, rings, parse_policy)
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
                return report_on(tx, where, standing.policy.mode, oldest, until)
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
