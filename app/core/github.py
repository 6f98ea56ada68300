"""GitHub's own things, narrowed to the fields that decide something, and cleaned on the way in."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from app.core.text import clean, one_line

Line = Annotated[str, BeforeValidator(lambda v: one_line(v) if isinstance(v, str) else v)]


Prose = Annotated[
    str, BeforeValidator(lambda v: clean(v) if isinstance(v, str) or v is None else v)
]


def _in_utc(value: datetime) -> datetime:
    # GitHub is younger, and room is left for the spans that are added to a time.
    if not 1990 <= value.year <= 2200:
        raise ValueError("lies outside of the years 1990 to 2200")
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


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


class Comment(Narrow):
    """A comment or review by somebody."""

    id: Id
    user: Author = None
    body: Prose = ""
    author_association: Line = "NONE"
    created_at: Moment | None = None
    # Of a review, which has no other time.
    submitted_at: Moment | None = None

    @property
    def at(self) -> datetime | None:
        """When GitHub took it in."""
        return self.created_at or self.submitted_at


class RequestedAction(Narrow):
    """The button that somebody pressed in a check run."""

    identifier: Line


class CheckRun(Narrow):
    """A check run; `external_id` is ours where the check run is."""

    id: Id
    head_sha: Line
    external_id: Line | None = None


class MergeGroup(Narrow):
    """The commit that a merge queue is about to test."""

    head_sha: Line


class PushedCommit(Narrow):
    """The paths that one pushed commit touched."""

    added: tuple[Prose, ...] = ()
    modified: tuple[Prose, ...] = ()
    removed: tuple[Prose, ...] = ()


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
