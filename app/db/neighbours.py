"""Other pull requests that bear on one: its author's, and those for the same issues."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, false, func, or_, select, tuple_
from sqlalchemy.dialects.postgresql import insert

from app.core.change import LinkedIssue
from app.core.decision import CaseState
from app.core.facts import OpenPull, Rival
from app.core.modes import Mode
from app.core.rules.base import Finding
from app.db.engine import Tx
from app.db.tables import case_issues, cases, decisions, installations, repositories

# More at a time are a flood, whatever their number.
MOST = 500
_MOST_HELD = 20_000
_LAST = and_(decisions.c.case_id == cases.c.id, decisions.c.version == cases.c.version)


def _real(*, recorded: bool) -> ColumnElement[bool]:
    """Cases of recordings, or all others: the two have nothing to do with each other."""
    recording = installations.c.recording
    return (
        select(repositories.c.id)
        .join(installations, installations.c.id == repositories.c.installation_id)
        .where(
            repositories.c.id == cases.c.repository_id,
            recording.is_not(None) if recorded else recording.is_(None),
        )
        .exists()
    )


def opened_anywhere(
    tx: Tx, author_id: int, at: datetime, within: timedelta, *, recorded: bool
) -> tuple[datetime, ...]:
    """When the author's pull requests were opened near a time, in whatever repository."""
    rows = (
        select(cases.c.opened_at)
        .where(
            cases.c.author_id == author_id,
            cases.c.opened_at.between(at - within, at + within),
            _real(recorded=recorded),
        )
        .order_by(func.greatest(cases.c.opened_at - at, at - cases.c.opened_at))
        .limit(MOST)
    )
    return tuple(tx.execute(rows).scalars())


def near_anywhere(
    tx: Tx, author_id: int, at: datetime, within: timedelta, *, recorded: bool
) -> list[tuple[int, int]]:
    """The author's open pull requests opened near a time, as (repository id, number)."""
    rows = (
        select(cases.c.repository_id, cases.c.number)
        .where(
            cases.c.author_id == author_id,
            cases.c.pull_state == "open",
            cases.c.version > 0,
            cases.c.opened_at.between(at - within, at + within),
            _real(recorded=recorded),
        )
        .order_by(cases.c.id)
        .limit(MOST)
    )
    return [(row.repository_id, row.number) for row in tx.execute(rows)]


def open_pulls(tx: Tx, repository_id: int, author_id: int) -> tuple[OpenPull, ...]:
    """The author's open pull requests here, the earliest first."""
    rows = (
        select(
            cases.c.number,
            cases.c.opened_at,
            cases.c.again_at,
            cases.c.ready_at,
            cases.c.snapshot["draft"].as_boolean().label("draft"),
        )
        .where(
            cases.c.repository_id == repository_id,
            cases.c.author_id == author_id,
            cases.c.pull_state == "open",
        )
        .order_by(cases.c.opened_at, cases.c.number)
        .limit(MOST)
    )
    return tuple(
        OpenPull(
            number=row.number,
            at=row.opened_at,
            draft=bool(row.draft),
            again_at=row.again_at,
            ready_at=row.ready_at,
        )
        for row in tx.execute(rows)
    )


def put_issues(tx: Tx, case_id: int, issues: Iterable[LinkedIssue]) -> None:
    """Keeps which issues a pull request is for."""
    wanted = {(issue.repository_id, issue.number) for issue in issues if issue.repository_id}
    theirs = tuple_(case_issues.c.repository_id, case_issues.c.number)
    gone = theirs.not_in(wanted) if wanted else ~false()
    tx.execute(delete(case_issues).where(case_issues.c.case_id == case_id, gone))
    rows = [
        {"case_id": case_id, "repository_id": repository, "number": number}
        for repository, number in sorted(wanted)
    ]
    if rows:
        tx.execute(insert(case_issues).on_conflict_do_nothing(), rows)


