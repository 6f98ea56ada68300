"""All that is kept of one account: shown, handed over, and erased, table by table."""

import json
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Table, and_, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from app.core.effects import EffectState
from app.core.privacy import CLASSES
from app.db import audit as log
from app.db.engine import Tx
from app.db.packing import unpack
from app.db.tables import (
    account_activity,
    answers,
    appeals,
    audit,
    campaigns,
    cases,
    challenges,
    decisions,
    erasures,
    hands,
    inbox,
    likenesses,
    mails,
    metadata,
    outbox,
    payloads,
    permissions,
    proof_domains,
    proof_tokens,
    proofs,
    pseudonyms,
    sessions,
    simulations,
    statements,
    trust,
)

MOST = 5000  # rows of one table; a page says where there are more
# An erased pull request stays for so long after it ended: else a flood would wipe itself out as it
# goes on.
WAITS = timedelta(days=30)
# Keys to something, what is no more than a copy for the machine, and what would tell how others use
# an address: equal hashes in two exports, or that an address gets no more mails.
_HIDDEN = frozenset(
    {
        *("token_hash", "code_hash", "id_hash", "address_hash", "domain_hash", "sealed"),
        *("muted", "last_error", "held_until", "fingerprint", "bands", "lease_until", "rung_at"),
        "updated_rank",
    }
)
# Nothing of this but the fact itself is shown of a denial: not who said it.
_BY = ("by_id", "by_login")
_ENDED = "closed"


def _mine(account_id: int) -> ColumnElement[bool]:
    return cases.c.author_id == account_id


def _of_cases(table: Table, account_id: int) -> ColumnElement[bool]:
    return table.c.case_id.in_(select(cases.c.id).where(_mine(account_id)))


def _rows_of(table: Table, account_id: int) -> ColumnElement[bool]:
    """Which rows of a table are of an account."""
    if table is cases or table is campaigns:
        return table.c.author_id == account_id
    if table is audit:
        name = select(pseudonyms.c.name).where(pseudonyms.c.account_id == account_id)
        said = name.scalar_subquery()
        return or_(audit.c.actor == said, audit.c.detail["of"].as_string() == said)
    if "account_id" in table.c:
        return table.c.account_id == account_id
    return _of_cases(table, account_id)


def tables() -> dict[str, list[Table]]:
    """The tables of each class that is shown, by the class's name."""
    own = {"letters": False}  # by the digest of a mail alone, which leads back to nobody
    return {
        one.name: [metadata.tables[t] for t in one.tables if own.get(t, True)]
        for one in CLASSES.values()
        if one.shown
    }


def counts(tx: Tx, account_id: int) -> dict[str, int]:
    """How many rows there are of an account, by class of data."""
    return {
        name: sum(
            tx.execute(
                select(func.count()).select_from(t).where(_rows_of(t, account_id))
            ).scalar_one()
            for t in found
        )
        for name, found in tables().items()
    }


def export(tx: Tx, account_id: int) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """All rows of an account, by class and table, at most `MOST` of each, the newest first."""
    return {
        name: {t.name: _export(tx, t, account_id) for t in found}
        for name, found in tables().items()
    }


def _export(tx: Tx, table: Table, account_id: int) -> list[dict[str, Any]]:
    columns = [c for c in table.c if c.name not in _HIDDEN]
    newest = [c.desc() for c in table.primary_key.columns]
    rows = select(*columns).where(_rows_of(table, account_id)).order_by(*newest).limit(MOST)
    return [_shown(table, row) for row in tx.execute(rows).mappings()]


def _shown(table: Table, row: RowMapping) -> dict[str, Any]:
    left_out = _BY if table is trust and row["kind"] == "denied" else ()
    return {
        name: value.isoformat() if isinstance(value, datetime) else _plain(name, value)
        for name, value in row.items()
        if name not in left_out
    }


def _plain(name: str, value: Any) -> Any:
    if name == "events":
        return json.loads(unpack(bytes(value)))
    return value.hex() if isinstance(value, bytes | memoryview) else value


