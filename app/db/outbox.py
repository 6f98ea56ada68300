"""Every act on the world, as a row before it happens; what is taken by a worker: `claims`."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select, update
from sqlalchemy import case as sql_case
from sqlalchemy.dialects.postgresql import insert

from app.core.decision import Decision, Planned
from app.core.effects import (
    HEAD_MOVED,
    REQUIRES,
    Close,
    Effect,
    EffectKind,
    EffectState,
    Notice,
    React,
    SetCheckRun,
)
from app.core.facts import RepositoryRef
from app.db.bells import LOST, UNHEARD, ring_once
from app.db.engine import Tx
from app.db.tables import outbox

OPEN = (EffectState.PENDING, EffectState.DOING)
_hours = func.coalesce(outbox.c.effect["grace_hours"].as_integer(), 0)


def add_all(  # noqa: PLR0913 - the columns of the rows
    tx: Tx,
    *,
    case_id: int,
    number: int,
    repository: RepositoryRef,
    decision: Decision,
    now: datetime,
) -> list[int]:
    """Stores the effects of a decision, in order; answers the ids of those to carry out."""
    pull = (repository.id, number)
    renewed = _renew(tx, pull, decision, now)
    dropped = [kind for kind in decision.dropped_kinds if kind not in renewed]
    if dropped:
        reason = f"decision {decision.version} took its place"
        _drop_kinds(tx, pull, dropped, reason, now)
    # One statement: PostgreSQL numbers the rows in the order of the list.
    rows = [
        _row(case_id, number, repository, decision, planned, renewed, now)
        for planned in decision.effects
        if planned.effect.kind not in renewed
    ]
    if not rows:
        return []
    made = insert(outbox).on_conflict_do_nothing(index_elements=["key"])
    stored = tx.execute(made.returning(outbox.c.id, outbox.c.state), rows)
    return sorted(row.id for row in stored if row.state == EffectState.PENDING)


def _of(pull: tuple[int, int]) -> ColumnElement[bool]:
    """By the index on the pull request, (repository id, number); there is none on the case."""
    return and_(outbox.c.repository_id == pull[0], outbox.c.number == pull[1])


def _renew(
    tx: Tx, pull: tuple[int, int], decision: Decision, now: datetime
) -> dict[EffectKind, str]:
    """Comments asked for anew of which an earlier one waits or stands there, by kind: their keys.

    A push asks for a close anew, but not for a second comment that explains it. A question that
    announces a close is written although one stands there that announced none.
    """
    found: dict[EffectKind, str] = {}
    for planned in decision.effects:
        kind: EffectKind = planned.effect.kind
        if planned.observe or not isinstance(planned.effect, Notice):
            continue
        if kind not in decision.dropped_kinds:
            continue
        earlier = (
            select(outbox.c.id, outbox.c.key)
            .where(
                _of(pull),
                outbox.c.kind == kind,
                outbox.c.state.in_((*OPEN, EffectState.DONE)),
                _hours >= min(planned.effect.grace_hours, 1),
            )
            .order_by(outbox.c.id.desc())
            .limit(1)
        )
        row = tx.execute(earlier).one_or_none()
        if row is None:
            continue
        found[kind] = row.key
        tx.execute(
            update(outbox)
            .where(outbox.c.id == row.id, outbox.c.state.in_(OPEN))
            .values(
                decided_sha=decision.head_sha,
                # Due, unless it is something else that it waits for.
                due_at=sql_case((outbox.c.reason == HEAD_MOVED, now), else_=outbox.c.due_at),
                rung_at=None,
            )
        )
    return found


def _row(  # noqa: PLR0913
    case_id: int,
    number: int,
    repository: RepositoryRef,
    decision: Decision,
    planned: Planned,
    renewed: dict[EffectKind, str],
    now: datetime,
) -> dict[str, Any]:
    kind: EffectKind = planned.effect.kind
    before = REQUIRES.get(kind)
    if isinstance(planned.effect, Close) and planned.effect.alone:
        before = None
    requires = renewed.get(before) or _key(case_id, decision.version, before) if before else None
    return {
        "key": _key(case_id, decision.version, kind),
        "case_id": case_id,
        "installation_id": repository.installation_id,
        "repository_id": repository.id,
        "number": number,
        "kind": kind,
        "effect": planned.effect.model_dump(mode="json"),
        "decided_sha": decision.head_sha,
        "requires": requires,
        "state": EffectState.OBSERVED if planned.observe else EffectState.PENDING,
        "due_at": now,
        "created_at": now,
    }


def _key(case_id: int, version: int, kind: EffectKind) -> str:
    return f"{case_id}:{version}:{kind}"


def add_loose(  # noqa: PLR0913 - the columns of one row
    tx: Tx, *, key: str, repository: RepositoryRef, effect: Effect, sha: str, now: datetime
) -> int | None:
    """Stores an effect that belongs to no pull request (a check run for a merge queue)."""
    return _beside(tx, key, None, 0, repository, effect, sha, now)


def has(tx: Tx, key: str) -> bool:
    """Whether there is such an effect, whatever became of it."""
    return tx.execute(select(outbox.c.id).where(outbox.c.key == key)).first() is not None


def has_config_check(tx: Tx, case_id: int, head_sha: str) -> bool:
    """Whether the configuration of a head was checked, or is about to be."""
    return has(tx, f"{case_id}:config_check:{head_sha}")


def add_config_check(  # noqa: PLR0913 - the columns of the row
    tx: Tx, case_id: int, number: int, repository: RepositoryRef, run: SetCheckRun, now: datetime
) -> int | None:
    """Stores the check run of a changed configuration, once for each head."""
    key = f"{case_id}:config_check:{run.head_sha}"
    return _beside(tx, key, case_id, number, repository, run, run.head_sha, now)


def add_reactions(  # noqa: PLR0913 - the columns of the rows
    tx: Tx,
    case_id: int,
    number: int,
    repository: RepositoryRef,
    reactions: Sequence[React],
    now: datetime,
) -> list[int]:
    """Stores reactions to comments, each once."""
    made = []
    for one in reactions:
        key = f"{case_id}:reaction:{one.where}:{one.comment_id}:{one.content}"
        made.append(_beside(tx, key, case_id, number, repository, one, "", now))
    return [id_ for id_ in made if id_ is not None]


def add_beside(  # noqa: PLR0913 - the columns of the row
    tx: Tx,
    *,
    key: str,
    case_id: int,
    number: int,
    repository: RepositoryRef,
    effect: Effect,
    now: datetime,
) -> int | None:
    """Stores an effect on a pull request that follows from no decision, once for its key."""
    return _beside(tx, key, case_id, number, repository, effect, "", now)


def drop_closes(
    tx: Tx, repository_id: int, but: Collection[str], reason: str, now: datetime
) -> None:
    """Stops the closes that wait there with their comments, `but` those for one of these rules.

    Not what a person ordered, which names no rule; nor what was begun.
    """
    rows = select(outbox.c.id, outbox.c.requires, outbox.c.effect["rules"]).where(
        outbox.c.repository_id == repository_id,
        outbox.c.kind == "close",
        outbox.c.state == EffectState.PENDING,
        outbox.c.attempts == 0,
    )
    stopped = [r for r in tx.execute(rows).all() if r[2] and not set(r[2]) & set(but)]
    comments = [r.requires for r in stopped if r.requires]
    mine = outbox.c.id.in_([r.id for r in stopped])
    theirs = and_(outbox.c.key.in_(comments), outbox.c.attempts == 0)
    _drop_where(tx, or_(mine, theirs), reason, now)


def _beside(  # noqa: PLR0913 - the columns of the row
    tx: Tx,
    key: str,
    case_id: int | None,
    number: int,
    repository: RepositoryRef,
    effect: Effect,
    sha: str,
    now: datetime,
) -> int | None:
    """Stores an effect that follows from no decision; None where it is there already."""
    row = insert(outbox).values(
        key=key,
        case_id=case_id,
        installation_id=repository.installation_id,
        repository_id=repository.id,
        number=number,
        kind=effect.kind,
        effect=effect.model_dump(mode="json"),
        decided_sha=sha,
        state=EffectState.PENDING,
        due_at=now,
        created_at=now,
    )
    row = row.on_conflict_do_nothing(index_elements=["key"])
    return tx.execute(row.returning(outbox.c.id)).scalar_one_or_none()


def _drop_kinds(
    tx: Tx, pull: tuple[int, int], kinds: Sequence[EffectKind], reason: str, now: datetime
) -> None:
    """Drops what waits of these kinds for a pull request: a newer decision wants something else.

    A status comment or check run that may exist already is not dropped: it must first be found
    again, or the newer one would be its double.
    """
    tx.execute(
        update(outbox)
        .where(
            _of(pull),
            outbox.c.kind.in_(kinds),
            outbox.c.state.in_(OPEN),
            or_(outbox.c.attempts == 0, outbox.c.kind.not_in(("status_comment", "check_run"))),
        )
        .values(state=EffectState.DROPPED, reason=reason, ended_at=now)
    )


def closing(tx: Tx, repository_id: int, number: int, *, begun: bool) -> bool:
    """Whether a close of ours is decided and neither carried out nor given up yet.

    `begun`: only one that was tried, and so may have been carried out.
    """
    rows = select(outbox.c.id).where(
        _of((repository_id, number)),
        outbox.c.kind == "close",
        outbox.c.state.in_(OPEN),
        outbox.c.attempts >= int(begun),
    )
    return tx.execute(rows.limit(1)).scalar_one_or_none() is not None


def closes_since(tx: Tx, repository_id: int, since: datetime) -> int:
    """How many pull requests of a repository we closed since a time."""
    rows = select(func.count()).where(
        outbox.c.repository_id == repository_id,
        outbox.c.kind == "close",
        outbox.c.state == EffectState.DONE,
        outbox.c.ended_at >= since,
    )
    return int(tx.execute(rows).scalar_one())


def pull_of(tx: Tx, effect_id: int) -> tuple[int, int] | None:
    """The pull request of an effect, as (repository id, number)."""
    row = tx.execute(
        select(outbox.c.repository_id, outbox.c.number).where(outbox.c.id == effect_id)
    ).one_or_none()
    return (row.repository_id, row.number) if row else None


def drop_of_installation(tx: Tx, installation_id: int, reason: str, now: datetime) -> None:
    """Stops all that waits for an installation that is gone."""
    _drop_where(tx, outbox.c.installation_id == installation_id, reason, now)


def drop_of_repository(tx: Tx, repository_id: int, reason: str, now: datetime) -> None:
    """Stops all that waits for a repository that is gone."""
    _drop_where(tx, outbox.c.repository_id == repository_id, reason, now)


def _drop_where(tx: Tx, where: Any, reason: str, now: datetime) -> None:
    tx.execute(
        update(outbox)
        .where(where, outbox.c.state.in_(OPEN))
        .values(state=EffectState.DROPPED, reason=reason, ended_at=now)
    )


def wake_installation(tx: Tx, installation_id: int, now: datetime) -> None:
    """The installation acts again: all that waits for it is due."""
    tx.execute(
        update(outbox)
        .where(outbox.c.installation_id == installation_id, outbox.c.state == EffectState.PENDING)
        .values(due_at=now, rung_at=None)
    )


def to_ring(tx: Tx, now: datetime, again: timedelta = LOST, limit: int = 500) -> list[int]:
    """Effects that wait unheard, one for each pull request; they count as rung from now on.

    One that was rung for counts as unheard `again` later.
    """
    waits = and_(
        outbox.c.state == EffectState.PENDING,
        outbox.c.due_at <= now,
        outbox.c.created_at < now - UNHEARD,
    )
    abandoned = and_(outbox.c.state == EffectState.DOING, outbox.c.lease_until <= now)
    return ring_once(
        tx, outbox, or_(waits, abandoned), outbox.c.number, now, again=again, limit=limit
    )


def counts(tx: Tx) -> dict[str, int]:
    """Rows that wait, are under way, and failed, for the metrics."""
    rows = select(outbox.c.state, func.count()).where(
        outbox.c.state.in_([*OPEN, EffectState.FAILED])
    )
    return {state: int(n) for state, n in tx.execute(rows.group_by(outbox.c.state)).all()}
