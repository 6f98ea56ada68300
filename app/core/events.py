"""What GitHub tells us, narrowed to the fields that decide something.

GitHub sends more than these types know and sends nulls where its documentation promises values.
`parse` therefore never raises: what it cannot read becomes an `Unread` event, which is stored
and left alone.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from app.core.github import (
    Account,
    CheckRun,
    Comment,
    Id,
    Installation,
    Label,
    Line,
    MergeGroup,
    Narrow,
    PullRequest,
    PushedCommit,
    Repository,
    RepositoryName,
    RequestedAction,
)
from app.core.text import one_line


class Event(Narrow):
    """What every delivery has."""

    name: str
    action: Line = ""
    installation_id: Id | None = None
    repository: Repository | None = None
    sender: Account | None = None


class PullRequestEvent(Event):
    """`pull_request`: the pull request itself changed. `label` comes with (un)labeled."""

    pull_request: PullRequest
    label: Label | None = None


class CommentEvent(Event):
    """`issue_comment` on a pull request, a review, or a review comment."""

    number: Id
    comment: Comment


class CheckRunEvent(Event):
    """`check_run`: somebody asked for a re-run or pressed a button of it."""

    check_run: CheckRun
    requested_action: RequestedAction | None = None


class MergeGroupEvent(Event):
    """`merge_group`: the queue waits for check runs on `merge_group.head_sha`."""

    merge_group: MergeGroup


class PushEvent(Event):
    """`push`: commits arrived on `ref`. GitHub lists at most 2,048 of them."""

    ref: Line
    forced: bool = False
    commits: tuple[PushedCommit, ...] = ()

    def touches(self, path: str) -> bool:
        """Whether the file may have changed; a forced or unlisted push may change any file."""
        listed = any(path in c.added + c.modified + c.removed for c in self.commits)
        return listed or self.forced or not self.commits or len(self.commits) >= 2048


class InstallationEvent(Event):
    """`installation`: created, deleted, suspend, unsuspend, new_permissions_accepted."""

    installation: Installation
    repositories: tuple[RepositoryName, ...] = ()


class InstallationRepositoriesEvent(Event):
    """`installation_repositories`: the owner added or removed repositories."""

    installation: Installation
    repositories_added: tuple[RepositoryName, ...] = ()
    repositories_removed: tuple[RepositoryName, ...] = ()


class RepositoryEvent(Event):
    """`repository`: renamed, transferred, deleted, privatized and so on."""


class MemberEvent(Event):
    """`member`: somebody's permission on the repository changed."""

    member: Account | None = None


class _Issue(Narrow):
    number: Id


class IssueEvent(Event):
    """`issues`: an issue that pull requests may be for was labelled, assigned, closed and so on."""

    issue: _Issue


class Again(Event):
    """Our own stimulus: decide this pull request anew. It never comes from outside."""

    reason: str


class Acknowledged(Event):
    """An event that we subscribe to and that no rule reads yet; also `ping`."""


class Unread(Event):
    """An event that no type here describes, or whose payload did not fit; `problem` says why."""

    problem: str


_TYPES: dict[str, type[Event]] = {
    "pull_request": PullRequestEvent,
    "check_run": CheckRunEvent,
    "merge_group": MergeGroupEvent,
    "push": PushEvent,
    "installation": InstallationEvent,
    "installation_repositories": InstallationRepositoriesEvent,
    "repository": RepositoryEvent,
    "member": MemberEvent,
    "issues": IssueEvent,
    "workflow_run": Acknowledged,
    "workflow_job": Acknowledged,
    "ping": Acknowledged,
}


_COMMENTS = {
    "issue_comment": "comment",
    "pull_request_review": "review",
    "pull_request_review_comment": "comment",
}


class Address(BaseModel):
    """Whom a delivery concerns, read from any JSON without trusting its shape."""

    model_config = ConfigDict(frozen=True)

    action: str = ""
    installation_id: int | None = None
    repository_id: int | None = None
    pull_number: int | None = None


def _part(payload: object, *path: str) -> Any:
    for name in path:
        if not isinstance(payload, Mapping):
            return None
        payload = payload.get(name)
    return payload


def _id(payload: object, *path: str) -> int | None:
    value = _part(payload, *path)
    fits = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
    return value if fits else None


def address(name: str, payload: object) -> Address:
    """Where a delivery belongs: its installation, repository and, if any, pull request."""
    number: int | None = None
    if name in {"pull_request", "pull_request_review", "pull_request_review_comment"}:
        number = _id(payload, "pull_request", "number")
    elif name == "issue_comment" and _part(payload, "issue", "pull_request") is not None:
        number = _id(payload, "issue", "number")
    action = _part(payload, "action")
    return Address(
        action=one_line(action, 80) if isinstance(action, str) else "",
        installation_id=_id(payload, "installation", "id"),
        repository_id=_id(payload, "repository", "id"),
        pull_number=number,
    )


def parse(name: str, payload: object) -> Event:
    """A delivery as a typed event. Never raises; see the module's words."""
    where = address(name, payload)
    common: dict[str, Any] = {
        "name": one_line(name, 80),
        "action": where.action,
        "installation_id": where.installation_id,
    }
    if not isinstance(payload, Mapping):
        return Unread(**common, problem="the payload is not a JSON object")
    try:
        return _typed(name, payload, common)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        spot = ".".join(str(part) for part in first["loc"])
        return Unread(**common, problem=one_line(f"{spot}: {first['msg']}"))


def _typed(name: str, payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    fields = {**payload, **common}
    if name in _COMMENTS:
        number = address(name, payload).pull_number
        if number is None:
            return Acknowledged.model_validate(fields)
        return CommentEvent.model_validate(
            {**fields, "number": number, "comment": payload.get(_COMMENTS[name])}
        )
    if name not in _TYPES:
        return Unread(**common, problem="no rule reads this event")
    return _TYPES[name].model_validate(fields)
