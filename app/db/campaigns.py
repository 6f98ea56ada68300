"""Campaigns: which pull requests belong together, and what maintainers decided on them."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import case as sql_case
from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import array, insert
from sqlalchemy.types import Integer

from app.core.campaigns import CampaignKind, Member, word_for
from app.core.decision import CaseState
from app.core.fact import Fact
from app.core.facts import CampaignAct, CampaignWord
from app.core.github import Account
from app.core.likeness import Sketch
from app.db.engine import Tx
from app.db.tables import campaign_members as members_
from app.db.tables import campaign_words as words_
from app.db.tables import campaigns, cases, likenesses, trust

MOST = 2000  # of a campaign's pull requests that are read; more are one flood all the same
# Of those that are like one: the others are in its campaign already.
_MOST_NEAR = 200
_EXEMPT = {
    CaseState.EXEMPT: "no rule applies to its author",
    CaseState.ADOPTED: "a maintainer took it over",
    CaseState.LEFT_ALONE: "a maintainer has it left alone",
}


class Campaign(Fact):
    """A campaign as it is stored."""

    id: int
    repository_id: int
    kind: CampaignKind
    author_id: int | None
    first_at: datetime
    last_at: datetime


class Decided(Fact):
    """A maintainer's word on one. `ended_at`: when it was taken back."""

    id: int
    word: CampaignAct
    reason: str
    by_login: str
    at: datetime
    ended_at: datetime | None
    ended_by_login: str | None


def get(tx: Tx, campaign_id: int) -> Campaign | None:
    """One campaign."""
    columns = [campaigns.c[name] for name in Campaign.model_fields]
    row = tx.execute(select(*columns).where(campaigns.c.id == campaign_id)).mappings().first()
    return Campaign(**row) if row else None


def of_case(tx: Tx, case_id: int) -> int | None:
    """The campaign that a pull request belongs to."""
    row = select(members_.c.campaign_id).where(members_.c.case_id == case_id)
    return tx.execute(row).scalar_one_or_none()


def known(tx: Tx, case_ids: Iterable[int]) -> dict[int, int]:
    """The campaigns of these, by case id; those that are in none are left out."""
    rows = select(members_.c.case_id, members_.c.campaign_id).where(
        members_.c.case_id.in_(list(case_ids))
    )
    return {row.case_id: row.campaign_id for row in tx.execute(rows)}


def members(tx: Tx, campaign_id: int) -> list[Member]:
    """Its pull requests, the earliest first."""
    vouched = (
        select(trust.c.id)
        .where(
            trust.c.repository_id == cases.c.repository_id,
            trust.c.account_id == cases.c.author_id,
            trust.c.kind == "vouched",
            trust.c.ended_at.is_(None),
        )
        .exists()
        .label("vouched")
    )
    rows = (
        select(
            cases.c.id.label("case_id"),
            cases.c.number,
            cases.c.author_id,
            cases.c.opened_at,
            cases.c.state,
            members_.c.named,
            vouched,
        )
        .join(members_, members_.c.case_id == cases.c.id)
        .where(members_.c.campaign_id == campaign_id)
        .order_by(cases.c.opened_at, cases.c.number)
        .limit(MOST)
    )
    return [
        Member(
            exempt=_EXEMPT.get(CaseState(row["state"]), ""),
            **{name: row[name] for name in Member.model_fields if name in row},
        )
        for row in tx.execute(rows).mappings()
    ]


def word_of(tx: Tx, campaign_id: int) -> CampaignWord | None:
    """What holds of a campaign now."""
    rows = (
        select(words_.c.word, words_.c.by_login, words_.c.at)
        .where(words_.c.campaign_id == campaign_id, words_.c.ended_at.is_(None))
        .order_by(words_.c.id.desc())
        .limit(1)
    )
    row = tx.execute(rows).mappings().one_or_none()
    return CampaignWord(**row) if row else None


def word_on(tx: Tx, case_id: int, proven_at: datetime | None) -> CampaignWord | None:
    """What a maintainer decided of the campaign of one pull request, unless it is spared.

    `proven_at`: since when its author's proofs are enough.
    """
    campaign_id = of_case(tx, case_id)
    word = word_of(tx, campaign_id) if campaign_id is not None else None
    if campaign_id is None or word is None:
        return None
    # Whether its author is exempt the decision finds out by itself.
    found = [
        m.model_copy(update={"exempt": "", "proven": _is_proven(m, case_id, proven_at, word)})
        for m in members(tx, campaign_id)
    ]
    return word_for(case_id, found, word)


def _is_proven(member: Member, case_id: int, at: datetime | None, word: CampaignWord) -> bool:
    # A proof that came later is no answer to what a maintainer decided about this very one.
    return member.case_id == case_id and at is not None and at <= max(word.at, member.opened_at)


