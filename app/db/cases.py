"""One row for each pull request: as last seen, as last decided, and what we wrote there."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import DateTime, RowMapping, case, cast, false, func, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert

from app.core.decision import Case, CaseState, Decision, Planned
from app.core.effects import Effect, Known, Receipt
from app.core.errors import RetryLater
from app.core.fact import Fact
from app.core.facts import Asked, History, Opened
from app.core.github import PullRequest
from app.core.proofs.challenge import Challenge
from app.core.said import Sentence
from app.db.engine import Tx
from app.db.tables import cases, decisions
from app.db.tables import challenges as kept

# More pull requests by one author at a time are a flood, whatever their number.
_MOST = 2000
_EVER = datetime.min.replace(year=1970, tzinfo=UTC)


class Row(Fact):
    """A case with the pull request as last seen, and what was asked and answered on it."""

    case: Case
    pull: PullRequest
    asked: Asked


class Due(Fact):
    """A case that is to be looked at again, and since when."""

    case_id: int
    repository_id: int
    number: int
    at: datetime


def get(tx: Tx, repository_id: int, number: int) -> Row | None:
    """The case of a pull request."""
    last = (decisions.c.case_id == cases.c.id) & (decisions.c.version == cases.c.version)
    row = (
        tx.execute(
            select(
                cases,
                kept.c.challenge,
                decisions.c.decision["planned"].label("planned"),
                decisions.c.decision["findings"].label("findings"),
                decisions.c.decision["answers"].label("answers"),
                decisions.c.decision["due_at"].as_string().label("last_due_at"),
                decisions.c.decision["pull_state"].as_string().label("last_pull_state"),
            )
            .outerjoin(decisions, last)
            .outerjoin(kept, kept.c.case_id == cases.c.id)
            .where(cases.c.repository_id == repository_id, cases.c.number == number)
        )
        .mappings()
        .one_or_none()
    )
    return _row(row) if row else None


def _row(row: RowMapping) -> Row:
    return Row(
        case=Case(
            id=row["id"],
            repository_id=row["repository_id"],
            number=row["number"],
            version=row["version"],
            state=CaseState(row["state"]),
            decided_at=row["decided_at"],
            fingerprint=row["fingerprint"],
            planned=tuple(Planned.model_validate(p) for p in row["planned"] or ()),
            notices=row["notices"],
            closed_by_us=row["closed_at"] is not None,
            closed_at=row["closed_at"],
            reopened_at=row["reopened_at"],
            has_status_comment=row["status_comment_id"] is not None,
            has_question=row["question_comment_id"] is not None,
            label=row["label"],
            rules=tuple(finding["rule"] for finding in row["findings"] or ()),
            due_at=_moment(row["last_due_at"]),
            answers=tuple(Sentence.model_validate(said) for said in row["answers"] or ()),
            was_closed_or_draft=(row["last_pull_state"] or "open") != "open",
        ),
        pull=PullRequest.model_validate(row["snapshot"]),
        asked=Asked(
            challenge=Challenge.model_validate(row["challenge"])
            if row["challenge"]
            else Challenge(account_id=row["author_id"] or 0),
            author_at=row["author_at"],
        ),
    )


def _moment(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None


def see(tx: Tx, repository_id: int, pull: PullRequest, rank: int) -> bool:
    """Keeps a pull request as just seen, unless a newer state is known; answers if it was kept.

    GitHub's times have whole seconds: within one, the higher `rank` is the later state.
    """
    values = {
        "author_id": pull.user.id if pull.user else None,
        "snapshot": pull.model_dump(mode="json"),
        "updated_at": pull.updated_at,
        "updated_rank": rank,
        "pull_state": pull.state,
        "merged": pull.is_merged,
    }
    made = insert(cases).values(
        repository_id=repository_id, number=pull.number, opened_at=pull.created_at, **values
    )
    newer = tuple_(made.excluded.updated_at, made.excluded.updated_rank) >= tuple_(
        cases.c.updated_at, cases.c.updated_rank
    )
    new = made.excluded
    is_open, was_draft = new.pull_state == "open", cases.c.snapshot["draft"].as_boolean()
    again = is_open & (cases.c.pull_state != "open")
    ready = was_draft & ~new.snapshot["draft"].as_boolean()
    turns = {
        "again_at": case((again, new.updated_at), else_=cases.c.again_at),
        "ready_at": case((ready, new.updated_at), else_=cases.c.ready_at),
    }
    stored = tx.execute(
        made.on_conflict_do_update(
            index_elements=["repository_id", "number"], set_={**values, **turns}, where=newer
        ).returning(cases.c.id)
    )
    return stored.scalar_one_or_none() is not None


def wrote(tx: Tx, case_id: int, *, by_author: bool, at: datetime) -> None:
    """Somebody wrote on the pull request: its author, or a person who is not."""
    if by_author:
        later = update(cases).where(cases.c.id == case_id, cases.c.asked_at < at)
        tx.execute(later.values(answered_at=at))
        return
    first = update(cases).where(cases.c.id == case_id, cases.c.asked_at.is_(None))
    tx.execute(first.values(asked_at=at))


def acted(tx: Tx, case_id: int, at: datetime) -> None:
    """The author did something on the pull request: wrote, pushed, edited."""
    later = func.greatest(cases.c.author_at, at)
    tx.execute(update(cases).where(cases.c.id == case_id).values(author_at=later))


def looked(tx: Tx, case_id: int, at: datetime) -> None:
    """A person of the team looked at it; the first time counts."""
    first = update(cases).where(cases.c.id == case_id, cases.c.first_look_at.is_(None))
    tx.execute(first.values(first_look_at=at))


def due(tx: Tx, now: datetime, limit: int = 500) -> list[Due]:
    """Cases whose time has come, which is then taken off them."""
    first = (
        select(cases.c.id)
        .where(cases.c.due_at <= now)
        .order_by(cases.c.due_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
        .cte("first")
    )
    # The value from before the update, which makes the key of the stimulus.
    old = cases.alias("old")
    rows = tx.execute(
        update(cases)
        .where(cases.c.id == first.c.id, old.c.id == cases.c.id)
        .values(due_at=None)
        .returning(cases.c.id, cases.c.repository_id, cases.c.number, old.c.due_at)
    )
    return [
        Due(case_id=row.id, repository_id=row.repository_id, number=row.number, at=row.due_at)
        for row in rows
    ]


def doubtful(tx: Tx, repository_id: int, pull: PullRequest, rank: int) -> bool:
    """Whether another state of the same second is known, so that neither is surely the later."""
    known = tx.execute(
        select(cases.c.snapshot).where(
            cases.c.repository_id == repository_id,
            cases.c.number == pull.number,
            cases.c.updated_at == pull.updated_at,
            cases.c.updated_rank == rank,
        )
    ).scalar_one_or_none()
    return known is not None and PullRequest.model_validate(known) != pull


def save(tx: Tx, case: Case, decision: Decision) -> None:
    """Stores a decision and makes it the case's own.

    Raises `RetryLater` where another worker decided meanwhile, which happens where PostgreSQL was
    restarted under the lock on the pull request.
    """
    changed = tx.execute(
        update(cases)
        .where(cases.c.id == case.id, cases.c.version == case.version)
        .values(
            version=decision.version,
            state=decision.state,
            fingerprint=decision.fingerprint,
            decided_at=decision.decided_at,
            due_at=decision.due_at,
            **_queued(decision),
        )
    )
    if changed.rowcount != 1:
        raise RetryLater("another worker decided at the same time")
    tx.execute(
        insert(decisions).values(
            case_id=case.id,
            version=decision.version,
            state=decision.state,
            decided_at=decision.decided_at,
            probability=None if decision.score.unknown else decision.score.probability,
            decision=decision.model_dump(mode="json"),
        )
    )


def _queued(decision: Decision) -> dict[str, float]:
    turn = decision.turn
    return {} if turn is None else {"queue_tier": turn.tier, "queue_order": turn.order}


def look_again(tx: Tx, case_id: int, at: datetime) -> None:
    """It is looked at again at a time, or before if that was wanted already."""
    sooner = func.least(func.coalesce(cases.c.due_at, at), at)
    tx.execute(update(cases).where(cases.c.id == case_id).values(due_at=sooner))


def opened_near(
    tx: Tx, repository_id: int, author_id: int, at: datetime, within: timedelta
) -> tuple[Opened, ...]:
    """The author's pull requests here that were opened near a time, the nearest first."""
    rows = (
        select(cases.c.number, cases.c.opened_at)
        .where(
            cases.c.repository_id == repository_id,
            cases.c.author_id == author_id,
            cases.c.opened_at.between(at - within, at + within),
        )
        # Not by time alone: of a flood beyond the limit, the one asked about would be left out.
        .order_by(
            func.greatest(cases.c.opened_at - at, at - cases.c.opened_at), cases.c.number.desc()
        )
        .limit(_MOST)
    )
    return tuple(Opened(number=n, at=opened) for n, opened in tx.execute(rows))


