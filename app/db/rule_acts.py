"""What each rule did or would have done on each pull request, and what people took back."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.core.modes import Mode
from app.core.rules.base import Finding
from app.db.engine import Tx
from app.db.tables import rule_acts


def keep(  # noqa: PLR0913 - the columns of the rows
    tx: Tx,
    case_id: int,
    repository_id: int,
    findings: Iterable[Finding],
    most: Mode,
    now: datetime,
) -> None:
    """Notes the rules that apply and how far they go, at most `most`."""
    for finding in findings:
        made = insert(rule_acts).values(
            case_id=case_id,
            rule=finding.rule,
            repository_id=repository_id,
            at=now,
            rung=min(finding.rung, most),
            done=min(finding.rung, finding.in_force, most),
        )
        further = {
            "rung": func.greatest(rule_acts.c.rung, made.excluded.rung),
            "done": func.greatest(rule_acts.c.done, made.excluded.done),
        }
        tx.execute(made.on_conflict_do_update(index_elements=["case_id", "rule"], set_=further))


def overturn(tx: Tx, case_ids: Iterable[int], by: str, now: datetime) -> set[str]:
    """A person took back what the rules did on these; answers which rules, each act once."""
    taken = (
        update(rule_acts)
        .where(
            rule_acts.c.case_id.in_(list(case_ids)),
            rule_acts.c.done >= Mode.LABEL,
            rule_acts.c.overturned_at.is_(None),
        )
        .values(overturned_at=now, overturned_by=by[:100])
    )
    return set(tx.execute(taken.returning(rule_acts.c.rule)).scalars())


def counts(tx: Tx, repository_id: int, rule: str, since: datetime) -> tuple[int, int]:
    """How many acts of a rule people overturned since a time, and out of how many."""
    row = tx.execute(
        select(
            func.count().filter(rule_acts.c.overturned_at.is_not(None)),
            func.count(),
        ).where(
            rule_acts.c.repository_id == repository_id,
            rule_acts.c.rule == rule,
            rule_acts.c.at >= since,
            rule_acts.c.done >= Mode.LABEL,
        )
    ).one()
    return row[0], row[1]
