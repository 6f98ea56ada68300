"""What the App asks in its own name, across installations."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from pydantic import AwareDatetime

from app.adapters.github.client import GitHub
from app.adapters.github.connection import path
from app.adapters.github.errors import narrow
from app.adapters.github.reader import items
from app.core.github import Id, Installation, Line, Narrow, RepositoryName
from app.core.ports import Delivery


class Identity(NamedTuple):
    """The App as GitHub names it."""

    app_id: int
    slug: str


class _App(Narrow):
    id: Id
    slug: Line


class _Repositories(Narrow):
    repositories: tuple[RepositoryName, ...]


class _Delivery(Narrow):
    id: Id
    guid: Line
    delivered_at: AwareDatetime
    status_code: int


class GitHubAppApi:
    """`core.ports.AppApi`."""

    def __init__(self, github: GitHub) -> None:
        self._github = github

    def identity(self) -> Identity:
        """Which App our credentials are; `RetryLater` where GitHub does not accept them."""
        found = narrow(_App, self._github.app().read("/app").payload)
        return Identity(found.id, found.slug)

    def installation(self, installation_id: int) -> Installation:
        """One installation; `Rejected` with status 404 once it was deleted."""
        where = path("app", "installations", installation_id)
        return narrow(Installation, self._github.app().read(where).payload)

    def repositories(self, installation_id: int) -> Iterator[RepositoryName]:
        """All repositories that an installation may reach."""
        github = self._github.installation(installation_id)
        for page in github.pages("/installation/repositories"):
            yield from narrow(_Repositories, page.payload).repositories

    def deliveries(self, since: datetime) -> Iterator[Delivery]:
        """Attempts at delivery, newest first, down to `since` (which has a time zone)."""
        for page in self._github.app().pages("/app/hook/deliveries"):
            for item in items(page.payload):
                found = narrow(_Delivery, item)
                if found.delivered_at < since:
                    return
                yield Delivery(
                    id=found.id,
                    guid=found.guid,
                    delivered_at=found.delivered_at,
                    ok=200 <= found.status_code < 300,
                )

    def redeliver(self, delivery_id: int) -> None:
        """Ask GitHub to deliver once more."""
        where = path("app", "hook", "deliveries", delivery_id, "attempts")
        self._github.app().write("POST", where)

    def forget(self, installation_id: int) -> None:
        """Drop every token kept for an installation."""
        self._github.forget(installation_id)
