"""One pull request whole: every decision, every effect, what people did by hand."""

from datetime import datetime

from pydantic import TypeAdapter
from sqlalchemy import select

from app.core.decision import CaseState, Decision
from app.core.effects import Effect, EffectState
from app.core.fact import Fact
from app.core.facts import Hand
from app.core.github import PullRequest
from app.core.proofs.challenge import Challenge
from app.core.proofs.probe import Probe
from app.db import challenges, people
from app.db.challenges import Reading
from app.db.engine import Tx
from app.db.tables import cases, decisions, outbox

_EFFECT: TypeAdapter[Effect] = TypeAdapter(Effect)
# Of a pull request that was decided very often, the latest are shown.
MOST = 50


class EffectRow(Fact):
    """One row of the outbox. `version`: of the decision that it follows from; 0 for none."""

    version: int
    effect: Effect
    state: EffectState
    attempts: int
    reason: str | None
    created_at: datetime
    ended_at: datetime | None


class Whole(Fact):
    """A pull request with its decisions and effects (newest first) and hands (oldest first)."""

    case_id: int
    pull: PullRequest
    state: CaseState
    closed_at: datetime | None
    reopened_at: datetime | None
    decisions: tuple[Decision, ...]
    effects: tuple[EffectRow, ...]
    hands: tuple[Hand, ...]
    challenge: Challenge
    probe: Probe | None
    readings: tuple[Reading, ...]


def whole(tx: Tx, repository_id: int, number: int) -> Whole | None:
    """All that is known of a pull request; None where it was never seen."""
    row = tx.execute(
        select(
            cases.c.id,
            cases.c.snapshot,
            cases.c.state,
            cases.c.closed_at,
            cases.c.reopened_at,
        ).where(cases.c.repository_id == repository_id, cases.c.number == number)
    ).one_or_none()
    if row is None:
        return None
    return Whole(
        case_id=row.id,
        pull=PullRequest.model_validate(row.snapshot),
        state=row.state,
        closed_at=row.closed_at,
        reopened_at=row.reopened_at,
        decisions=_decisions(tx, row.id),
        effects=_effects(tx, row.id),
        hands=people.hands_on(tx, row.id),
        challenge=challenges.get(tx, row.id),
        probe=challenges.probe(tx, row.id),
        readings=challenges.of_case(tx, row.id),
    )


def _decisions(tx: Tx, case_id: int) -> tuple[Decision, ...]:
    rows = (
        select(decisions.c.decision)
        .where(decisions.c.case_id == case_id)
        .order_by(decisions.c.version.desc())
        .limit(MOST)
    )
    return tuple(Decision.model_validate(found) for found in tx.execute(rows).scalars())


def _version(key: str) -> int:
    """Of the decision that an effect follows from; 0 for one that follows from none."""
    word = key.split(":")[1]
    return int(word) if word.isdecimal() else 0


def _effects(tx: Tx, case_id: int) -> tuple[EffectRow, ...]:
    pull = select(cases.c.repository_id, cases.c.number).where(cases.c.id == case_id).subquery()
    rows = (
        select(outbox)
        # By the index on the pull request; there is none on the case.
        .join(
            pull,
            (outbox.c.repository_id == pull.c.repository_id) & (outbox.c.number == pull.c.number),
        )
        .where(outbox.c.case_id == case_id)
        .order_by(outbox.c.id.desc())
        .limit(MOST * 6)
    )
    found = [
        EffectRow(
            version=_version(row["key"]),
            effect=_EFFECT.validate_python(row["effect"]),
            **{n: row[n] for n in ("state", "attempts", "reason", "created_at", "ended_at")},
        )
        for row in tx.execute(rows).mappings()
    ]
    # The newest decision's first, and of one decision in the order in which they are carried out.
    found.reverse()
    return tuple(sorted(found, key=lambda e: -e.version))
