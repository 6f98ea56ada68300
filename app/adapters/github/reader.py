"""Reads of one repository. Each is one request, and a free one where nothing changed (ETag)."""

import base64
import binascii
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from app.adapters.github.activity import spoke_since
from app.adapters.github.change import read_change
from app.adapters.github.connection import Connection, path
from app.adapters.github.errors import UNREADABLE, narrow
from app.adapters.github.public_events import public_events
from app.core.change import Change
from app.core.errors import Rejected, RetryLater
from app.core.facts import PublicEvent, RepositoryRef, Role
from app.core.github import Account, Id, Line, Narrow, Prose, PullRequest
from app.core.policy import LIMIT, PATH
from app.core.ports import PolicyFile
from app.core.proofs.diff import Patch, Status


class _Permissions(Narrow):
    """What an account may do, also where its role is a custom one of the organisation."""

    admin: bool = False
    maintain: bool = False
    push: bool = False
    triage: bool = False
    pull: bool = False

    @property
    def role(self) -> Role:
        held = (
            (self.admin, Role.ADMIN),
            (self.maintain, Role.MAINTAIN),
            (self.push, Role.WRITE),
            (self.triage, Role.TRIAGE),
            (self.pull, Role.READ),
        )
        return next((role for holds, role in held if holds), Role.NONE)


class _Collaborator(Narrow):
    id: Id
    permissions: _Permissions | None = None


class _Permission(Narrow):
    """`permission` is one of four old words, `role_name` may be a custom one."""

    permission: Literal["admin", "write", "read", "none"]
    role_name: Line = ""
    user: _Collaborator | None = None

    @property
    def role(self) -> Role:
        if self.user is not None and self.user.permissions is not None:
            return self.user.permissions.role
        word = self.role_name.upper()
        return Role[word] if word in Role.__members__ else Role[self.permission.upper()]


class _File(Narrow):
    type: str
    sha: str = Field(pattern=r"^[0-9a-f]{40,64}$")
    size: int = Field(ge=0)
    encoding: str = ""
    content: str = ""


class _Patch(Narrow):
    filename: Prose
    status: Status
    patch: Prose = ""


class GitHubReader:
    """`core.ports.Reader`. `connect` gives the connection of an installation."""

    def __init__(self, connect: Callable[[int], Connection]) -> None:
        self._connect = connect

    def role(self, repository: RepositoryRef, account: Account) -> Role:
        """Live permission of an account; see the port. Apps have none and cost no request."""
        if account.is_app or account.login.endswith("[bot]"):
            return Role.NONE
        github = self._connect(repository.installation_id)
        where = _repository(repository)
        asked = path("collaborators", account.login, "permission")
        answer = github.read(where + asked, accept=(404,))
        if answer.status == 404:
            if "is not a user" not in answer.message:
                # GitHub also says 404 of a repository that we cannot see (any more), and that
                # says nothing about the account.
                github.read(where)
            return Role.NONE
        found = narrow(_Permission, answer.payload)
        if found.user is None:
            if found.role is Role.NONE:
                return Role.NONE
            raise RetryLater(f"{UNREADABLE} (a permission of nobody)")
        return found.role if found.user.id == account.id else Role.NONE

    def pull(self, repository: RepositoryRef, number: int) -> PullRequest:
        """The pull request as it is now."""
        where = _repository(repository) + path("pulls", number)
        return narrow(PullRequest, self._connect(repository.installation_id).read(where).payload)

    def change(self, repository: RepositoryRef, number: int) -> Change:
        """What a pull request changes and is for; see the port."""
        return read_change(self._connect(repository.installation_id), repository, number)

    def patches(self, repository: RepositoryRef, number: int) -> tuple[Patch, ...]:
        """The first hundred files of the diff; see the port."""
        where = _repository(repository) + path("pulls", number, "files")
        answer = self._connect(repository.installation_id).read(where, {"per_page": "100"})
        found = (narrow(_Patch, item) for item in items(answer.payload))
        return tuple(Patch(path=one.filename, status=one.status, text=one.patch) for one in found)

    def spoke_since(
        self, repository: RepositoryRef, number: int, account: Account, since: datetime
    ) -> datetime | None:
        """When the account last wrote on a pull request after a time; see the port."""
        github = self._connect(repository.installation_id)
        return spoke_since(github, _repository(repository), number, account.id, since)

    def activity(self, repository: RepositoryRef, account: Account) -> tuple[PublicEvent, ...]:
        """What an account did in public; see the port."""
        return public_events(self._connect(repository.installation_id), account)

    def account(self, repository: RepositoryRef, login: str) -> Account | None:
        """The account that has a login now; None where nobody has."""
        github = self._connect(repository.installation_id)
        answer = github.read(path("users", login), accept=(404,))
        return None if answer.status == 404 else narrow(Account, answer.payload)

    def policy_file(
        self, repository: RepositoryRef, *, ref: str | None = None
    ) -> PolicyFile | None:
        """The configuration on the default branch, or at a commit; see the port.

        `Rejected` (422) where there is something else by that name.
        """
        where = _repository(repository) + path("contents", *PATH.split("/"))
        asked = {"ref": ref} if ref else None
        answer = self._connect(repository.installation_id).read(where, asked, accept=(404,))
        return None if answer.status == 404 else _policy(answer.payload)

    def require(self, repository: RepositoryRef) -> None:
        """Whether we can see a repository (still); see the port."""
        self._connect(repository.installation_id).read(_repository(repository))

    def open_pulls(self, repository: RepositoryRef) -> Iterator[PullRequest]:
        """All open pull requests, the most recently updated first, a page at a time.

        One that is updated while we read may come up again on the next page; it is given once.
        """
        where = _repository(repository) + path("pulls")
        order = {"state": "open", "sort": "updated", "direction": "desc"}
        seen: set[int] = set()
        for page in self._connect(repository.installation_id).pages(where, order):
            for item in items(page.payload):
                pull = narrow(PullRequest, item)
                if pull.number not in seen:
                    seen.add(pull.number)
                    yield pull


def _repository(repository: RepositoryRef) -> str:
    return path("repos", repository.owner, repository.name)


def items(payload: object) -> list[Any]:
    """A page's items; `RetryLater` where it is no list."""
    if isinstance(payload, list):
        return payload
    raise RetryLater(f"{UNREADABLE} (not a list)")


def _policy(payload: object) -> PolicyFile:
    if isinstance(payload, list):
        raise _refused("is a directory, not a file")
    file = narrow(_File, payload)
    if file.type != "file":
        raise _refused(f"is a {file.type[:20]}, not a file")
    if file.size > LIMIT:
        raise _refused(f"is larger than {LIMIT} bytes")
    if file.encoding != "base64":
        raise RetryLater(f"{UNREADABLE} (a file in another encoding)")
    try:
        raw = base64.b64decode("".join(file.content.split()), validate=True)
    except (binascii.Error, ValueError):
        raise RetryLater(f"{UNREADABLE} (broken base64)") from None
    if len(raw) > LIMIT:
        raise _refused(f"is larger than {LIMIT} bytes")
    try:
        return PolicyFile(sha=file.sha, text=raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _refused("is not UTF-8 text") from None


def _refused(why: str) -> Rejected:
    return Rejected(f"{PATH} {why}", status=422)
