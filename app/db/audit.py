"""The audit log: append only, by a trigger of the database; people by pseudonym."""

import secrets
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from app.core.audit import Entry, Place
from app.core.github import Account
from app.db.engine import Tx
from app.db.tables import audit, pseudonyms, repositories

_PAGE = 1000


def note(tx: Tx, place: Place, *entries: Entry) -> None:
    """Writes entries, in the transaction of what they record."""
    if not entries:
        return
    rows = [
        {
            **place.model_dump(),
            "at": entry.at,
            "actor": _name(tx, entry.by) if entry.by else "gate",
            "act": entry.act,
            "policy_version": entry.policy_version,
            "detail": {**entry.detail, **({"of": _name(tx, entry.of)} if entry.of else {})},
        }
        for entry in entries
    ]
    tx.execute(insert(audit), rows)


def _name(tx: Tx, person: Account) -> str:
    """A person's pseudonym, made up at random where there is none (any more)."""
    made = insert(pseudonyms).values(
        account_id=person.id, name=f"p-{secrets.token_hex(8)}", login=person.login
    )
    tx.execute(
        made.on_conflict_do_update(
            index_elements=["account_id"], set_={"login": made.excluded.login}
        )
    )
    rows = select(pseudonyms.c.name).where(pseudonyms.c.account_id == person.id)
    return str(tx.execute(rows).scalar_one())


def erase(tx: Tx, who: str) -> int:
    """Forgets whom a pseudonym means, by login or numeric id; answers how many were known.

    The log stays; the name is nobody's from then on, and a new act gets a new name.
    """
    same = func.lower(pseudonyms.c.login) == who.lower().removeprefix("@")
    by_id = pseudonyms.c.account_id == int(who) if who.isdecimal() and len(who) < 19 else same
    return tx.execute(delete(pseudonyms).where(or_(same, by_id))).rowcount


def named(tx: Tx, names: Sequence[str]) -> dict[str, str]:
    """The logins behind pseudonyms, of those that are still known."""
    rows = select(pseudonyms.c.name, pseudonyms.c.login).where(pseudonyms.c.name.in_(names))
    return {row.name: row.login for row in tx.execute(rows)}


def page(
    tx: Tx, *, after: int, since: datetime | None = None, repository_id: int | None = None
) -> list[dict[str, Any]]:
    """The next entries after an id, in order, with the repository's name of today."""
    full_name = (repositories.c.owner + "/" + repositories.c.name).label("repository")
    rows = (
        select(audit, full_name)
        .outerjoin(repositories, repositories.c.id == audit.c.repository_id)
        .where(audit.c.id > after)
        .order_by(audit.c.id)
        .limit(_PAGE)
    )
    if since is not None:
        rows = rows.where(audit.c.at >= since)
    if repository_id is not None:
        rows = rows.where(audit.c.repository_id == repository_id)
    return [
        {
            "id": row["id"],
            "at": row["at"].isoformat(),
            "actor": row["actor"],
            "act": row["act"],
            "repository": row["repository"],
            "number": row["number"],
            "policy_version": row["policy_version"],
            **({"detail": row["detail"]} if row["detail"] else {}),
        }
        for row in tx.execute(rows).mappings()
    ]


def pages(
    begin: Any, *, since: datetime | None = None, repository_id: int | None = None
) -> Iterator[dict[str, Any]]:
    """All entries in order, a transaction for each thousand; `begin` opens one."""
    after = 0
    while True:
        with begin() as tx:
            found = page(tx, after=after, since=since, repository_id=repository_id)
        yield from found
        if len(found) < _PAGE:
            return
        after = found[-1]["id"]
