"""Stands where GitHub would be while no App is configured: nothing is known, nothing is done."""

from collections.abc import Iterator
from datetime import datetime
from typing import NoReturn

from app.core.change import Change
from app.core.effects import Effect, Receipt
from app.core.errors import RetryLater
from app.core.facts import PublicEvent, RepositoryRef, Role
from app.core.github import Account, Installation, PullRequest, RepositoryName
from app.core.ports import Delivery, PolicyFile
from app.core.proofs.diff import Patch


def _nobody() -> NoReturn:
    raise RetryLater("no GitHub App is configured; see /setup")


class NoGitHub:
    """`Reader`, `Writer` and `AppApi` of `core.ports`; every call raises `RetryLater`."""

    def role(self, repository: RepositoryRef, account: Account) -> Role:  # noqa: ARG002 - the port's
        """See the port."""
        _nobody()

    def pull(self, repository: RepositoryRef, number: int) -> PullRequest:  # noqa: ARG002 - the port's
        """See the port."""
        _nobody()

    def change(self, repository: RepositoryRef, number: int) -> Change:  # noqa: ARG002 - the port's
        """See the port."""
        _nobody()

    def patches(self, repository: RepositoryRef, number: int) -> tuple[Patch, ...]:  # noqa: ARG002 - the port's
        """See the port."""
        _nobody()

    def spoke_since(
        self,
        repository: RepositoryRef,  # noqa: ARG002 - the port's
        number: int,  # noqa: ARG002 - the port's
        account: Account,  # noqa: ARG002 - the port's
        since: datetime,  # noqa: ARG002 - the port's
    ) -> datetime | None:
        """See the port."""
        _nobody()

    def activity(self, repository: RepositoryRef, account: Account) -> tuple[PublicEvent, ...]:  # noqa: ARG002 - the port's
        """See the port."""
        _nobody()

    def account(self, repository: RepositoryRef, login: str) -> Account | None:  # noqa: ARG002 - the port's
        """See the port."""
        _nobody()

    def policy_file(
        self,
        repository: RepositoryRef,  # noqa: ARG002 - the port's
        *,
        ref: str | None = None,  # noqa: ARG002 - the port's
    ) -> PolicyFile | None:
        """See the port."""
        _nobody()

    def require(self, repository: RepositoryRef) -> None:  # noqa: ARG002 - the port's
        """See the port."""
        _nobody()

    def open_pulls(self, repository: RepositoryRef) -> Iterator[PullRequest]:  # noqa: ARG002 - the port's
        """See the port."""
        _nobody()

    def carry_out(
        self,
        repository: RepositoryRef,  # noqa: ARG002 - the port's
        number: int,  # noqa: ARG002 - the port's
        effect: Effect,  # noqa: ARG002 - the port's
        **_: object,
    ) -> Receipt:
        """See the port."""
        _nobody()

    def installation(self, installation_id: int) -> Installation:  # noqa: ARG002 - the port's
        """See the port."""
        _nobody()

    def repositories(self, installation_id: int) -> Iterator[RepositoryName]:  # noqa: ARG002 - the port's
        """See the port."""
        _nobody()

    def deliveries(self, since: datetime) -> Iterator[Delivery]:  # noqa: ARG002 - the port's
        """See the port."""
        _nobody()

    def redeliver(self, delivery_id: int) -> None:  # noqa: ARG002 - the port's
        """See the port."""
        _nobody()

    def forget(self, installation_id: int) -> None:
        """There is nothing kept for it: the one call that may go on."""
