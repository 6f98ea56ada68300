"""Budgets: what a day may cost for authors of each tier; what is over waits for the next day."""

from datetime import UTC, datetime, time, timedelta
from typing import Annotated, Literal

from pydantic import Field

from app.core.config import Strict
from app.core.facts import History, Trust

Resource = Literal["github_requests", "mails", "runner_minutes"]
Tier = Literal["newcomer", "known", "trusted"]
WORDS: dict[Resource, str] = {
    "github_requests": "requests to GitHub",
    "mails": "mails",
    "runner_minutes": "minutes on runners",
}
# So many merged pull requests here make an author trusted, as a maintainer's word does at once.
TRUSTED_MERGED = 3


_Amount = Annotated[int | None, Field(strict=True, ge=0, le=10_000_000)]
_NEWCOMER = "Authors with none merged here."
_KNOWN = "Authors with one merged here."
_TRUSTED = f"Authors with {TRUSTED_MERGED} merged here, or vouched for."


class Budget(Strict):
    """So much a day (UTC), by the author's tier. `null`: no limit."""

    newcomer: _Amount = Field(default=None, description=_NEWCOMER)
    known: _Amount = Field(default=None, description=_KNOWN)
    trusted: _Amount = Field(default=None, description=_TRUSTED)


# A type for each, so that who names one tier leaves the others as they are.
class RequestsBudget(Budget):
    """Requests to GitHub for decisions; of GitHub's 5,000 an hour and installation."""

    newcomer: _Amount = Field(default=20_000, description=_NEWCOMER)
    known: _Amount = Field(default=20_000, description=_KNOWN)


class MailsBudget(Budget):
    """Mails to contributors."""

    newcomer: _Amount = Field(default=500, description=_NEWCOMER)
    known: _Amount = Field(default=500, description=_KNOWN)


class RunnerBudget(Budget):
    """Minutes on hardware runners."""

    newcomer: _Amount = Field(default=0, description=_NEWCOMER)
    known: _Amount = Field(default=120, description=_KNOWN)


class Budgets(Strict):
    """What a day may cost. Maintainers, and what they ask for, are never held up."""

    github_requests: RequestsBudget = RequestsBudget()
    mails: MailsBudget = MailsBudget()
    runner_minutes: RunnerBudget = RunnerBudget()

    def of(self, resource: Resource) -> Budget:
        """The budget of one resource."""
        found: Budget = getattr(self, resource)
        return found


def tier_of(history: History, trust: Trust | None) -> Tier:
    """The tier of an author, by what we saw of them here."""
    vouched = trust is not None and trust.kind == "vouched"
    if vouched or history.merged >= TRUSTED_MERGED:
        return "trusted"
    return "known" if history.merged else "newcomer"


def is_spent(budget: Budget, tier: Tier, used: int) -> bool:
    """Whether nothing is left of the day's budget of a tier."""
    limit: int | None = getattr(budget, tier)
    return limit is not None and used >= limit


def free_again(now: datetime) -> datetime:
    """When the next day's budget begins: midnight UTC."""
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
