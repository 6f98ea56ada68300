"""What stopped the gate, or one rule, in a repository, until a person lets it go on."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import and_, func, not_, select, update
from sqlalchemy.dialects.postgresql import array, insert

from app.core.brakes import Brake, Closes, Trip
from app.core.due_process import Breaker
from app.core.github import Account
from app.db.engine import Tx
from app.db.tables import brakes, cases, outbox, repositories

_COLUMNS = [brakes.c[name] for name in Brake.model_fields]


class Released(Brake):
    """One that a person ended."""

    ended_at: datetime
    ended_by_login: str


def on(tx: Tx, repository_id: int) -> tuple[Brake, ...]:
    """Those that hold now, the oldest first."""
    rows = select(*_COLUMNS).where(
        brakes.c.repository_id == repository_id, brakes.c.ended_at.is_(None)
    )
    return tuple(Brake(**row) for row in tx.execute(rows.order_by(brakes.c.id)).mappings())


def past(tx: Tx, repository_id: int, limit: int = 20) -> tuple[Released, ...]:
    """Those that were ended, the latest first."""
    rows = (
        select(*_COLUMNS, brakes.c.ended_at, brakes.c.ended_by_login)
        .where(brakes.c.repository_id == repository_id, brakes.c.ended_at.is_not(None))
        .order_by(brakes.c.ended_at.desc())
        .limit(limit)
    )
    return tuple(Released(**row) for row in tx.execute(rows).mappings())


def put(tx: Tx, repository_id: int, rule: str | None, trip: Trip, now: datetime) -> int | None:
    """Puts one on; answers its id, or None where it is on already."""
    made = insert(brakes).values(
        repository_id=repository_id, rule=rule, at=now, **trip.model_dump()
    )
    return tx.execute(made.on_conflict_do_nothing().returning(brakes.c.id)).scalar_one_or_none()


def release(
    tx: Tx, repository_id: int, brake_ids: Sequence[int], by: Account, now: datetime
) -> list[int]:
    """A person lets the gate go on; answers which were on."""
    ended = (
        update(brakes)
        .where(
            brakes.c.repository_id == repository_id,
            brakes.c.id.in_(brake_ids),
            brakes.c.ended_at.is_(None),
        )
        .values(ended_at=now, ended_by_id=by.id, ended_by_login=by.login)
    )
    return list(tx.execute(ended.returning(brakes.c.id)).scalars())


def last_release(tx: Tx, repository_id: int, rule: str | None) -> datetime | None:
    """When a person last let it go on: what was before then counts no more."""
    same = brakes.c.rule.is_(None) if rule is None else brakes.c.rule == rule
    rows = select(func.max(brakes.c.ended_at)).where(brakes.c.repository_id == repository_id, same)
    found: datetime | None = tx.execute(rows).scalar_one()
    return found


def closes(
    tx: Tx, repository_id: int, now: datetime, breaker: Breaker, words: Collection[str]
) -> Closes:
    """What the gate closed in the last minutes, since it was last let go on.

    `words`: the rules that are a maintainer's word; what they close does not count. The other
    authors are counted only where that can matter, since all open ones are looked at for it.
    """
    since = now - timedelta(minutes=breaker.minutes)
    released = last_release(tx, repository_id, None)
    rules = outbox.c.effect["rules"]
    closed = (
        select(cases.c.author_id)
        .join(outbox, outbox.c.case_id == cases.c.id)
        .where(
            outbox.c.repository_id == repository_id,
            outbox.c.kind == "close",
            outbox.c.state == "done",
            outbox.c.ended_at >= max(since, released or since),
            # What a person ordered, or had decided by a word, is no act of the gate's own.
            func.jsonb_array_length(rules) > 0,
            not_(rules.has_any(array(list(words)))),
        )
        .subquery()
    )
    count, authors = tx.execute(
        select(func.count(), func.count(closed.c.author_id.distinct())).select_from(closed)
    ).one()
    if authors < breaker.authors:
        return Closes(closes=count, authors=authors, authors_open=0)
    others = select(func.count(cases.c.author_id.distinct())).where(
        and_(cases.c.repository_id == repository_id, cases.c.pull_state == "open"),
        cases.c.author_id.not_in(select(closed.c.author_id).where(closed.c.author_id.is_not(None))),
    )
    return Closes(closes=count, authors=authors, authors_open=tx.execute(others).scalar_one())


def of_repositories(tx: Tx, ids: Sequence[int], limit: int = 5) -> list[tuple[str, str | None]]:
    """What is stopped in these: `owner/name`, and the rule or None for the whole gate."""
    rows = (
        select((repositories.c.owner + "/" + repositories.c.name).label("name"), brakes.c.rule)
        .join(repositories, repositories.c.id == brakes.c.repository_id)
        .where(brakes.c.repository_id.in_(list(ids)), brakes.c.ended_at.is_(None))
        .order_by(brakes.c.id.desc())
        .limit(limit)
    )
    return [(row.name, row.rule) for row in tx.execute(rows)]
