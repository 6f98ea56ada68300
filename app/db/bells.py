"""Rows that wait and that no worker was told of, or none that heard."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, or_, select, update

from app.db.engine import Tx

# A row this old was not rung for, or its bell was lost.
UNHEARD = timedelta(seconds=5)
# One that was rung for is rung for once more after so long.
LOST = timedelta(seconds=60)


def ring_once(  # noqa: PLR0913 - what the two queues differ in
    tx: Tx,
    table: Table,
    waits: ColumnElement[bool],
    pull: Column[Any],
    now: datetime,
    *,
    again: timedelta,
    limit: int,
) -> list[int]:
    """The oldest that wait unheard, one for each pull request; they count as rung from now on.

    `waits` says which rows of the table wait, `pull` is its column with the pull request's
    number: rows without one are each their own.
    """
    unheard = (
        select(table.c.id)
        .where(waits, or_(table.c.rung_at.is_(None), table.c.rung_at < now - again))
        .order_by(table.c.due_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    rows = tx.execute(
        update(table)
        .where(table.c.id.in_(unheard.scalar_subquery()))
        .values(rung_at=now)
        .returning(table.c.id, table.c.repository_id, pull)
    ).all()
    first: dict[object, int] = {}
    for id_, repository_id, number in sorted(rows):
        first.setdefault((repository_id, number) if number is not None else id_, id_)
    return list(first.values())
