"""What is limited, as it was tried: one row for each try, by keyed hash, for a day."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, insert, select

from app.core.privacy import keep
from app.core.proofs.limits import Limit
from app.db.engine import Tx, hold
from app.db.tables import proof_tries


def lock(tx: Tx, whose: str) -> None:
    """Makes others who try for the same wait, so that two at once do not both pass as the last.

    Always in the order account, address, network: then nobody waits for each other.
    """
    hold(tx, f"tries:{whose}")


def until(tx: Tx, whose: str, limits: Iterable[Limit], now: datetime) -> datetime | None:
    """When one more may be tried; None where it may be now."""
    ends = []
    for limit in limits:
        # The oldest of the last `most`: once it is out of the window, there is room again.
        row = (
            select(proof_tries.c.at)
            .where(proof_tries.c.whose == whose, proof_tries.c.at > now - limit.within)
            .order_by(proof_tries.c.at.desc())
            .offset(limit.most - 1)
            .limit(1)
        )
        found = tx.execute(row).scalar_one_or_none()
        ends += [found + limit.within] if found is not None else []
    return max(ends, default=None)


def note(tx: Tx, whose: Iterable[str], now: datetime) -> None:
    """Counts a try."""
    tx.execute(insert(proof_tries), [{"whose": one, "at": now} for one in whose])


def forget(tx: Tx, now: datetime) -> None:
    """Deletes what is not counted any more."""
    tx.execute(delete(proof_tries).where(proof_tries.c.at < now - keep("mail_limits")))
