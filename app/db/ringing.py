"""Rows of the inbox or outbox that wait and that no worker was woken up for in time."""

from datetime import datetime, timedelta

from sqlalchemy import Column, ColumnElement, Table, or_, select, update

from app.db.engine import Tx

# A row this young has its own bell under way.
UNHEARD = timedelta(seconds=5)


def to_ring(  # noqa: PLR0913 - which table, which rows, when
    tx: Tx,
    table: Table,
    number: Column[int | None],
    waits: ColumnElement[bool],
    now: datetime,
    again: timedelta,
    limit: int = 500,
) -> list[int]:
    """The ids to ring for, one for each pull request; all that wait count as rung from now on.

    `number` is the column of the pull request's number; a row without one is rung for by itself.
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
        .returning(table.c.id, table.c.repository_id, number.label("number"))
    ).all()
    first: dict[object, int] = {}
    for row in sorted(rows):
        first.setdefault(row.id if row.number is None else (row.repository_id, row.number), row.id)
    return list(first.values())