def rivals(
    tx: Tx, repository_id: int, number: int, issues: Sequence[LinkedIssue]
) -> tuple[Rival, ...]:
    """Other open pull requests here that are for one of the issues of this repository."""
    own = [issue.number for issue in issues if issue.repository_id == repository_id]
    if not own:
        return ()
    rows = (
        select(
            case_issues.c.number.label("issue"),
            cases.c.number,
            cases.c.opened_at,
            cases.c.author_id,
            cases.c.state,
            decisions.c.decision["findings"].label("findings"),
        )
        .join(cases, cases.c.id == case_issues.c.case_id)
        .outerjoin(decisions, _LAST)
        .where(
            case_issues.c.repository_id == repository_id,
            case_issues.c.number.in_(own),
            cases.c.repository_id == repository_id,
            cases.c.number != number,
            cases.c.pull_state == "open",
        )
        .order_by(cases.c.opened_at, cases.c.number)
        .limit(MOST)
    )
    return tuple(
        Rival(
            issue=row.issue,
            number=row.number,
            at=row.opened_at,
            author_id=row.author_id,
            good=_is_good(row.state, row.findings),
        )
        for row in tx.execute(rows)
    )


def _is_good(state: str, findings: Any) -> bool:
    """Whether nothing is asked of it. What a rule only observes is told to nobody."""
    found = [Finding.model_validate(f) for f in findings or ()]
    return state != CaseState.CLOSED and all(f.in_force < Mode.LABEL for f in found)


def with_finding(tx: Tx, repository_id: int, author_id: int, rule: str) -> list[int]:
    """The author's pull requests here to which a rule applied last, open or closed by us.

    What we closed has no findings of its own any more: its last close names the rules.
    """
    closed_for = [{"effect": {"kind": "close", "rules": [rule]}}]
    rows = (
        select(cases.c.number)
        .join(decisions, _LAST)
        .where(
            cases.c.repository_id == repository_id,
            cases.c.author_id == author_id,
            or_(
                and_(
                    cases.c.pull_state == "open",
                    decisions.c.decision["findings"].contains([{"rule": rule}]),
                ),
                and_(
                    cases.c.closed_at.is_not(None),
                    decisions.c.decision["planned"].contains(closed_for),
                ),
            ),
        )
        .order_by(cases.c.opened_at, cases.c.number)
        .limit(MOST)
    )
    return list(tx.execute(rows).scalars())


def standing_of(tx: Tx, repository_id: int, author_id: int) -> list[int]:
    """The author's pull requests here that are open or closed by us."""
    rows = (
        select(cases.c.number)
        .where(
            cases.c.repository_id == repository_id,
            cases.c.author_id == author_id,
            or_(cases.c.pull_state == "open", cases.c.closed_at.is_not(None)),
        )
        .order_by(cases.c.number)
        .limit(MOST)
    )
    return list(tx.execute(rows).scalars())


def held_up(tx: Tx, repository_id: int) -> list[int]:
    """Open pull requests here that a rule applied to when they were last decided."""
    rows = (
        select(cases.c.number)
        .where(
            cases.c.repository_id == repository_id,
            cases.c.state == CaseState.FLAGGED,
            cases.c.pull_state == "open",
        )
        .order_by(cases.c.decided_at.desc())
        .limit(_MOST_HELD)
    )
    return list(tx.execute(rows).scalars())


def sharing_issues(tx: Tx, case_id: int) -> list[int]:
    """Other open pull requests of the same repository that are for one of a case's issues."""
    mine, theirs = case_issues.alias("mine"), case_issues.alias("theirs")
    one = cases.alias("one")
    rows = (
        select(cases.c.number)
        .join(theirs, theirs.c.case_id == cases.c.id)
        .join(
            mine,
            and_(mine.c.repository_id == theirs.c.repository_id, mine.c.number == theirs.c.number),
        )
        .join(one, one.c.id == mine.c.case_id)
        .where(
            one.c.id == case_id,
            cases.c.id != case_id,
            cases.c.repository_id == one.c.repository_id,
            cases.c.pull_state == "open",
            cases.c.version > 0,
        )
        .distinct()
        .order_by(cases.c.number)
        .limit(MOST)
    )
    return list(tx.execute(rows).scalars())


def linked_to(tx: Tx, repository_id: int, issue: int) -> list[tuple[int, int]]:
    """Pull requests for an issue that are open or closed by us, as (repository id, number)."""
    rows = (
        select(cases.c.repository_id, cases.c.number)
        .join(case_issues, case_issues.c.case_id == cases.c.id)
        .where(
            case_issues.c.repository_id == repository_id,
            case_issues.c.number == issue,
            cases.c.version > 0,
            or_(cases.c.pull_state == "open", cases.c.closed_at.is_not(None)),
        )
        .order_by(cases.c.id)
        .limit(MOST)
    )
    return [(row.repository_id, row.number) for row in tx.execute(rows)]
