"""What decisions cost: requests to GitHub are counted, and wait where the day's budget is spent."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.core.budget import WORDS, Resource, Tier, free_again, is_spent, tier_of
from app.core.errors import RetryLater
from app.core.facts import Role
from app.core.policy import Policy
from app.core.ports import Reader
from app.db import cases, trust, usage
from app.db.engine import Database
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
        history = cases.history(tx, row.case.repository_id, author.id, row.case.number)
        word = trust.current(tx, row.case.repository_id, author.id, now)
    return tier_of(history, word)


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