def history(
    tx: Tx, repository_id: int, author_id: int, number: int, lately: datetime | None = None
) -> History:
    """What became of the author's other pull requests here; `lately`: since when, else ever."""
    merged_at = cast(cases.c.snapshot["merged_at"].as_string(), DateTime(timezone=True))
    merged = cases.c.merged.is_(True)
    asked = cases.c.asked_at.is_not(None)
    row = tx.execute(
        select(
            func.count().filter(merged),
            func.count().filter(~merged, cases.c.pull_state == "closed"),
            func.count().filter(cases.c.pull_state == "open"),
            func.count().filter(asked, cases.c.answered_at.is_not(None)),
            func.count().filter(asked, cases.c.answered_at.is_(None)),
            func.count().filter(merged, merged_at >= (lately or _EVER)),
        ).where(
            cases.c.repository_id == repository_id,
            cases.c.author_id == author_id,
            cases.c.number != number,
        )
    ).one()
    return History(
        merged=row[0],
        closed_unmerged=row[1],
        open=row[2],
        answered=row[3],
        unanswered=row[4],
        merged_lately=row[5],
    )


def open_numbers(tx: Tx, repository_id: int, author_id: int, limit: int = _MOST) -> list[int]:
    """The author's open pull requests here, also those that are just being decided."""
    rows = (
        select(cases.c.number)
        .where(
            cases.c.repository_id == repository_id,
            cases.c.author_id == author_id,
            cases.c.pull_state == "open",
        )
        .order_by(cases.c.number)
        .limit(limit)
    )
    return list(tx.execute(rows).scalars())


