"""What the flows need of the world, in small pieces.

Every method raises `RetryLater` where nothing is known (time-out, 5xx, rate limit, a 403 that is
one) and `Rejected` where GitHub refused for good.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, Protocol

from app.core.change import Change
from app.core.effects import Effect, Known, Receipt
from app.core.fact import Fact
from app.core.facts import PublicEvent, RepositoryRef, Role
from app.core.github import Account, Installation, PullRequest, RepositoryName
from app.core.policy import PATH, Policy
from app.core.problems import Problem
from app.core.proofs.diff import Patch
from app.core.proofs.mails import Mail
from app.core.text import one_line


class PolicyFile(Fact):
    """`.github/pulsegate.yml` as read: its blob id and text (at most 100 kB)."""

    sha: str
    text: str


class Reading(Fact):
    """A configuration file as read: its policy and what is written there, or what is wrong.

    `written` is JSON, before any default is put below it.
    """

    policy: Policy | None = None
    written: dict[str, Any] | None = None
    problems: tuple[Problem, ...] = ()

    def complaint(self) -> str:
        """What is wrong, in one line; the first problems."""
        listed = "; ".join(str(problem) for problem in self.problems[:5])
        return one_line(f"{PATH} is not understood: {listed}", 1000)


class MailSender(Protocol):
    """Mail out."""

    def send(self, mail: Mail, now: datetime, reference: str) -> None:
        """Hands a mail to the server. `Rejected` where it will never be taken for that address.

        `reference` names the mail should it come back: letters, digits and hyphens.
        """


class Policies(Protocol):
    """Configuration files as policies."""

    def read(self, text: str, default: Mapping[str, Any] | None = None) -> Reading:
        """A file as a policy, laid over the organisation's default. Never raises."""

    def combine(self, default: Mapping[str, Any] | None, own: Mapping[str, Any] | None) -> Policy:
        """The policy of what two files say, the second over the first.

        Mappings merge, lists and single values replace. `UserError` where the two do not fit.
        """


class Reader(Protocol):
    """Reads of one repository."""

    def role(self, repository: RepositoryRef, account: Account) -> Role:
        """Live permission of an account; NONE for one that GitHub does not know any more.

        The answer counts only if GitHub names the same numeric id: logins are recycled.
        """

    def pull(self, repository: RepositoryRef, number: int) -> PullRequest:
        """The pull request as it is now."""

    def change(self, repository: RepositoryRef, number: int) -> Change:
        """What a pull request changes and which issues it is for: one request.

        `Rejected` with 404 also where the server has no GraphQL.
        """

    def patches(self, repository: RepositoryRef, number: int) -> tuple[Patch, ...]:
        """The first hundred files of the diff, with their hunks: one request."""

    def spoke_since(
        self, repository: RepositoryRef, number: int, account: Account, since: datetime
    ) -> datetime | None:
        """When an account last wrote a comment or review on a pull request after `since`."""

    def activity(self, repository: RepositoryRef, account: Account) -> tuple[PublicEvent, ...]:
        """The newest public events of an account, at most 100: one request.

        Empty where GitHub shows none. Those of another account that has the login now are left out.
        """

    def account(self, repository: RepositoryRef, login: str) -> Account | None:
        """The account that has a login now; None where nobody has. Case does not matter."""

    def policy_file(
        self, repository: RepositoryRef, *, ref: str | None = None
    ) -> PolicyFile | None:
        """The configuration on the default branch, or at a commit; None where there is none."""

    def require(self, repository: RepositoryRef) -> None:
        """`Rejected` with 404 where we cannot see a repository (any more).

        A file that is not found there says nothing then.
        """

    def open_pulls(self, repository: RepositoryRef) -> Iterator[PullRequest]:
        """All open pull requests, the most recently updated first."""


class Writer(Protocol):
    """The one door for acts on a pull request."""

    def carry_out(  # noqa: PLR0913 - the six things that name one write
        self,
        repository: RepositoryRef,
        number: int,
        effect: Effect,
        *,
        key: str,
        known: Known,
        again: bool,
    ) -> Receipt:
        """Bring about the wanted state, exactly once.

        `key` is the effect's own; `again` says that an earlier attempt may have been carried out
        although we never saw the answer, so that a comment or check run is first looked for.
        `number` is 0 for a check run that belongs to no pull request (merge queue).
        """


class Delivery(Fact):
    """One attempt of GitHub to deliver a webhook, as `/app/hook/deliveries` lists it."""

    id: int
    guid: str
    delivered_at: datetime
    ok: bool


class AppApi(Protocol):
    """What the App itself may ask, across installations."""

    def installation(self, installation_id: int) -> Installation:
        """One installation; `Rejected` with status 404 once it was deleted."""

    def repositories(self, installation_id: int) -> Iterator[RepositoryName]:
        """All repositories that an installation may reach."""

    def deliveries(self, since: datetime) -> Iterator[Delivery]:
        """Attempts at delivery, newest first, down to `since`."""

    def redeliver(self, delivery_id: int) -> None:
        """Ask GitHub to deliver once more."""

    def forget(self, installation_id: int) -> None:
        """Drop every token kept for an installation."""


Task = Literal["triage", "perform", "reconcile", "simulate", "mail"]


class Doorbell(Protocol):
    """Wakes a worker up. It may fail silently: the sweep finds what was not rung for."""

    def ring(self, task: Task, id: int) -> None:
        """Say that a committed row waits. Bounded in time; never raises."""
