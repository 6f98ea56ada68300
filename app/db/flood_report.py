"""Floods: many pull requests by one account within a short time, as one row each."""

from datetime import datetime, timedelta

from sqlalchemy import text

from app.core.fact import Fact
from app.db.engine import Tx
from app.db.reports import Line, Stretch, Wanted, lines_of

# So many of one account, each at most `_GAP` after the one before, are shown as one row.
FLOOD = 3
_GAP = timedelta(hours=1)
# A flood that ended so long before the newest decision is history, and only in the list.
_FLOOD_DAYS = timedelta(days=7)
_FLOOD_ROWS = 2000
_FLOODS = 5


class Flood(Fact):
    """Pull requests of one account within a short time; `newest` stands for all of them.

    `count` counts those that a rule applies to, `closed` those that the gate closed, and `total`
    also those that were merged or closed by somebody or turned out well.
    """

    newest: Line
    count: int
    total: int
    first_at: datetime
    last_at: datetime
    closed: int

    @property
    def stretch(self) -> Stretch:
        """What it covers, for leaving it out of a list."""
        return Stretch(
            repository_id=self.newest.place.id,
            author_id=self.newest.author_id or 0,
            first_at=self.first_at,
            last_at=self.last_at,
        )


def floods(tx: Tx, wanted: Wanted) -> list[Flood]:
    """Lately decided floods, the newest first. `state`, `author_id` and `before` do not matter."""
    if not wanted.places:
        return []
    rows = (
        tx.execute(
            text(_FLOODS_SQL),
            {
                "ids": wanted.ids,
                "rows": _FLOOD_ROWS,
                "gap": _GAP,
                "least": FLOOD,
                "days": _FLOOD_DAYS,
                "limit": _FLOODS,
            },
        )
        .mappings()
        .all()
    )
    lines = {line.case_id: line for line in lines_of(tx, wanted, [r["newest"] for r in rows])}
    return [
        Flood(
            newest=lines[r["newest"]],
            **{n: r[n] for n in ("count", "total", "first_at", "last_at", "closed")},
        )
        for r in rows
        if r["newest"] in lines
    ]


_FLOODS_SQL = """
WITH recent AS (
    SELECT c.* FROM unnest(CAST(:ids AS bigint[])) AS r(id)
    CROSS JOIN unnest(ARRAY['flagged', 'closed']) AS s(state)
    CROSS JOIN LATERAL (
        SELECT id, repository_id, author_id, opened_at, decided_at, closed_at FROM cases
        WHERE repository_id = r.id AND state = s.state AND decided_at IS NOT NULL
        ORDER BY decided_at DESC, id DESC LIMIT :rows
    ) c
    WHERE c.author_id IS NOT NULL
    ORDER BY c.decided_at DESC, c.id DESC LIMIT :rows
), marked AS (
    SELECT *, opened_at - lag(opened_at) OVER ordered > :gap AS starts FROM recent
    WINDOW ordered AS (PARTITION BY repository_id, author_id ORDER BY opened_at, id)
), islands AS (
    SELECT *, count(*) FILTER (WHERE starts) OVER ordered AS island FROM marked
    WINDOW ordered AS (PARTITION BY repository_id, author_id ORDER BY opened_at, id)
), newest AS (
    SELECT max(c.decided_at) AS at FROM unnest(CAST(:ids AS bigint[])) AS r(id)
    CROSS JOIN LATERAL (
        SELECT decided_at FROM cases WHERE repository_id = r.id AND decided_at IS NOT NULL
        ORDER BY decided_at DESC, id DESC LIMIT 1
    ) c
)
SELECT f.*, (
    SELECT count(*) FROM cases
    WHERE repository_id = f.repository_id AND author_id = f.author_id
        AND opened_at BETWEEN f.first_at - :gap AND f.last_at + :gap
) AS total
FROM (
    SELECT repository_id, author_id, count(*) AS count, min(opened_at) AS first_at,
        max(opened_at) AS last_at, count(closed_at) AS closed,
        (array_agg(id ORDER BY decided_at DESC, id DESC))[1] AS newest, max(decided_at) AS at
    FROM islands
    GROUP BY repository_id, author_id, island
    HAVING count(*) >= :least AND max(decided_at) > (SELECT at FROM newest) - :days
    ORDER BY max(decided_at) DESC LIMIT :limit
) f ORDER BY f.at DESC
"""