def without_burst(tx: Tx, case_id: int, minutes: int, limit: int = _MOST) -> list[int]:
    """Open pull requests by the same author, opened near one, that are not yet seen as a burst.

    Answers their numbers. Those never decided yet will see it themselves.
    """
    one, other = cases.alias("one"), cases.alias("other")
    within = timedelta(minutes=minutes)
    found = select(decisions.c.id).where(
        decisions.c.case_id == other.c.id,
        decisions.c.version == other.c.version,
        decisions.c.decision["findings"].contains([{"rule": "burst"}]),
    )
    rows = (
        select(other.c.number)
        .join(
            one,
            (one.c.repository_id == other.c.repository_id)
            & (one.c.author_id == other.c.author_id)
            & (one.c.id != other.c.id),
        )
        .where(
            one.c.id == case_id,
            other.c.opened_at.between(one.c.opened_at - within, one.c.opened_at + within),
            other.c.pull_state == "open",
            other.c.version > 0,
            ~found.exists(),
        )
        .order_by(other.c.number)
        .limit(limit)
    )
    return list(tx.execute(rows).scalars())


def known(tx: Tx, case_id: int) -> Known:
    """What we wrote on it before, by GitHub's ids."""
    row = tx.execute(
        select(
            cases.c.status_comment_id,
            cases.c.question_comment_id,
            cases.c.check_run_id,
            cases.c.check_run_sha,
        ).where(cases.c.id == case_id)
    ).one()
    return Known(
        status_comment_id=row.status_comment_id,
        question_comment_id=row.question_comment_id,
        check_run_id=row.check_run_id,
        check_run_sha=row.check_run_sha,
    )


def carried_out(tx: Tx, case_id: int, effect: Effect, receipt: Receipt, now: datetime) -> None:
    """Keeps on the case what an effect left on GitHub."""
    values: dict[str, object] = {}
    if effect.kind == "status_comment":
        values = {"status_comment_id": receipt.id}
    elif effect.kind == "label":
        values = {"label": effect.name if effect.present else None}
    elif effect.kind == "check_run":
        values = {"check_run_id": receipt.id, "check_run_sha": effect.head_sha}
    elif effect.kind == "ask_comment":
        ends = now + timedelta(hours=effect.grace_hours) if effect.grace_hours else None
        values = {
            "notices": cases.c.notices + 1,
            "question_comment_id": receipt.id,
            "due_at": ends,
        }
    elif effect.kind == "question_ended":
        values = {"question_comment_id": None}
    elif effect.kind == "close_comment":
        values = {"notices": cases.c.notices + 1}
    elif effect.kind == "close":
        values = {"closed_at": now, "reopened_at": None}
    elif effect.kind == "reopen":
        values = {"closed_at": None, "reopened_at": now}
    if values:
        tx.execute(update(cases).where(cases.c.id == case_id).values(**values))


def closed_by_us(tx: Tx, case_id: int, at: datetime) -> None:
    """GitHub says that our App closed it."""
    tx.execute(update(cases).where(cases.c.id == case_id).values(closed_at=at))


def open_again(tx: Tx, case_id: int, by_us_at: datetime | None) -> None:
    """GitHub says that it is open again, and when it was our App that opened it."""
    values: dict[str, object] = {"closed_at": None}
    if by_us_at is not None:
        values["reopened_at"] = by_us_at
    tx.execute(update(cases).where(cases.c.id == case_id).values(**values))


def of_check_run(tx: Tx, check_run_id: int, external_id: str | None) -> tuple[int, int] | None:
    """The pull request, as (repository id, number), that a check run of ours belongs to."""
    made = (external_id or "").partition(":")[0]
    own = cases.c.id == int(made) if made.isdecimal() and len(made) < 19 else false()
    rows = select(cases.c.repository_id, cases.c.number).where(
        own, cases.c.check_run_id == check_run_id
    )
    row = tx.execute(rows).one_or_none()
    return (row.repository_id, row.number) if row else None


def open_states(tx: Tx, repository_id: int) -> dict[int, datetime]:
    """The pull requests that we believe open, with the time of the state we know."""
    rows = select(cases.c.number, cases.c.updated_at).where(
        cases.c.repository_id == repository_id, cases.c.pull_state == "open"
    )
    return {row.number: row.updated_at for row in tx.execute(rows)}
