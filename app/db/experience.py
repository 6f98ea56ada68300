"""What came of the scores of a repository's pull requests."""

from datetime import datetime, timedelta

from sqlalchemy import bindparam, select, text
from sqlalchemy.dialects.postgresql import insert

from app.core.local import MOST_OUTCOMES, Local, Outcome
from app.db.engine import Tx
from app.db.tables import experience

# Whoever has not answered for so long hardly will: of 120 people's first answers in the data that
# `app.learning.latency` reads, 2 came later.
SILENT = timedelta(days=14)
# The log-odds of the first decision, without what earlier experience had added.
_OUTCOMES = text(
    """
    SELECT odds, unattended FROM (
        SELECT c.opened_at, c.id, first.odds,
            CASE WHEN denied THEN true WHEN overturned OR vouched THEN false
                ELSE c.answered_at IS NULL END AS unattended
        FROM cases c
        CROSS JOIN LATERAL (
            SELECT (d.decision->'score'->>'base')::float + coalesce((
                SELECT sum((s->>'weight')::float)
                FROM jsonb_array_elements(d.decision->'score'->'signals') s
                WHERE s->>'name' <> 'here'
            ), 0) AS odds
            FROM decisions d WHERE d.case_id = c.id ORDER BY d.version LIMIT 1
        ) first
        CROSS JOIN LATERAL (
            SELECT
                EXISTS (
                    SELECT FROM rule_acts r WHERE r.case_id = c.id AND r.overturned_at IS NOT NULL
                ) AS overturned,
                word.kind IS NOT DISTINCT FROM 'denied' AS denied,
                word.kind IS NOT DISTINCT FROM 'vouched' AS vouched
            FROM (SELECT) AS one
            LEFT JOIN LATERAL (
                SELECT t.kind FROM trust t
                WHERE t.repository_id = c.repository_id AND t.account_id = c.author_id
                    AND t.ended_at IS NULL AND t.by_id <> c.author_id
                ORDER BY t.id DESC LIMIT 1
            ) word ON true
        ) verdict
        WHERE c.repository_id = :repository_id AND first.odds IS NOT NULL
            AND (denied OR overturned OR vouched OR (c.asked_at IS NOT NULL AND (
                c.answered_at IS NOT NULL OR c.pull_state = 'closed' OR c.asked_at < :silent_since
            )))
        ORDER BY c.opened_at DESC, c.id DESC LIMIT :most
    ) newest ORDER BY opened_at, id
    """
).bindparams(bindparam("most", MOST_OUTCOMES))


def outcomes(tx: Tx, repository_id: int, now: datetime) -> list[Outcome]:
    """The newest whose end is known, in order of time.

    A maintainer's word goes before what was seen: a denied author's count as *unattended*, a vouched
    one's and those where a rule's act was taken back do not. Else it is whether the author answered
    to somebody who wrote there.
    """
    rows = tx.execute(_OUTCOMES, {"repository_id": repository_id, "silent_since": now - SILENT})
    return [Outcome(odds=odds, unattended=unattended) for odds, unattended in rows]


def keep(tx: Tx, repository_id: int, local: Local, now: datetime) -> None:
    """Remembers what was fitted."""
    values = {"local": local.model_dump(mode="json"), "fitted_at": now}
    made = insert(experience).values(repository_id=repository_id, **values)
    tx.execute(made.on_conflict_do_update(index_elements=["repository_id"], set_=values))


def of(tx: Tx, repository_id: int) -> Local | None:
    """What was fitted last; None where it never was."""
    found = tx.execute(
        select(experience.c.local).where(experience.c.repository_id == repository_id)
    ).scalar_one_or_none()
    return None if found is None else Local.model_validate(found)
