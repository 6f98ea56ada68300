"""What GitHub tells us, narrowed to the fields that decide something.

GitHub sends more than these types know and sends nulls where its documentation promises values.
`parse` therefore never raises: what it cannot read becomes an `Unread` event, which is stored,
counted and left alone.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from app.core.text import clean, one_line

Line = Annotated[str, BeforeValidator(lambda v: one_line(v) if isinstance(v, str) else v)]
Prose = Annotated[
    str, BeforeValidator(lambda v: clean(v) if isinstance(v, str) or v is None else v)
]


def _in_utc(value: datetime) -> datetime:
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies outside of the calendar") from None


# Always with a zone: times with and without one cannot be compared.
Moment = Annotated[datetime, AfterValidator(_in_utc)]
# PostgreSQL's bigint; an id outside it is not GitHub's.
Id = Annotated[int, Field(ge=-(2**63), lt=2**63)]


class Narrow(BaseModel):
    """Base of all event parts: unknown fields are ignored, values are immutable.

    A null is as good as an absent field, since GitHub sends nulls where it promises values.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        return {name: value for name, value in data.items() if value is not None}


class Account(Narrow):
    """A GitHub account. Only `id` identifies it: logins are renamed and recycled."""

    id: Id
    login: Line
    type: Line = "User"

    @property
    def is_app(self) -> bool:
        """True for `…[bot]` accounts, which belong to GitHub Apps."""
        return self.type == "Bot"


# GitHub shows what a deleted account wrote as nobody's or as this account's (`ghost`).
GHOST_ID = 10137


def _living(value: Any) -> Any:
    ghost = isinstance(value, Mapping) and value.get("id") == GHOST_ID
    return None if ghost else value


Author = Annotated[Account | None, BeforeValidator(_living)]


class Repository(Narrow):
    """A repository as a webhook names it."""

    id: Id
    name: Line
    full_name: Line
    private: bool = False
    default_branch: Line = "main"

    @property
    def owner(self) -> str:
        """The part of `full_name` before the slash."""
        return self.full_name.partition("/")[0]


class Label(Narrow):
    """A label on a pull request."""

    name: Line


class _RepositoryId(Narrow):
    id: Id


class Branch(Narrow):
    """One side of a pull request. `repo` is None once the head repository was deleted."""

    ref: Line
    sha: Line
    repo: _RepositoryId | None = None


class PullRequest(Narrow):
    """A pull request as of `updated_at`. `user` is None once the account was deleted."""

    id: Id
    number: Id
    state: Literal["open", "closed"]
    title: Line
    body: Prose = ""
    user: Author = None
    draft: bool = False
    merged: bool = False
    merged_at: Moment | None = None
    locked: bool = False
    author_association: Line = "NONE"
    created_at: Moment
    updated_at: Moment
    head: Branch
    base: Branch
    labels: tuple[Label, ...] = ()

    @property
    def is_merged(self) -> bool:
        """Whether it was merged; lists and reviews carry only `merged_at`."""
        return self.merged or self.merged_at is not None


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


class Comment(Narrow):
    """A comment or review by somebody."""

    id: Id
    user: Author = None
    body: Prose = ""


class CommentEvent(Event):
    """`issue_comment` on a pull request, a review, or a review comment."""

    number: Id
    comment: Comment


class RequestedAction(Narrow):
    """The button that somebody pressed in a check run."""

    identifier: Line


class CheckRun(Narrow):
    """A check run; `external_id` is ours where the check run is."""

    id: Id
    head_sha: Line
    external_id: Line | None = None


class CheckRunEvent(Event):
    """`check_run`: somebody asked for a re-run or pressed a button of it."""

    check_run: CheckRun
    requested_action: RequestedAction | None = None


class MergeGroup(Narrow):
    """The commit that a merge queue is about to test."""

    head_sha: Line


class MergeGroupEvent(Event):
    """`merge_group`: the queue waits for check runs on `merge_group.head_sha`."""

    merge_group: MergeGroup


class PushedCommit(Narrow):
    """The paths that one pushed commit touched."""

    added: tuple[Prose, ...] = ()
    modified: tuple[Prose, ...] = ()
    removed: tuple[Prose, ...] = ()


class PushEvent(Event):
    """`push`: commits arrived on `ref`. GitHub lists at most 2,048 of them."""

    ref: Line
    forced: bool = False
    commits: tuple[PushedCommit, ...] = ()

    def touches(self, path: str) -> bool:
        """Whether the file may have changed; a forced or unlisted push may change any file."""
        listed = any(path in c.added + c.modified + c.removed for c in self.commits)
        return listed or self.forced or not self.commits or len(self.commits) >= 2048


class RepositoryName(Narrow):
    """A repository as an installation lists it."""

    id: Id
    full_name: Line
    private: bool = False


class Installation(Narrow):
    """The App on one account."""

    id: Id
    account: Account | None = None
    created_at: Moment | None = None
    suspended_at: Moment | None = None
    permissions: Mapping[Line, Line] = Field(default_factory=dict)


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
    "issues": Acknowledged,
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
    elif name == "check_run":
        number = _first_pull(payload)
    action = _part(payload, "action")
    return Address(
        action=one_line(action, 80) if isinstance(action, str) else "",
        installation_id=_id(payload, "installation", "id"),
        repository_id=_id(payload, "repository", "id"),
        pull_number=number,
    )


def _first_pull(payload: object) -> int | None:
    """The pull request of a check run. GitHub leaves the list empty for forks: see `cases.of`."""
    pulls = _part(payload, "check_run", "pull_requests")
    return _id(pulls[0], "number") if isinstance(pulls, list) and pulls else None


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
