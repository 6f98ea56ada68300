"""A repository's history, read with patience and kept, so that a run that was stopped goes on."""

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from app.adapters.github.connection import Connection, path
from app.adapters.github.errors import narrow
from app.adapters.github.past import AT_ONCE, read_past
from app.adapters.github.reader import items
from app.core.errors import RetryLater
from app.core.github import PullRequest, Repository
from app.core.past import Past

T = TypeVar("T")
M = TypeVar("M", PullRequest, Past)
PAGE = 100
MOST = 20_000
# GitHub's limits last an hour; one that asks for longer is no limit that anybody waits for.
LONGEST_WAIT = timedelta(minutes=70)

Tell = Callable[[str, int, int], None]
"""Shows progress: what is being done, how much of it, out of how much."""


class Kept(Generic[M]):
    """What was read before, a pull request a line, so that a run that was stopped goes on."""

    def __init__(self, file: Path, model: type[M]) -> None:
        self.file = file
        self.known: dict[int, M] = {}
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                try:
                    found = model.model_validate_json(line)
                except ValidationError:
                    continue  # the last line of a run that was killed
                self.known[found.number] = found

    def add(self, read: Iterable[M]) -> None:
        """Keeps these, on the disk too."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as out:
            for one in read:
                self.known[one.number] = one
                out.write(one.model_dump_json() + "\n")


def last_pulls(
    github: Connection, repository: Repository, last: int, kept: Kept[PullRequest], tell: Tell
) -> list[PullRequest]:
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
        answer = patient(lambda q=query: github.read(where, q), tell)  # type: ignore[misc]
        read = [narrow(PullRequest, item) for item in items(answer.payload)]
        kept.add(read)
        found |= {pull.number: pull for pull in read}
        tell("reading", min(len(found), wanted), wanted)
        if len(read) < PAGE:
            break
        page += 1
        # What ended stays as it is: pages that hold nothing else are not read again.
        page = _skipped(found, kept, page, wanted)
    return sorted(found.values(), key=lambda p: -p.number)[:wanted]


def _skipped(found: dict[int, PullRequest], kept: Kept[PullRequest], page: int, wanted: int) -> int:
    """The next page that has to be read; what lies before it is taken from what was kept."""
    older = sorted((p for n, p in kept.known.items() if n < min(found)), key=lambda p: -p.number)
    while len(found) < wanted and len(older) >= PAGE:
        block, older = older[:PAGE], older[PAGE:]
        if any(pull.state == "open" for pull in block):
            break
        found |= {pull.number: pull for pull in block}
        page += 1
    return page


def patient(read: Callable[[], T], tell: Tell) -> T:
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


def past_changes(
    github: Connection,
    repository: Repository,
    pulls: Sequence[PullRequest],
    kept: Kept[Past],
    tell: Tell,
) -> dict[int, Past]:
    """What they changed, by number. `Rejected` where a token is wanted.

    What is known of a pull request's first day once stays so, whatever becomes of it later.
    """
    missing = [pull.number for pull in pulls if pull.number not in kept.known]
    for start in range(0, len(missing), AT_ONCE):
        numbers = missing[start : start + AT_ONCE]
        names = (repository.owner, repository.name, numbers)
        read = patient(lambda n=names: read_past(github, *n), tell)  # type: ignore[misc]
        kept.add(read)
        tell("reading changes", min(start + AT_ONCE, len(missing)), len(missing))
    return kept.known
