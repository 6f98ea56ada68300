"""One account's pull requests that rules hold up, or that we closed, wherever they are."""

from datetime import datetime

from sqlalchemy import and_, or_, select

from app.core.decision import CaseState
from app.core.fact import Fact
from app.db import appeals
from app.db.engine import Tx
from app.db.tables import cases, installations, repositories


class Held(Fact):
    """One of them. `appeal_until`: an appeal is open until then; None without one."""

    repository_id: int
    repository: str
    number: int
    title: str
    closed: bool
    decided_at: datetime | None
    appeal_until: datetime | None = None


def held(tx: Tx, account_id: int, limit: int = 50) -> tuple[Held, ...]:
    """The newest ones. Nothing of a recording."""
    rows = (
        select(
            cases.c.id,
            cases.c.repository_id,
            (repositories.c.owner + "/" + repositories.c.name).label("repository"),
            cases.c.number,
            cases.c.snapshot["title"].as_string().label("title"),
            cases.c.closed_at,
            cases.c.decided_at,
        )
        .join(repositories, repositories.c.id == cases.c.repository_id)
        .join(installations, installations.c.id == repositories.c.installation_id)
        .where(
            cases.c.author_id == account_id,
            installations.c.recording.is_(None),
            installations.c.deleted_at.is_(None),
            repositories.c.removed_at.is_(None),
            or_(
                cases.c.closed_at.is_not(None),
                and_(cases.c.state == CaseState.FLAGGED, cases.c.pull_state == "open"),
            ),
        )
        .order_by(cases.c.opened_at.desc())
        .limit(limit)
    )
    found = []
    for row in tx.execute(rows):
        appeal = appeals.open_on(tx, row.id)
        found.append(
            Held(
                repository_id=row.repository_id,
                repository=row.repository,
                number=row.number,
                title=row.title or "",
                closed=row.closed_at is not None,
                decided_at=row.decided_at,
                appeal_until=appeal.deadline_at if appeal else None,
            )
        )
    return tuple(found)
