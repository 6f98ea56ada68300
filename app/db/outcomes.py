"""What became of the pull requests that rules applied to."""

from datetime import datetime

from sqlalchemy import func, select

from app.core.modes import Mode
from app.core.report import Fate, Outcome
from app.db.engine import Tx
from app.db.tables import cases, rule_acts

MOST = 50_000


def of(tx: Tx, repository_id: int, since: datetime, until: datetime) -> list[Outcome]:
    """Each rule on each pull request that was opened in the span, the latest first."""
    rows = (
        select(
            cases.c.number,
            cases.c.snapshot["title"].as_string().label("title"),
            cases.c.snapshot["user"]["login"].as_string().label("author"),
            cases.c.merged,
            cases.c.pull_state,
            cases.c.closed_at,
            rule_acts.c.rule,
            rule_acts.c.rung,
            rule_acts.c.done,
            rule_acts.c.overturned_by,
        )
        .join(rule_acts, rule_acts.c.case_id == cases.c.id)
        .where(
            cases.c.repository_id == repository_id,
            cases.c.opened_at >= since,
            cases.c.opened_at < until,
        )
        .order_by(cases.c.opened_at.desc())
        .limit(MOST)
    )
    return [
        Outcome(
            number=row.number,
            title=row.title or "",
            author=row.author,
            rule=row.rule,
            rung=Mode(row.rung),
            done=Mode(row.done),
            fate=_fate(row.merged, row.pull_state, row.closed_at),
            overturned_by=row.overturned_by,
        )
        for row in tx.execute(rows)
    ]


def _fate(merged: bool, state: str, closed_by_us_at: datetime | None) -> Fate:
    if merged:
        return "merged"
    if state == "open":
        return "open"
    return "closed_by_gate" if closed_by_us_at is not None else "closed"


def opened(tx: Tx, repository_id: int, since: datetime, until: datetime) -> int:
    """How many pull requests were opened in the span."""
    rows = select(func.count()).where(
        cases.c.repository_id == repository_id,
        cases.c.opened_at >= since,
        cases.c.opened_at < until,
    )
    return int(tx.execute(rows).scalar_one())
