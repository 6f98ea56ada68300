"""What people did by hand in one repository, for its page."""

from datetime import datetime

from sqlalchemy import select

from app.core.fact import Fact
from app.core.facts import HandAct
from app.db.engine import Tx
from app.db.tables import cases, hands


class ByHand(Fact):
    """One act."""

    number: int
    title: str
    act: HandAct
    login: str
    at: datetime
    reason: str


def of_repository(tx: Tx, repository_id: int, limit: int = 50) -> tuple[ByHand, ...]:
    """The latest ones. An author's appeal is none: it governs nothing."""
    rows = (
        select(
            cases.c.number,
            cases.c.snapshot["title"].as_string().label("title"),
            hands.c.act,
            hands.c.login,
            hands.c.at,
            hands.c.reason,
        )
        .join(cases, cases.c.id == hands.c.case_id)
        .where(cases.c.repository_id == repository_id, hands.c.act != "appealed")
        .order_by(hands.c.at.desc(), hands.c.id.desc())
        .limit(limit)
    )
    return tuple(ByHand(**row) for row in tx.execute(rows).mappings())