def decided_on(tx: Tx, campaign_ids: Iterable[int]) -> list[int]:
    """Those of the campaigns that a word holds for."""
    rows = (
        select(words_.c.campaign_id)
        .where(words_.c.campaign_id.in_(list(campaign_ids)), words_.c.ended_at.is_(None))
        .distinct()
    )
    return list(tx.execute(rows).scalars())


def words(tx: Tx, campaign_id: int) -> list[Decided]:
    """All that was decided of it, the newest first."""
    columns = [words_.c[name] for name in Decided.model_fields]
    rows = select(*columns).where(words_.c.campaign_id == campaign_id)
    return [Decided(**r) for r in tx.execute(rows.order_by(words_.c.id.desc())).mappings()]


def put_word(  # noqa: PLR0913 - the columns of one row
    tx: Tx, campaign_id: int, word: CampaignAct, by: Account, reason: str, now: datetime
) -> int:
    """A maintainer decides on it; what was decided before ends. Answers the word's id."""
    end_word(tx, campaign_id, by, now)
    made = insert(words_).values(
        campaign_id=campaign_id, word=word, by_id=by.id, by_login=by.login, reason=reason, at=now
    )
    return int(tx.execute(made.returning(words_.c.id)).scalar_one())


def end_word(tx: Tx, campaign_id: int, by: Account, now: datetime) -> bool:
    """Takes back what holds; answers whether anything did."""
    ended = (
        update(words_)
        .where(words_.c.campaign_id == campaign_id, words_.c.ended_at.is_(None))
        .values(ended_at=now, ended_by_login=by.login)
    )
    return bool(tx.execute(ended).rowcount)


def name(tx: Tx, campaign_id: int, case_ids: Sequence[int]) -> None:
    """A person names these one by one; of all others that ends."""
    tx.execute(
        update(members_)
        .where(members_.c.campaign_id == campaign_id)
        .values(named=members_.c.case_id.in_(list(case_ids)))
    )


def join(  # noqa: PLR0913 - what one join holds
    tx: Tx,
    repository_id: int,
    into: int | None,
    merged: Sequence[int],
    case_ids: Sequence[int],
    kind: CampaignKind,
) -> int:
    """Puts pull requests into a campaign (`into`, else a new one), with all of `merged`.

    Answers its id. Who is in a campaign already stays there, unless it is one of `merged`.
    """
    campaign_id = into
    if campaign_id is None:
        first = select(func.min(cases.c.opened_at)).where(cases.c.id.in_(list(case_ids)))
        made = insert(campaigns).values(
            repository_id=repository_id,
            kind=kind,
            first_at=first.scalar_subquery(),
            last_at=first.scalar_subquery(),
        )
        campaign_id = int(tx.execute(made.returning(campaigns.c.id)).scalar_one())
    if merged:
        moved = update(members_).where(members_.c.campaign_id.in_(list(merged)))
        tx.execute(moved.values(campaign_id=campaign_id))
        tx.execute(delete(words_).where(words_.c.campaign_id.in_(list(merged))))
        tx.execute(delete(campaigns).where(campaigns.c.id.in_(list(merged))))
    rows = [{"case_id": case_id, "campaign_id": campaign_id} for case_id in case_ids]
    if rows:
        tx.execute(insert(members_).on_conflict_do_nothing(index_elements=["case_id"]), rows)
    _renew(tx, campaign_id, None if merged or into is None else case_ids)
    return campaign_id


def _renew(tx: Tx, campaign_id: int, joined: Sequence[int] | None) -> None:
    """What is known of a campaign by its members: its time, and whether one account is behind it.

    `joined`: those that came; None where all members are to be looked at.
    """
    mine = select(cases.c.opened_at, cases.c.author_id).join(
        members_, members_.c.case_id == cases.c.id
    )
    mine = mine.where(members_.c.campaign_id == campaign_id)
    if joined is not None:
        mine = mine.where(cases.c.id.in_(list(joined)))
    of = mine.subquery()
    row = tx.execute(
        select(
            func.min(of.c.opened_at),
            func.max(of.c.opened_at),
            func.count(of.c.author_id.distinct()),
            func.min(of.c.author_id),
        )
    ).one()
    one = row[3] if row[2] == 1 else None
    values: dict[str, Any] = {"first_at": row[0], "last_at": row[1], "author_id": one}
    if joined is not None:
        same = campaigns.c.author_id == one
        values = {
            "first_at": func.least(campaigns.c.first_at, row[0]),
            "last_at": func.greatest(campaigns.c.last_at, row[1]),
            "author_id": sql_case((same, campaigns.c.author_id), else_=None),
        }
    renewed = update(campaigns).where(campaigns.c.id == campaign_id).values(**values)
    tx.execute(renewed)
    several = update(campaigns).where(campaigns.c.id == campaign_id)
    kind = sql_case((campaigns.c.author_id.is_(None), "similar"), else_="burst")
    tx.execute(several.values(kind=kind))


