"""The maintainers' queue: open pull requests in the order worth looking at. Read-only, for pages."""

from typing import Any

from sqlalchemy import text

from app.core.fact import Fact
from app.core.queueing import Tier
from app.db import reports
from app.db.engine import Tx
from app.db.reports import Line, Wanted


class QueueKey(Fact):
    """Where a page of the queue ends: what stands behind it comes next."""

    tier: Tier
    order: float
    case_id: int


class Queued(Fact):
    """One that waits, and its part of the queue."""

    key: QueueKey
    line: Line


def queue(tx: Tx, wanted: Wanted, after: QueueKey | None, *, limit: int) -> list[Queued]:
    """Open ones that were decided, the first in the queue first; the index gives the order."""
    if not wanted.places:
        return []
    given: dict[str, Any] = {"ids": wanted.ids, "limit": limit}
    behind = ""
    if after is not None:
        behind = "AND (c.queue_tier, c.queue_order, c.id) > (:tier, :order, :id)"
        given |= {"tier": int(after.tier), "order": after.order, "id": after.case_id}
    found = tx.execute(
        text(
            f"""
            SELECT c.id, c.queue_tier, c.queue_order FROM unnest(CAST(:ids AS bigint[])) AS r(id)
            CROSS JOIN LATERAL (
                SELECT c.id, c.queue_tier, c.queue_order FROM cases c
                WHERE c.repository_id = r.id AND c.pull_state = 'open'
                    AND c.decided_at IS NOT NULL {behind}
                ORDER BY c.queue_tier, c.queue_order, c.id LIMIT :limit
            ) c
            ORDER BY c.queue_tier, c.queue_order, c.id LIMIT :limit
            """  # noqa: S608 - `behind` is one of the constants above
        ),
        given,
    ).all()
    keys = {row.id: QueueKey(tier=row[1], order=row[2], case_id=row[0]) for row in found}
    lines = reports.lines_of(tx, wanted, list(keys))
    return [Queued(key=keys[line.case_id], line=line) for line in lines]
