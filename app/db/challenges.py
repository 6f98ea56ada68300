"""Where each challenge stands, what was asked about the change, and how soon authors answered."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.dialects.postgresql import insert

from app.core.effects import Notice, Receipt
from app.core.fact import Fact
from app.core.proofs.answers import Touch, touch
from app.core.proofs.challenge import Answer, Ask, Challenge, step
from app.core.proofs.probe import Probe
from app.db.engine import Tx
from app.db.tables import answers, cases, challenges

# An account with more is no account of one person; nothing is read from that many.
_MOST = 200


def get(tx: Tx, case_id: int) -> Challenge:
    """A challenge; one that was not asked where nothing is kept."""
    kept = tx.execute(select(challenges.c.challenge).where(challenges.c.case_id == case_id))
    found = kept.scalar_one_or_none()
    if found is not None:
        return Challenge.model_validate(found)
    author = tx.execute(select(cases.c.author_id).where(cases.c.id == case_id))
    return Challenge(account_id=author.scalar_one_or_none() or 0)


def put(tx: Tx, case_id: int, challenge: Challenge) -> None:
    """Keeps it; one that was never asked is not worth a row."""
    if challenge == get(tx, case_id):
        return
    values = {"challenge": challenge.model_dump(mode="json"), "state": challenge.state}
    made = insert(challenges).values(case_id=case_id, **values)
    tx.execute(made.on_conflict_do_update(index_elements=["case_id"], set_=values))


def asked(  # noqa: PLR0913 - what is known of one question
    tx: Tx, case_id: int, effect: Notice, receipt: Receipt, started: datetime, now: datetime
) -> None:
    """Our question stands there. What its author did while it was written answers it.

    `started`: when the attempt began that wrote it. The window is ours and begins now, so that it
    never ends early; how soon an answer comes goes by GitHub's own times.
    """
    grace = timedelta(hours=effect.grace_hours) if effect.grace_hours else None
    before = get(tx, case_id)
    found = step(before, Ask(comment_id=receipt.id or 0, grace=grace), now)
    # Found there: an attempt before this one wrote it and died.
    stood = receipt.at if receipt.at is not None and not receipt.changed else started
    acted = tx.execute(select(cases.c.author_at).where(cases.c.id == case_id)).scalar_one()
    if found != before and acted is not None and acted > stood:
        found = step(found, Answer(account_id=found.account_id), max(acted, now))
    elif found != before:
        waits = update(cases).where(cases.c.id == case_id, cases.c.waiting_at.is_(None))
        tx.execute(waits.values(waiting_at=receipt.at or now))
    put(tx, case_id, found)
    if effect.probe is not None:
        kept = update(challenges).where(challenges.c.case_id == case_id)
        tx.execute(kept.values(probe=effect.probe.model_dump(mode="json")))


def acted(tx: Tx, case_id: int, at: datetime) -> None:
    """Its author wrote or did something there, which answers a question that stands."""
    before = get(tx, case_id)
    if before.since is not None and at > before.since:
        put(tx, case_id, step(before, Answer(account_id=before.account_id), at))


def probe(tx: Tx, case_id: int) -> Probe | None:
    """What was asked about the change; None where nothing was."""
    kept = select(challenges.c.probe).where(challenges.c.case_id == case_id)
    found = tx.execute(kept).scalar_one_or_none()
    return Probe.model_validate(found) if found else None


def said(tx: Tx, case_id: int, *, by_author: bool, at: datetime, body: str) -> None:
    """Somebody wrote on it: a person other than its author, who is waited for then, or its author."""
    case = cases.c.id == case_id
    if not by_author:
        tx.execute(update(cases).where(case, cases.c.waiting_at.is_(None)).values(waiting_at=at))
        return
    waiting = tx.execute(select(cases.c.waiting_at).where(case)).scalar_one_or_none()
    if waiting is None or at < waiting:
        return
    asked = probe(tx, case_id)
    # Only the first words after the question are held to be an answer to it.
    open_ = asked is not None and not readings(tx, answers.c.case_id == case_id, touched=True)
    touches = touch(body, asked.names) if asked is not None and open_ else None
    made = insert(answers).values(
        case_id=case_id, asked_at=waiting, answered_at=at, touches=touches
    )
    tx.execute(made.on_conflict_do_nothing(index_elements=["case_id", "answered_at"]))
    tx.execute(update(cases).where(case).values(waiting_at=None))


class Reading(Fact):
    """One answer. `touches`: see `core.proofs.answers`; None where no question was asked."""

    number: int
    asked_at: datetime
    answered_at: datetime
    touches: Touch | None

    @property
    def latency(self) -> timedelta:
        """How soon it came."""
        return self.answered_at - self.asked_at


def readings(tx: Tx, where: ColumnElement[bool], *, touched: bool = False) -> tuple[Reading, ...]:
    """Answers, the earliest first; `touched`: of those to our own questions alone."""
    rows = (
        select(cases.c.number, answers.c.asked_at, answers.c.answered_at, answers.c.touches)
        .join(cases, cases.c.id == answers.c.case_id)
        .where(where)
        .order_by(answers.c.answered_at)
        .limit(_MOST)
    )
    if touched:
        rows = rows.where(answers.c.touches.is_not(None))
    return tuple(Reading(**row) for row in tx.execute(rows).mappings())


def of_case(tx: Tx, case_id: int) -> tuple[Reading, ...]:
    """An author's answers on one pull request."""
    return readings(tx, answers.c.case_id == case_id)


def of_author(tx: Tx, repository_id: int, author_id: int) -> tuple[Reading, ...]:
    """An author's answers on all their pull requests here."""
    mine = (cases.c.repository_id == repository_id) & (cases.c.author_id == author_id)
    return readings(tx, mine)


def latencies(found: Sequence[Reading]) -> tuple[timedelta, ...]:
    """How soon they came."""
    return tuple(one.latency for one in found)
