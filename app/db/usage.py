"""What was spent of the day's budgets."""

from datetime import datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert

from app.core.budget import Resource, Tier
from app.db.engine import Tx
from app.db.tables import usage

KEPT = timedelta(days=90)


def add(  # noqa: PLR0913 - the columns of the row
    tx: Tx, repository_id: int, resource: Resource, tier: Tier, amount: int, now: datetime
) -> None:
    """Counts what was spent just now."""
    if amount <= 0:
        return
    made = insert(usage).values(
        repository_id=repository_id, day=now.date(), resource=resource, tier=tier, used=amount
    )
    tx.execute(
        made.on_conflict_do_update(
            index_elements=["repository_id", "day", "resource", "tier"],
            set_={"used": usage.c.used + made.excluded.used},
        )
    )


def used(tx: Tx, repository_id: int, resource: Resource, tier: Tier, now: datetime) -> int:
    """What was spent on this day (UTC)."""
    rows = select(func.coalesce(func.sum(usage.c.used), 0)).where(
        usage.c.repository_id == repository_id,
        usage.c.day == now.date(),
        usage.c.resource == resource,
        usage.c.tier == tier,
    )
    return int(tx.execute(rows).scalar_one())


def of_day(tx: Tx, repository_id: int, now: datetime) -> dict[tuple[str, str], int]:
    """All that was spent on this day, by (resource, tier)."""
    rows = select(usage.c.resource, usage.c.tier, usage.c.used).where(
        usage.c.repository_id == repository_id, usage.c.day == now.date()
    )
    return {(row.resource, row.tier): row.used for row in tx.execute(rows)}


def forget(tx: Tx, now: datetime) -> None:
    """Deletes what nobody looks at any more."""
    tx.execute(delete(usage).where(usage.c.day < (now - KEPT).date()))
