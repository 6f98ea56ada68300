"""The stand-in's state, and what people do to it. Every act tells the App by a webhook.

People are named by login, repositories by `owner/name` (without one: the first that was added).
All methods are thread-safe. Acts of the App itself come in by HTTP, see `endpoints`.
"""

import itertools
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import cache, wraps
from typing import Any, TypeVar, cast

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.fakes.github.hooks import Delivery, Hooks
from tests.fakes.github.model import (
    App,
    Installation,
    Label,
    Pull,
    Repository,
    Token,
    User,
    sha_of,
)
from tests.fakes.github.shapes import Shapes

Method = TypeVar("Method", bound=Callable[..., Any])


def locked(method: Method) -> Method:
    """One act at a time."""

    @wraps(method)
    def inner(self: "World", *args: Any, **kwargs: Any) -> Any:
        with self.lock:
            return method(self, *args, **kwargs)

    return cast("Method", inner)


@cache
def key_pair(which: int) -> tuple[str, str]:
    """A private and a public PEM; made once for each process, since making one is slow."""
    del which
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private.decode(), public.decode()


class World:
    """Accounts, repositories, Apps, installations and tokens; `clock` may be replaced."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.clock: Callable[[], datetime] = lambda: datetime.now(UTC)
        self.shapes = Shapes("http://127.0.0.1", "http://127.0.0.1")
        self.hooks = Hooks()
        self.users: dict[str, User] = {}
        self.repositories: list[Repository] = []
        self.moved: dict[str, Repository] = {}
        self.apps: list[App] = []
        self.installations: list[Installation] = []
        self.tokens: dict[str, Token] = {}
        self.codes: dict[str, dict[str, Any]] = {}
        self.browser: str | None = None
        # Beyond 32 bits, as GitHub's are, but for accounts and repositories: GraphQL says so.
        self.ids = itertools.count(5_000_000_001)
        self.short_ids = itertools.count(1_500_000_001)

    def now(self) -> datetime:
        """The stand-in's time."""
        return self.clock()

    # Looking up

    def user(self, login: str) -> User:
        """A living account; KeyError where there is none. Logins do not know case."""
        user = self.users[login.lower()]
        if user.deleted:
            raise KeyError(login)
        return user

    def repository(self, full_name: str | None = None) -> Repository:
        """A repository by its present name; the first one without a name."""
        if full_name is None:
            return self.repositories[0]
        wanted = full_name.lower()
        for found in self.repositories:
            if found.full_name.lower() == wanted and not found.deleted:
                return found
        raise KeyError(full_name)

    def pull(self, number: int, repo: str | None = None) -> Pull:
        """A pull request."""
        return self.repository(repo).pulls[number]

    @property
    def app(self) -> App:
        """The first App."""
        return self.apps[0]

    @property
    def installation(self) -> Installation:
        """The first installation."""
        return self.installations[0]

    # Setting up, without webhooks

    @locked
    def add_user(
        self, login: str, type: str = "User", *, id: int | None = None, name: str | None = None
    ) -> User:
        """An account that is two years old."""
        made = User(id or next(self.short_ids), login, self.now() - timedelta(days=730), type, name)
        self.users[login.lower()] = made
        return made

    @locked
    def add_repository(
        self, full_name: str, *, private: bool = False, files: dict[str, str] | None = None
    ) -> Repository:
        """A repository of an existing account."""
        owner, _, name = full_name.partition("/")
        number = next(self.short_ids)
        sha = sha_of(full_name, number)
        content = {path: text.encode() for path, text in (files or {}).items()}
        made = Repository(
            number, self.user(owner), name, self.now() - timedelta(days=700), sha, private,
            files=content, shas={sha},
        )  # fmt: skip
        self.repositories.append(made)
        return made

    @locked
    def add_app(self, owner: str, name: str = "Pulsegate", **more: Any) -> App:
        """An App with fresh secrets and its `…[bot]` account."""
        slug = name.lower().replace(" ", "-")
        private, public = key_pair(len(self.apps))
        number = 4242 + len(self.apps)
        made = App(
            number, slug, name, self.user(owner), self.add_user(f"{slug}[bot]", "Bot"),
            f"Iv23li{number}", f"client-secret-{number}", f"webhook-secret-{number}",
            private, public, self.now(), **more,
        )  # fmt: skip
        self.apps.append(made)
        return made

    @locked
    def add_installation(
        self, account: str, repositories: Iterable[str] | None = None, app: App | None = None
    ) -> Installation:
        """The App on an account: on the named repositories, or on all."""
        app = app or self.app
        chosen = None if repositories is None else [self.repository(r) for r in repositories]
        number = 51_000_000 + len(self.installations)
        made = Installation(
            number, app, self.user(account), self.now(), self.now(), chosen, dict(app.permissions)
        )
        self.installations.append(made)
        return made

    @locked
    def set_role(self, login: str, role: str, repo: str | None = None) -> None:
        """Give or take (`none`) a role on a repository, silently; see `change_role`."""
        repository, user = self.repository(repo), self.user(login)
        if role == "none":
            repository.roles.pop(user.id, None)
        else:
            repository.roles[user.id] = role

    # Telling the App

    @locked
    def tell(
        self, event: str, repository: Repository, sender: User, parts: dict[str, Any]
    ) -> list[Delivery]:
        """Send a repository's event to every installation that reaches it and listens."""
        payload = parts | {"repository": self.shapes.repository(repository)}
        if repository.owner.type == "Organization":
            payload["organization"] = self.shapes.organization(repository.owner)
        payload["sender"] = self.shapes.user(sender)
        return [
            self.hooks.emit(
                event,
                payload,
                app=i.app,
                at=self.now(),
                installation=i,
                repository=repository,
            )
            for i in self.installations
            if i.reaches(repository) and not i.suspended_at and event in i.app.events
        ]

    @locked
    def tell_pull(
        self, action: str, repository: Repository, pull: Pull, sender: User, **more: Any
    ) -> list[Delivery]:
        """A `pull_request` event with the pull request as it is now."""
        shape = self.shapes.pull(repository, pull)
        parts = {"action": action, "number": pull.number, "pull_request": shape, **more}
        return self.tell("pull_request", repository, sender, parts)

    @locked
    def send(self, event: str, payload: dict[str, Any]) -> Delivery:
        """Any payload to the first App, signed and recorded, as it is."""
        return self.hooks.emit(event, payload, app=self.app, at=self.now())

    def issue_token(self, **holder: Any) -> str:
        """A bearer token: an hour for installations, eight for users."""
        kind, hours = ("ghs", 1) if holder.get("installation") else ("ghu", 8)
        text = f"{kind}_{sha_of(next(self.ids))}"
        self.tokens[text] = Token(expires_at=self.now() + timedelta(hours=hours), **holder)
        return text

    def label_named(self, repository: Repository, name: str) -> Label:
        """The repository's label; made where there is none, as GitHub does."""
        found = repository.labels.get(name.lower())
        if found is None:
            found = repository.labels[name.lower()] = Label(next(self.ids), name)
        return found
