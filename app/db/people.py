"""What we know of people: live permission, kept for minutes, and what they did by hand."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert

from app.core.facts import Hand, Role
from app.core.privacy import keep
from app.db.engine import Tx
from app.db.tables import hands, permissions

# A permission is believed for so long; a `member` event ends it at once.
FRESH = keep("permissions")
# Stands in place of a role that changed: what was read before then does not count.
_FORGOTTEN = -1


def role(tx: Tx, repository_id: int, account_id: int, now: datetime) -> Role | None:
    """The permission read in the last minutes; None where it must be asked for."""
    value = tx.execute(
        select(permissions.c.role).where(
            permissions.c.repository_id == repository_id,
            permissions.c.account_id == account_id,
            permissions.c.read_at > now - FRESH,
            permissions.c.role != _FORGOTTEN,
        )
    ).scalar_one_or_none()
    return None if value is None else Role(value)


def roles(tx: Tx, account_id: int, repository_ids: Sequence[int], now: datetime) -> dict[int, Role]:
    """The permissions of one account read in the last minutes, by repository."""
    rows = select(permissions.c.repository_id, permissions.c.role).where(
        permissions.c.repository_id.in_(repository_ids),
        permissions.c.account_id == account_id,
        permissions.c.read_at > now - FRESH,
        permissions.c.role != _FORGOTTEN,
    )
    return {repository: Role(found) for repository, found in tx.execute(rows).all()}


def asked_lately(tx: Tx, account_id: int, now: datetime) -> int:
    """On how many repositories an account's permission was read in the last minutes."""
    rows = select(func.count()).where(
        permissions.c.account_id == account_id, permissions.c.read_at > now - FRESH
    )
    return int(tx.execute(rows).scalar_one())


def keep_role(tx: Tx, repository_id: int, account_id: int, found: Role, now: datetime) -> None:
    """Remembers a permission. `now` is from before it was read.

    One that was read before the newest that we know, or before it changed, is not kept.
    """
    _put_role(tx, repository_id, account_id, found, now)


def forget_role(tx: Tx, repository_id: int, account_id: int, now: datetime) -> None:
    """The permission changed: it is read anew when next needed."""
    _put_role(tx, repository_id, account_id, _FORGOTTEN, now)


def _put_role(tx: Tx, repository_id: int, account_id: int, role: int, now: datetime) -> None:
    made = insert(permissions).values(
        repository_id=repository_id, account_id=account_id, role=role, read_at=now
    )
    tx.execute(
        made.on_conflict_do_update(
            index_elements=["repository_id", "account_id"],
            set_={"role": made.excluded.role, "read_at": made.excluded.read_at},
            where=permissions.c.read_at <= made.excluded.read_at,
        )
    )


def forget_old_roles(tx: Tx, now: datetime) -> None:
    """Deletes what nobody may believe any more."""
    tx.execute(delete(permissions).where(permissions.c.read_at < now - FRESH))


def add_hands(tx: Tx, case_id: int, found: Sequence[Hand]) -> list[Hand]:
    """Keeps what people did by hand, the same act once; answers those that are new."""
    new: list[Hand] = []
    for hand in found:
        made = (
            insert(hands)
            .values(case_id=case_id, **hand.model_dump())
            .on_conflict_do_nothing(index_elements=["case_id", "act", "account_id", "at"])
        )
        if tx.execute(made).rowcount:
            new.append(hand)
    return new


def hands_on(tx: Tx, case_id: int) -> tuple[Hand, ...]:
    """What people did by hand on one pull request, in order."""
    columns = [hands.c[name] for name in Hand.model_fields]
    rows = select(*columns).where(hands.c.case_id == case_id)
    return tuple(
        Hand(**row) for row in tx.execute(rows.order_by(hands.c.at, hands.c.id)).mappings()
    )
