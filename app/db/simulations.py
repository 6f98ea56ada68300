"""What would be decided under another configuration: asked for, worked off, kept for days."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import RowMapping, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from app.core.decision import Decision
from app.core.fact import Fact
from app.core.policy import Policy
from app.db.bells import LOST, UNHEARD
from app.db.engine import Tx
from app.db.tables import simulations


class Simulation(Fact):
    """One of them. Without `policy`, the one in force is meant.

    Both `decision` and `error` are None while it waits.
    """

    id: int
    repository_id: int
    number: int
    account_id: int
    policy: Policy | None
    created_at: datetime
    ended_at: datetime | None = None
    decision: Decision | None = None
    error: str | None = None


def add(  # noqa: PLR0913 - the columns of one row
    tx: Tx,
    *,
    repository_id: int,
    number: int,
    account_id: int,
    policy: Policy | None,
    now: datetime,
) -> int:
    """Asks for one; answers its id."""
    row = insert(simulations).values(
        repository_id=repository_id,
        number=number,
        account_id=account_id,
        policy=None if policy is None else policy.model_dump(mode="json"),
        created_at=now,
    )
    return int(tx.execute(row.returning(simulations.c.id)).scalar_one())


def asked_since(tx: Tx, account_id: int, since: datetime) -> int:
    """How many an account asked for since a time."""
    rows = select(func.count()).where(
        simulations.c.account_id == account_id, simulations.c.created_at > since
    )
    return int(tx.execute(rows).scalar_one())


def get(tx: Tx, simulation_id: int) -> Simulation | None:
    """One of them."""
    rows = select(simulations).where(simulations.c.id == simulation_id)
    row = tx.execute(rows).mappings().one_or_none()
    return _simulation(row) if row else None


def _simulation(row: RowMapping) -> Simulation:
    return Simulation(**{name: row[name] for name in Simulation.model_fields})


def end(
    tx: Tx, simulation_id: int, now: datetime, *, decision: Decision | None = None, error: str = ""
) -> None:
    """It is worked off, with what would be decided or with why nobody can say."""
    values: dict[str, Any] = {"ended_at": now, "error": error[:500] or None}
    if decision is not None:
        values["decision"] = decision.model_dump(mode="json")
    tx.execute(
        update(simulations)
        .where(simulations.c.id == simulation_id, simulations.c.ended_at.is_(None))
        .values(**values)
    )


def to_ring(tx: Tx, now: datetime, again: timedelta = LOST, limit: int = 100) -> list[int]:
    """Those that wait unheard; they count as rung from now on."""
    unheard = (
        select(simulations.c.id)
        .where(
            simulations.c.ended_at.is_(None),
            simulations.c.created_at < now - UNHEARD,
            or_(simulations.c.rung_at.is_(None), simulations.c.rung_at < now - again),
        )
        .order_by(simulations.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    rows = (
        update(simulations)
        .where(simulations.c.id.in_(unheard.scalar_subquery()))
        .values(rung_at=now)
        .returning(simulations.c.id)
    )
    return sorted(tx.execute(rows).scalars())


def forget(tx: Tx, before: datetime) -> None:
    """Deletes those asked for before a time."""
    tx.execute(delete(simulations).where(simulations.c.created_at < before))
