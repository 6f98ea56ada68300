"""How one repository stands: its goals and how fast the allowance burns, and the day's budgets."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import get_args

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.core.budget import WORDS, Resource, free_again
from app.core.policy import Policy
from app.core.slo import WINDOWS, Goal, Share, Slo
from app.db import inbox, installations, slo_report, usage
from app.db.engine import Tx
from app.flows.spending import SPENT
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.sight import place
from app.web.viewer import AnyViewer

router = APIRouter()

_NAMES: dict[Goal, str] = {
    "first_decision": "First decision",
    "first_look": "First look by a person",
}


@dataclass(frozen=True)
class GoalRow:
    """One goal. `burns` are (window, rate) over the last hour, six hours and three days."""

    name: str
    sentence: str
    met: bool
    burns: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class BudgetRow:
    """What was spent today of one budget, by tier: `used of limit`."""

    name: str
    newcomer: str
    known: str
    trusted: str


@dataclass(frozen=True)
class GoalsPage(Page):
    """`goals.html`."""

    repository: str
    list_href: str
    goals: tuple[GoalRow, ...]
    budgets: tuple[BudgetRow, ...]
    resets_at: datetime
    waiting: int
    waits_until: datetime | None
    audit_href: str


@router.get("/goals/{owner}/{repo}")
def goals(request: Request, parts: Parts, viewer: AnyViewer, owner: str, repo: str) -> Response:
    """The page."""
    where, now = place(parts, viewer, owner, repo), parts.clock()
    with parts.base.database.begin() as tx:
        standing = installations.standing(tx, where.id)
        policy = standing.policy if standing else Policy()
        rows = tuple(_goal(tx, goal, policy.slo, where.id, now) for goal in get_args(Goal))
        budgets = _budgets(tx, policy, where.id, now)
        waiting, until = inbox.waiting(tx, [where.id], SPENT)
    page = GoalsPage(
        title=f"Goals of {where.full_name}",
        repository=where.full_name,
        list_href=f"/?repository={where.full_name}",
        goals=rows,
        budgets=budgets,
        resets_at=free_again(now),
        waiting=waiting,
        waits_until=until,
        audit_href=f"/audit.jsonl?repository={where.full_name}",
    )
    return render(request, "goals.html", page)


def _goal(tx: Tx, goal: Goal, slo: Slo, repository_id: int, now: datetime) -> GoalRow:
    def over(window: timedelta) -> Share:
        limit = slo.limit(goal)
        return slo_report.share(tx, goal, [repository_id], limit=limit, window=window, now=now)

    whole = over(timedelta(days=slo.window_days))
    shares = {name: over(window) for name, window in WINDOWS.items()}
    return GoalRow(
        name=_NAMES[goal],
        sentence=_sentence(goal, slo, whole),
        met=not whole.total or whole.met() >= slo.target,
        burns=tuple(
            (name, f"{found.burn(slo.target):.1f}" if found.total else "–")
            for name, found in shares.items()
        ),
    )


def _sentence(goal: Goal, slo: Slo, found: Share) -> str:
    within = (
        f"{slo.first_decision_minutes} minutes"
        if goal == "first_decision"
        else f"{slo.first_look_hours} hours"
    )
    asked = f"{slo.target:.1%} within {within} asked for, over {slo.window_days} days"
    if not found.total:
        return f"{asked}; nothing to count yet."
    return f"{asked}; {found.met():.1%} of {found.total:,}, burn rate {found.burn(slo.target):.1f}."


def _budgets(tx: Tx, policy: Policy, repository_id: int, now: datetime) -> tuple[BudgetRow, ...]:
    spent = usage.of_day(tx, repository_id, now)
    rows = []
    for resource in get_args(Resource):
        budget = policy.budgets.of(resource)
        cells = {}
        for tier in ("newcomer", "known", "trusted"):
            limit = getattr(budget, tier)
            of = ", no limit" if limit is None else f" of {limit:,}"
            cells[tier] = f"{spent.get((resource, tier), 0):,}{of}"
        rows.append(BudgetRow(name=WORDS[resource], **cells))
    return tuple(rows)
