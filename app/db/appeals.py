"""Appeals of authors, each with a deadline and perhaps a maintainer who is asked to answer."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy import RowMapping, func, insert, select, update

from app.core.fact import Fact
from app.core.facts import Appeal
from app.core.github import Account
from app.db.engine import Tx
from app.db.tables import appeals, cases

AppealOutcome = Literal["granted", "declined", "lapsed", "moot"]


class AppealRow(Fact):
    """One appeal. `outcome` and `by_login` are None while it is open; nobody is by for a lapse."""

    id: int
    case_id: int
    repository_id: int
    number: int
    author: str | None
    title: str
    at: datetime
    deadline_at: datetime
    words: str
    named: str | None
    ended_at: datetime | None
    outcome: AppealOutcome | None
    by_login: str | None


def open_on(tx: Tx, case_id: int) -> Appeal | None:
    """The one on a pull request that nobody answered yet."""
    rows = select(appeals.c.at, appeals.c.deadline_at, appeals.c.named).where(
        appeals.c.case_id == case_id, appeals.c.ended_at.is_(None)
    )
    row = tx.execute(rows.order_by(appeals.c.id.desc()).limit(1)).mappings().one_or_none()
    return Appeal(**row) if row else None


def last_declined(tx: Tx, case_id: int) -> datetime | None:
    """When a maintainer last said no to one."""
    rows = select(func.max(appeals.c.ended_at)).where(
        appeals.c.case_id == case_id, appeals.c.outcome == "declined"
    )
    found: datetime | None = tx.execute(rows).scalar_one()
    return found


def loads(tx: Tx, repository_id: int, logins: Sequence[str]) -> dict[str, datetime]:
    """When each of the maintainers was last asked to answer one; who never was is not there."""
    rows = (
        select(appeals.c.named, func.max(appeals.c.at))
        .where(appeals.c.repository_id == repository_id, appeals.c.named.in_(logins))
        .group_by(appeals.c.named)
    )
    return dict(tx.execute(rows).all())


def lapsed_on(tx: Tx, case_id: int) -> bool:
    """Whether one there was never answered."""
    rows = select(appeals.c.id).where(appeals.c.case_id == case_id, appeals.c.outcome == "lapsed")
    return tx.execute(rows.limit(1)).first() is not None


def add(tx: Tx, case_id: int, repository_id: int, appeal: Appeal, words: str) -> int:
    """Opens one; answers its id."""
    made = insert(appeals).values(
        case_id=case_id, repository_id=repository_id, words=words, **appeal.model_dump()
    )
    return int(tx.execute(made.returning(appeals.c.id)).scalar_one())


def end(
    tx: Tx, case_id: int, outcome: AppealOutcome, now: datetime, by: Account | None = None
) -> bool:
    """Ends the open one on a pull request; answers whether there was one."""
    ended = (
        update(appeals)
        .where(appeals.c.case_id == case_id, appeals.c.ended_at.is_(None))
        .values(
            ended_at=now,
            outcome=outcome,
            by_id=by.id if by else None,
            by_login=by.login if by else None,
        )
    )
    return bool(tx.execute(ended).rowcount)


def of_repository(tx: Tx, repository_id: int, limit: int = 50) -> tuple[AppealRow, ...]:
    """The open ones, the next deadline first, then those that ended, the latest first."""
    rows = (
        select(appeals, cases.c.number, cases.c.snapshot)
        .join(cases, cases.c.id == appeals.c.case_id)
        .where(appeals.c.repository_id == repository_id)
        .order_by(
            appeals.c.ended_at.is_not(None),
            func.coalesce(appeals.c.ended_at, appeals.c.at).desc(),
        )
        .limit(limit)
    )
    found = [_row(row) for row in tx.execute(rows).mappings()]
    waiting = sorted((a for a in found if a.ended_at is None), key=lambda a: a.deadline_at)
    return (*waiting, *(a for a in found if a.ended_at is not None))


def of_case(tx: Tx, case_id: int) -> tuple[AppealRow, ...]:
    """All on one pull request, the latest first."""
    rows = (
        select(appeals, cases.c.number, cases.c.snapshot)
        .join(cases, cases.c.id == appeals.c.case_id)
        .where(appeals.c.case_id == case_id)
        .order_by(appeals.c.id.desc())
        .limit(20)
    )
    return tuple(_row(row) for row in tx.execute(rows).mappings())


def _row(row: RowMapping) -> AppealRow:
    snapshot = row["snapshot"]
    user = snapshot.get("user") or {}
    own = {name: row[name] for name in AppealRow.model_fields if name not in {"author", "title"}}
    return AppealRow(author=user.get("login"), title=snapshot.get("title", ""), **own)
