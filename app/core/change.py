"""What a pull request changes, and which issues it is for: one read of GitHub for one head."""

import re
from typing import Literal

from app.core.fact import Fact
from app.core.github import Line, Prose

MOST_FILES = 300
MOST_COMMITS = 100
MOST_ISSUES = 20
MOST_TRAILERS = 20
_TRAILER = re.compile(r"^[A-Za-z][A-Za-z-]{2,40}: ?\S")


def trailers_of(message: str) -> tuple[str, ...]:
    """The last lines `Key: value` of a commit's message, at most `MOST_TRAILERS`."""
    lines = [line.strip() for line in message[-8000:].split("\n")]
    return tuple(line for line in lines if _TRAILER.match(line))[-MOST_TRAILERS:]


class ChangedFile(Fact):
    """One file of the diff. `additions` and `deletions` are lines."""

    path: Prose
    status: Literal["added", "removed", "modified", "renamed", "copied", "changed"]
    additions: int
    deletions: int


class Commit(Fact):
    """One commit. `author_id` is the account that GitHub names, if it names one.

    `by_github`: made by a button of GitHub's own (committed as `web-flow`). `trailers`: the lines
    `Key: value` at the end of its message, as far as they can disclose something.
    """

    sha: Line
    author_id: int | None
    parents: int
    by_github: bool
    trailers: tuple[Line, ...] = ()

    @property
    def is_update(self) -> bool:
        """Whether it is what "Update branch" makes: the base merged in, and nobody's work."""
        return self.by_github and self.parents > 1


class LinkedIssue(Fact):
    """An issue that the pull request closes, by its text or by the side bar.

    `labels` in GitHub's spelling; `assignees` are account ids. `repository_id` may be another one.
    """

    repository_id: int
    number: int
    open: bool
    labels: tuple[Line, ...] = ()
    assignees: tuple[int, ...] = ()
    author_id: int | None = None


class Template(Fact):
    """A pull request template of the repository. `name` is "" for the only one."""

    name: Line
    body: Prose


class Change(Fact):
    """All of it, as of `head_sha`.

    Lists are cut at `MOST_…`, the totals are not. `top_level` are the names at the top of the base
    branch's tree. `issues` is None where GitHub could not show one of them.
    """

    head_sha: str
    files: tuple[ChangedFile, ...] = ()
    files_total: int = 0
    commits: tuple[Commit, ...] = ()
    commits_total: int = 0
    issues: tuple[LinkedIssue, ...] | None = ()
    templates: tuple[Template, ...] = ()
    top_level: tuple[Prose, ...] = ()

    @property
    def has_all_files(self) -> bool:
        """Whether no file was left out."""
        return len(self.files) >= self.files_total

    def touches(self, path: str) -> bool:
        """Whether a file of that path is among those seen."""
        return any(file.path == path for file in self.files)