def state(tx: Tx, account_id: int, words: str, now: datetime) -> None:
    """Keeps an account's own words on what is kept of it, in place of earlier ones; "" for none."""
    tx.execute(delete(statements).where(statements.c.account_id == account_id))
    if words:
        tx.execute(insert(statements).values(account_id=account_id, words=words, at=now))


def statement(tx: Tx, account_id: int) -> str:
    """An account's own words; "" where there are none."""
    rows = select(statements.c.words).where(statements.c.account_id == account_id)
    return tx.execute(rows).scalar_one_or_none() or ""


def erase(tx: Tx, account_id: int, now: datetime) -> None:
    """Erases what can be erased at once, and notes that the rest goes once it has ended."""
    for table in (
        *(proof_domains, proof_tokens, proofs, mails, account_activity, permissions),
        *(statements, simulations, sessions),
    ):
        tx.execute(delete(table).where(table.c.account_id == account_id))
    tx.execute(
        delete(trust).where(
            trust.c.account_id == account_id,
            or_(trust.c.kind != "denied", trust.c.ended_at.is_not(None), trust.c.until <= now),
        )
    )
    log.erase(tx, str(account_id))
    made = insert(erasures).values(account_id=account_id, at=now)
    tx.execute(made.on_conflict_do_update(index_elements=["account_id"], set_={"at": now}))
    _erase_ended(tx, account_id, now, now)


def erase_what_ended(tx: Tx, now: datetime) -> None:
    """Goes on with erasures: of pull requests that ended since, and of which nothing is open."""
    for row in tx.execute(select(erasures).limit(100)).all():
        _erase_ended(tx, row.account_id, row.at, now)


def _erase_ended(tx: Tx, account_id: int, before: datetime, now: datetime) -> None:
    mine = and_(_mine(account_id), cases.c.opened_at <= before)
    waiting = select(outbox.c.id).where(
        outbox.c.case_id == cases.c.id, outbox.c.state == EffectState.PENDING
    )
    appealed = select(appeals.c.id).where(
        appeals.c.case_id == cases.c.id, appeals.c.ended_at.is_(None)
    )
    ended = and_(
        mine,
        cases.c.pull_state == _ENDED,
        cases.c.updated_at <= now - WAITS,
        ~waiting.exists(),
        ~appealed.exists(),
    )
    found = tx.execute(
        select(cases.c.id, cases.c.repository_id, cases.c.number).where(ended).limit(MOST)
    ).all()
    ids = [row.id for row in found]
    for table in (decisions, hands, likenesses, answers, challenges):
        tx.execute(delete(table).where(table.c.case_id.in_(ids)))
    tx.execute(delete(outbox).where(outbox.c.case_id.in_(ids)))
    tx.execute(update(appeals).where(appeals.c.case_id.in_(ids)).values(words=""))
    for row in found:
        of_it = and_(inbox.c.repository_id == row.repository_id, inbox.c.pull_number == row.number)
        tx.execute(delete(payloads).where(payloads.c.inbox_id.in_(select(inbox.c.id).where(of_it))))
        # The keys of our own stimuli name accounts; GitHub's are ids of deliveries.
        tx.execute(delete(inbox).where(of_it, inbox.c.source == "again"))
    blank: dict[str, Any] = {"user": None, "title": "", "body": "", "labels": []}
    sides = {side: {"ref": "", "sha": "", "repo": None} for side in ("head", "base")}
    tx.execute(
        update(cases)
        .where(cases.c.id.in_(ids))
        .values(author_id=None, snapshot=cases.c.snapshot.concat({**blank, **sides}), version=0)
    )
    left = tx.execute(select(func.count()).select_from(cases).where(mine)).scalar_one()
    if not left:
        tx.execute(
            update(campaigns).where(campaigns.c.author_id == account_id).values(author_id=None)
        )
        tx.execute(delete(erasures).where(erasures.c.account_id == account_id))