def of_burst(tx: Tx, repository_id: int, author_id: int, numbers: Iterable[int]) -> list[int]:
    """The case ids of an author's pull requests here, by number."""
    rows = select(cases.c.id).where(
        cases.c.repository_id == repository_id,
        cases.c.author_id == author_id,
        cases.c.number.in_(list(numbers)),
    )
    return list(tx.execute(rows).scalars())


def put_sketch(tx: Tx, case_id: int, sketch: Sketch) -> None:
    """Keeps what a pull request is known by to others that are like it."""
    values = sketch.model_dump() | {"bands": list(sketch.bands)}
    made = insert(likenesses).values(case_id=case_id, **values)
    tx.execute(made.on_conflict_do_update(index_elements=["case_id"], set_=values))


def forget_sketches(tx: Tx, before: datetime, limit: int = 5000) -> None:
    """Deletes the sketches of what was opened before a time, some at a time."""
    old = (
        select(likenesses.c.case_id)
        .join(cases, cases.c.id == likenesses.c.case_id)
        .where(cases.c.opened_at < before)
        .limit(limit)
    )
    tx.execute(delete(likenesses).where(likenesses.c.case_id.in_(old)))


def near(  # noqa: PLR0913 - what is like what, where and when
    tx: Tx, repository_id: int, case_id: int, sketch: Sketch, at: datetime, days: int
) -> list[tuple[int, Sketch]]:
    """Others here, opened within some days, that have a band in common, the newest first.

    Answers (case id, sketch); their own bands are left out.
    """
    within = timedelta(days=days)
    bands = array(sketch.bands, type_=Integer)
    rows = (
        select(likenesses.c.case_id, likenesses.c.words, likenesses.c.changes)
        .join(cases, cases.c.id == likenesses.c.case_id)
        .where(
            likenesses.c.bands.overlap(bands),
            cases.c.repository_id == repository_id,
            cases.c.opened_at.between(at - within, at + within),
            cases.c.id != case_id,
            cases.c.state != CaseState.EXEMPT,
        )
        .order_by(cases.c.opened_at.desc())
        .limit(_MOST_NEAR)
    )
    return [
        (row.case_id, Sketch(words=row.words, changes=row.changes, bands=()))
        for row in tx.execute(rows)
    ]


class Summary(Campaign):
    """A campaign in a list. `word` is what holds of it."""

    pulls: int
    accounts: int
    open: int
    title: str
    word: CampaignAct | None
    by_login: str | None


def latest(tx: Tx, repository_id: int, limit: int = 30) -> tuple[Summary, ...]:
    """Those with the newest pull requests. `title` is that of the earliest."""
    of = (
        select(
            members_.c.campaign_id,
            func.count().label("pulls"),
            func.count(cases.c.author_id.distinct()).label("accounts"),
            func.count().filter(cases.c.pull_state == "open").label("open"),
            func.min(cases.c.id).label("first_id"),
        )
        .join(cases, cases.c.id == members_.c.case_id)
        .where(cases.c.repository_id == repository_id)
        .group_by(members_.c.campaign_id)
        .subquery()
    )
    columns = [campaigns.c[name] for name in Campaign.model_fields]
    first = cases.alias("first")
    rows = (
        select(
            *columns,
            of.c.pulls,
            of.c.accounts,
            of.c.open,
            first.c.snapshot["title"].as_string().label("title"),
            words_.c.word,
            words_.c.by_login,
        )
        .join(of, of.c.campaign_id == campaigns.c.id)
        .join(first, first.c.id == of.c.first_id)
        .outerjoin(words_, (words_.c.campaign_id == campaigns.c.id) & words_.c.ended_at.is_(None))
        .where(campaigns.c.repository_id == repository_id)
        .order_by(campaigns.c.last_at.desc())
        .limit(limit)
    )
    return tuple(Summary(**row) for row in tx.execute(rows).mappings())


class Shown(Member):
    """A member with what a page shows of it."""

    title: str
    author: str | None
    state: str
    pull_state: str


def shown(tx: Tx, campaign_id: int) -> list[Shown]:
    """Its pull requests as a page shows them, the earliest first."""
    found = {m.case_id: m for m in members(tx, campaign_id)}
    rows = select(
        cases.c.id,
        cases.c.state,
        cases.c.pull_state,
        cases.c.snapshot["title"].as_string().label("title"),
        cases.c.snapshot["user"]["login"].as_string().label("author"),
    ).where(cases.c.id.in_(list(found)))
    more = {row.id: row for row in tx.execute(rows)}
    return [
        Shown(
            **member.model_dump(),
            title=more[id_].title or "",
            author=more[id_].author,
            state=more[id_].state,
            pull_state=more[id_].pull_state,
        )
        for id_, member in found.items()
    ]
