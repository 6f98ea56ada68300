"""What a day costs: requests to GitHub and mails are counted, and wait where its budget is spent."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.core.budget import WORDS, Resource, Tier, free_again, is_spent, tier_of
from app.core.errors import RetryLater
from app.core.facts import Role
from app.core.policy import Policy
from app.core.ports import Reader
from app.db import cases, mails, trust, usage
from app.db.engine import Database, Tx, hold
from app.flows.evidence import Evidence, Roles

SPENT = "the day's budget"


class OverBudget(RetryLater):
    """Nothing is wrong: it waits until `until`, however often it was tried."""

    def __init__(self, resource: Resource, tier: Tier, until: datetime) -> None:
        super().__init__(
            f"{SPENT} of {WORDS[resource]} for {tier} authors is spent; it waits until "
            f"{until:%Y-%m-%d %H:%M} UTC"
        )
        self.until = until


@dataclass
class Counted:
    """A `Reader` that counts its requests; one for each run of a flow."""

    reader: Reader
    count: int = field(default=0)

    def __getattr__(self, name: str) -> Any:
        """Every read of the port, counted as one request."""
        read: Callable[..., Any] = getattr(self.reader, name)

        def counting(*args: Any, **more: Any) -> Any:
            self.count += 1
            return read(*args, **more)

        return counting

    def take(self) -> int:
        """What was counted since the last call."""
        taken, self.count = self.count, 0
        return taken


def tier(database: Database, row: cases.Row, now: datetime) -> Tier:
    """The tier of a pull request's author; newcomer where the account is gone."""
    author = row.pull.user
    if author is None:
        return "newcomer"
    with database.begin() as tx:
        return tier_of_account(tx, row.case.repository_id, author.id, now, row.case.number)


def tier_of_account(
    tx: Tx, repository_id: int, account_id: int, now: datetime, number: int = 0
) -> Tier:
    """The tier of an account, by its pull requests in a repository but `number`."""
    history = cases.history(tx, repository_id, account_id, number)
    return tier_of(history, trust.current(tx, repository_id, account_id, now))


def mails_until(tx: Tx, policy: Policy, owned: mails.Owned, now: datetime) -> datetime | None:
    """When there is a budget for one more mail; None where the day's has room.

    Never held up is whom a maintainer asked to show that they are there. Others who spend of the same
    budget wait until this transaction ends.
    """
    budget = policy.budgets.of("mails")
    if getattr(budget, owned.tier) is None:
        return None
    hold(tx, f"budget:mails:{owned.repository_id}:{owned.tier}")
    spent = usage.used(tx, owned.repository_id, "mails", owned.tier, now)
    if not is_spent(budget, owned.tier, spent):
        return None
    word = trust.current(tx, owned.repository_id, owned.account_id, now)
    return None if word is not None and word.kind == "to_verify" else free_again(now)


def require_budget(
    row: cases.Row, evidence: Evidence, roles: Roles, policy: Policy, tier: Tier
) -> None:
    """Raises `OverBudget` where the day's budget for such authors is spent.

    Never for the team, and never where one of them did or asked something, or its author appeals.
    """
    author, now = row.pull.user, roles.now
    asked = evidence.hands or evidence.by_team or evidence.force
    if author is None or asked or roles.standing.recorded:
        return
    budget = policy.budgets.of("github_requests")
    if getattr(budget, tier) is None:
        return
    with roles.database.begin() as tx:
        spent = usage.used(tx, row.case.repository_id, "github_requests", tier, now)
    if not is_spent(budget, tier, spent):
        return
    role = roles.of(author)
    if role is not None and role >= Role.TRIAGE:
        return
    raise OverBudget("github_requests", tier, free_again(now))
