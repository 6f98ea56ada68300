"""What the stand-in knows: plain records, changed only by `World` and by the endpoints."""

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

ROLES = ("none", "read", "triage", "write", "maintain", "admin")
PERMISSIONS = {
    "metadata": "read",
    "contents": "read",
    "pull_requests": "write",
    "issues": "write",
    "checks": "write",
    "members": "read",
}
EVENTS = (
    "pull_request",
    "issue_comment",
    "pull_request_review",
    "pull_request_review_comment",
    "issues",
    "push",
    "repository",
    "member",
    "check_run",
    "merge_group",
    "workflow_run",
    "workflow_job",
)


def node_id(kind: str, number: int) -> str:
    """An opaque id of GraphQL's."""
    return f"{kind}_{base64.urlsafe_b64encode(f'{kind}:{number}'.encode()).decode().rstrip('=')}"


def sha_of(*parts: object) -> str:
    """A commit id made of what is known of the commit."""
    return hashlib.sha1(repr(parts).encode(), usedforsecurity=False).hexdigest()


@dataclass(eq=False)
class User:
    """An account: `type` is User, Bot or Organization. See `Acts.delete_user` for `deleted`."""

    id: int
    login: str
    created_at: datetime
    type: str = "User"
    name: str | None = None
    email: str | None = None
    deleted: Literal["", "null", "ghost"] = ""
    # What they did elsewhere in public: event type, action, repository's name, time.
    elsewhere: list[tuple[str, str, str, datetime]] = field(default_factory=list)


@dataclass(eq=False)
class Label:
    """A label of a repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(eq=False)
class Comment:
    """A comment on a pull request. `app` is the App that wrote it, if any."""

    id: int
    number: int
    user: User
    body: str
    created_at: datetime
    updated_at: datetime
    app: "App | None" = None
    reactions: list[tuple[str, str]] = field(default_factory=list)


@dataclass(eq=False)
class CheckRun:
    """A check run of an App."""

    id: int
    name: str
    head_sha: str
    app: "App"
    started_at: datetime
    status: str = "queued"
    conclusion: str | None = None
    completed_at: datetime | None = None
    external_id: str | None = None
    details_url: str | None = None
    output: dict[str, Any] = field(default_factory=dict)
    actions: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Turn:
    """A pull request was closed, reopened, labeled or unlabeled (`event`)."""

    id: int
    event: str
    actor: User
    app: "App | None"
    at: datetime
    label: Label | None = None


@dataclass(eq=False)
class Pull:
    """A pull request. `head_repo` is None once the head repository was deleted."""

    id: int
    number: int
    title: str
    body: str | None
    user: User
    head_ref: str
    head_sha: str
    head_repo: "Repository | None"
    base_sha: str
    created_at: datetime
    updated_at: datetime
    draft: bool = False
    state: str = "open"
    closed_at: datetime | None = None
    merged_at: datetime | None = None
    merged_by: User | None = None
    lock_reason: str | None = None
    locked: bool = False
    labels: list[Label] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    association: str | None = None
    # What it changes: (path, added lines, deleted lines, changeType); who committed what.
    files: list[tuple[str, int, int, str]] = field(default_factory=list)
    commits: list["PullCommit"] = field(default_factory=list)
    closes: list[int] = field(default_factory=list)
    # The hunks of those files that GitHub shows some for.
    patches: dict[str, str] = field(default_factory=dict)
    # Files of its head that differ from the base.
    head_files: dict[str, bytes] = field(default_factory=dict)
    reviews: list[dict[str, Any]] = field(default_factory=list)
    notes: list[Comment] = field(default_factory=list)


@dataclass(frozen=True)
class PullCommit:
    """A commit of a pull request. `update`: made by the button "Update branch"."""

    sha: str
    author: User | None
    update: bool = False
    at: datetime | None = None
    message: str = "A change"


@dataclass(eq=False)
class Issue:
    """An issue. `hidden`: the App may not see it (it lies in a repository that it does not reach)."""

    id: int
    number: int
    title: str
    user: User
    created_at: datetime
    updated_at: datetime
    state: str = "open"
    labels: list[Label] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    # What was done to it: kind as GraphQL names it, time, label's name or account.
    turns: list[tuple[str, datetime, str | User | None]] = field(default_factory=list)
    hidden: bool = False
    body: str | None = None
    app: "App | None" = None
    comments: list[Comment] = field(default_factory=list)
    locked: bool = False


@dataclass(eq=False)
class Repository:
    """A repository. `roles` maps account ids to GitHub's roles or to a key of `custom_roles`."""

    id: int
    owner: User
    name: str
    created_at: datetime
    head_sha: str
    private: bool = False
    default_branch: str = "main"
    parent: "Repository | None" = None
    files: dict[str, bytes] = field(default_factory=dict)
    roles: dict[int, str] = field(default_factory=dict)
    custom_roles: dict[str, str] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    checks: list[CheckRun] = field(default_factory=list)
    shas: set[str] = field(default_factory=set)
    limit: dict[str, str] | None = None
    creation_policy: str = "all"
    creation_cap: int | None = None
    next_number: int = 1
    deleted: bool = False

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner.login}/{self.name}"

    def role(self, user: User) -> str:
        """The role's own name, as `role_name` has it."""
        if user is self.owner:
            return "admin"
        return self.roles.get(user.id, "none" if self.private else "read")

    def base_role(self, user: User) -> str:
        """One of ROLES: a custom role is what it was built on."""
        role = self.role(user)
        return self.custom_roles.get(role, role)

    def at_least(self, user: User, role: str) -> bool:
        """Whether the account may do what the role may."""
        return ROLES.index(self.base_role(user)) >= ROLES.index(role)


@dataclass(eq=False)
class App:
    """A GitHub App with its secrets."""

    id: int
    slug: str
    name: str
    owner: User
    bot: User
    client_id: str
    client_secret: str
    webhook_secret: str | None
    private_key_pem: str
    public_key_pem: str
    created_at: datetime
    webhook_url: str | None = None
    permissions: dict[str, str] = field(default_factory=lambda: dict(PERMISSIONS))
    events: tuple[str, ...] = EVENTS
    callback_urls: tuple[str, ...] = ()


@dataclass(eq=False)
class Installation:
    """An App on an account. `repositories` is None where it may reach all of the account's."""

    id: int
    app: App
    account: User
    created_at: datetime
    updated_at: datetime
    repositories: list[Repository] | None = None
    permissions: dict[str, str] = field(default_factory=dict)
    suspended_at: datetime | None = None
    suspended_by: User | None = None
    deleted: bool = False

    def reaches(self, repository: Repository) -> bool:
        """Whether the installation covers the repository."""
        if self.deleted or repository.deleted or repository.owner is not self.account:
            return False
        return self.repositories is None or repository in self.repositories

    def covered(self, everything: Iterable[Repository]) -> list[Repository]:
        """The repositories of `everything` that it covers."""
        return [r for r in everything if self.reaches(r)]


@dataclass(frozen=True)
class Token:
    """What a bearer token stands for: an installation or a signed-in user."""

    expires_at: datetime
    installation: Installation | None = None
    user: User | None = None
    app: App | None = None
