"""What was taken back in one go, and how far that came."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.core.effects import EffectState
from app.core.fact import Fact
from app.core.facts import RULING
from app.core.github import Account
from app.core.modes import Mode
from app.db.engine import Tx
from app.db.tables import cases, hands, outbox, rule_acts, undo_cases, undos

MOST = 5000  # pull requests of one undo


class Undo(Fact):
    """One of them."""

    id: int
    repository_id: int
    what: str
    by_login: str
    at: datetime
    ended_at: datetime | None


class Taken(Fact):
    """One pull request of an undo: whether it is put back, waits, or could not be, and why."""

    number: int
    title: str
    state: str
    problems: tuple[str, ...]
    waits: bool


class Scope(Fact):
    """What is to be taken back: acts between two times, of one rule or of all."""

    rule: str | None
    since: datetime
    until: datetime


def within(tx: Tx, repository_id: int, scope: Scope) -> list[tuple[int, int]]:
    """The pull requests, as (case id, number), on which rules acted and nobody of the team did.

    What a maintainer ruled on stays as they have it.
    """
    ruling = (
        select(hands.c.act)
        .where(hands.c.case_id == cases.c.id, hands.c.act.in_([*RULING, "closed"]))
        .order_by(hands.c.at.desc(), hands.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    rows = (
        select(cases.c.id, cases.c.number)
        .join(rule_acts, rule_acts.c.case_id == cases.c.id)
        .where(
            rule_acts.c.repository_id == repository_id,
            rule_acts.c.at.between(scope.since, scope.until),
            rule_acts.c.done >= Mode.LABEL,
            func.coalesce(ruling, "released") == "released",
            cases.c.merged.is_(False),
        )
        .distinct()
        .order_by(cases.c.number)
        .limit(MOST)
    )
    if scope.rule is not None:
        rows = rows.where(rule_acts.c.rule == scope.rule)
    return [(row.id, row.number) for row in tx.execute(rows)]


def add(  # noqa: PLR0913 - the columns of one row
    tx: Tx, repository_id: int, what: str, case_ids: Sequence[int], by: Account, now: datetime
) -> int:
    """Notes an undo of these; answers its id."""
    made = insert(undos).values(
        repository_id=repository_id, what=what, by_id=by.id, by_login=by.login, at=now
    )
    undo_id = int(tx.execute(made.returning(undos.c.id)).scalar_one())
    versions = select(cases.c.id, cases.c.version).where(cases.c.id.in_(list(case_ids)))
    rows = [
        {"undo_id": undo_id, "case_id": row.id, "version": row.version}
        for row in tx.execute(versions)
    ]
    if rows:
        tx.execute(insert(undo_cases), rows)
    return undo_id


def get(tx: Tx, undo_id: int) -> Undo | None:
    """One of them."""
    columns = [undos.c[name] for name in Undo.model_fields]
    row = tx.execute(select(*columns).where(undos.c.id == undo_id)).mappings().one_or_none()
    return Undo(**row) if row else None


def of_repository(tx: Tx, repository_id: int, limit: int = 20) -> list[Undo]:
    """The latest ones."""
    columns = [undos.c[name] for name in Undo.model_fields]
    rows = select(*columns).where(undos.c.repository_id == repository_id)
    found = tx.execute(rows.order_by(undos.c.id.desc()).limit(limit))
    return [Undo(**row) for row in found.mappings()]


def cases_of(tx: Tx, undo_id: int) -> list[tuple[int, int]]:
    """Its pull requests, as (case id, number)."""
    rows = (
        select(cases.c.id, cases.c.number)
        .join(undo_cases, undo_cases.c.case_id == cases.c.id)
        .where(undo_cases.c.undo_id == undo_id)
        .order_by(cases.c.number)
    )
    return [(row.id, row.number) for row in tx.execute(rows)]


def end(tx: Tx, undo_id: int, now: datetime) -> bool:
    """It is taken back itself; answers whether it was not yet."""
    ended = update(undos).where(undos.c.id == undo_id, undos.c.ended_at.is_(None))
    return bool(tx.execute(ended.values(ended_at=now)).rowcount)


def result(tx: Tx, undo_id: int) -> list[Taken]:
    """How far it came on each pull request, by what was decided since."""
    rows = (
        select(cases, undo_cases.c.version.label("before"))
        .join(undo_cases, undo_cases.c.case_id == cases.c.id)
        .where(undo_cases.c.undo_id == undo_id)
        .order_by(cases.c.number)
    )
    found = list(tx.execute(rows).mappings())
    acts = _acts(tx, [row["id"] for row in found])
    made = []
    for row in found:
        since = [a for a in acts.get(row["id"], ()) if a[0] > row["before"]]
        waits = row["version"] <= row["before"] or any(
            state in {EffectState.PENDING, EffectState.DOING} for _, state, _ in since
        )
        failed = {EffectState.FAILED, EffectState.DROPPED}
        made.append(
            Taken(
                number=row["number"],
                title=row["snapshot"].get("title", ""),
                state=row["pull_state"],
                problems=tuple(why or "" for _, state, why in since if state in failed),
                waits=waits,
            )
        )
    return made


def _acts(tx: Tx, case_ids: Iterable[int]) -> dict[int, list[tuple[int, EffectState, str | None]]]:
    """What follows from decisions on each case: (version, state, reason)."""
    rows = (
        select(outbox.c.case_id, outbox.c.key, outbox.c.state, outbox.c.reason)
        .join(cases, cases.c.id == outbox.c.case_id)
        .where(
            outbox.c.repository_id == cases.c.repository_id,
            outbox.c.number == cases.c.number,
            outbox.c.case_id.in_(list(case_ids)),
            outbox.c.kind.in_(("reopen", "label", "status_comment")),
        )
        .order_by(outbox.c.id)
    )
    found: dict[int, list[tuple[int, EffectState, str | None]]] = {}
    for row in tx.execute(rows):
        version = row.key.split(":")[1]
        if version.isdecimal():
            act = (int(version), EffectState(row.state), row.reason)
            found.setdefault(row.case_id, []).append(act)
    return found
