"""Budgets: what a day may cost for authors of each tier; what is over waits for the next day."""

from datetime import UTC, datetime, time, timedelta
from typing import Literal

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


class Budget(Strict):
    """So much a day (UTC), by the author's tier. `null`: no limit."""

    newcomer: int | None = Field(
        default=None, strict=True, ge=0, le=10_000_000, description="Authors with none merged here."
    )
    known: int | None = Field(
        default=None, strict=True, ge=0, le=10_000_000, description="Authors with one merged here."
    )
    trusted: int | None = Field(
        default=None,
        strict=True,
        ge=0,
        le=10_000_000,
        description=f"Authors with {TRUSTED_MERGED} merged here, or vouched for.",
    )


class Budgets(Strict):
    """What a day may cost. Maintainers, and what they ask for, are never held up."""

    github_requests: Budget = Field(
        default=Budget(newcomer=20_000, known=20_000),
        description="Requests to GitHub for decisions; of GitHub's 5,000 an hour and installation.",
    )
    mails: Budget = Field(
        default=Budget(newcomer=500, known=500), description="Mails to contributors."
    )
    runner_minutes: Budget = Field(
        default=Budget(newcomer=0, known=120), description="Minutes on hardware runners."
    )

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
