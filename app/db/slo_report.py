"""How soon pull requests were decided on and looked at, counted by SQL."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import text

from app.core.slo import Goal, Share
from app.db.engine import Tx

# Counted once their time is over: in time or late is known then, and not before.
_FIRST_DECISION = """
    SELECT count(*) AS total,
        count(*) FILTER (WHERE d.decided_at IS NULL OR d.decided_at > c.opened_at + :limit) AS late
    FROM cases c
    JOIN repositories r ON r.id = c.repository_id
    LEFT JOIN decisions d ON d.case_id = c.id AND d.version = 1
    WHERE c.repository_id = ANY(:ids) AND c.opened_at >= r.installed_at
        AND c.opened_at BETWEEN :since AND :until
"""
# Of those that no rule holds up. A person who merged or closed it looked at it.
_FIRST_LOOK = """
    SELECT count(*) AS total,
        count(*) FILTER (
            WHERE c.first_look_at IS NULL OR c.first_look_at > c.opened_at + :limit
        ) AS late
    FROM cases c
    JOIN repositories r ON r.id = c.repository_id
    WHERE c.repository_id = ANY(:ids) AND c.opened_at >= r.installed_at
        AND c.opened_at BETWEEN :since AND :until
        AND (c.state IN ('clear', 'reopened', 'adopted')
            OR (c.state = 'ended' AND c.first_look_at IS NOT NULL))
"""


def share(  # noqa: PLR0913 - what is counted, where and when
    tx: Tx,
    goal: Goal,
    repository_ids: Sequence[int],
    *,
    limit: timedelta,
    window: timedelta,
    now: datetime,
) -> Share:
    """The share in time of a goal over a window that ends now."""
    query = _FIRST_DECISION if goal == "first_decision" else _FIRST_LOOK
    ids = list(repository_ids)
    given = {"ids": ids, "limit": limit, "since": now - window - limit, "until": now - limit}
    row = tx.execute(text(query), given).one()
    return Share(total=row.total, late=row.late)
