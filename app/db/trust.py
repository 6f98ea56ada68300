"""A maintainer's word on an account, in one repository: vouched, denied, to verify."""

from datetime import datetime

from sqlalchemy import or_, select, update
from sqlalchemy.dialects.postgresql import insert

from app.core.facts import Trust
from app.core.github import Account
from app.db.engine import Tx
from app.db.tables import repositories, trust


def current(
    tx: Tx, repository_id: int, account_id: int, now: datetime, *, shared: bool = False
) -> Trust | None:
    """The newest word that holds now: the repository's own, or else, if `shared`, of others.

    Others are those of the same installation that share theirs as well.
    """
    rows = (
        select(*(trust.c[name] for name in Trust.model_fields))
        .where(
            trust.c.account_id == account_id,
            trust.c.ended_at.is_(None),
            or_(trust.c.until.is_(None), trust.c.until > now),
        )
        .order_by(trust.c.at.desc(), trust.c.id.desc())
        .limit(1)
    )
    own = tx.execute(rows.where(trust.c.repository_id == repository_id)).mappings().one_or_none()
    if own is not None or not shared:
        return Trust(**own) if own else None
    here = select(repositories.c.installation_id).where(repositories.c.id == repository_id)
    others = select(repositories.c.id).where(
        repositories.c.installation_id == here.scalar_subquery(),
        repositories.c.policy["trust"]["shared"].as_boolean(),
    )
    row = tx.execute(rows.where(trust.c.repository_id.in_(others))).mappings().one_or_none()
    return Trust(**row) if row else None


class OnMe(Trust):
    """A word as the account that it is about may read it: where, and until when."""

    repository: str
    repository_id: int


def on_account(tx: Tx, account_id: int, now: datetime) -> tuple[OnMe, ...]:
    """All that holds of an account now, in whatever repository."""
    columns = [trust.c[name] for name in Trust.model_fields]
    rows = (
        select(
            *columns,
            trust.c.repository_id,
            (repositories.c.owner + "/" + repositories.c.name).label("repository"),
        )
        .join(repositories, repositories.c.id == trust.c.repository_id)
        .where(
            trust.c.account_id == account_id,
            trust.c.ended_at.is_(None),
            or_(trust.c.until.is_(None), trust.c.until > now),
        )
        .order_by(trust.c.id.desc())
        .limit(200)
    )
    return tuple(OnMe(**row) for row in tx.execute(rows).mappings())


class Listed(Trust):
    """A word with whom it is about, by numeric id and the login of then."""

    account_id: int
    login: str


def listed(tx: Tx, repository_id: int, now: datetime) -> tuple[Listed, ...]:
    """All that holds in one repository, the newest first."""
    columns = [trust.c[name] for name in Listed.model_fields]
    rows = (
        select(*columns)
        .where(
            trust.c.repository_id == repository_id,
            trust.c.ended_at.is_(None),
            or_(trust.c.until.is_(None), trust.c.until > now),
        )
        .order_by(trust.c.id.desc())
    )
    return tuple(Listed(**row) for row in tx.execute(rows).mappings())


def of_account(tx: Tx, repository_id: int, account_id: int) -> tuple[Trust, ...]:
    """All that was ever said of an account in a repository, the newest first."""
    columns = [trust.c[name] for name in Trust.model_fields]
    rows = select(*columns).where(
        trust.c.repository_id == repository_id, trust.c.account_id == account_id
    )
    return tuple(Trust(**r) for r in tx.execute(rows.order_by(trust.c.id.desc())).mappings())


def end(tx: Tx, repository_id: int, account_id: int, now: datetime) -> bool:
    """A maintainer takes back what was said of an account; answers whether anything held."""
    ended = (
        update(trust)
        .where(
            trust.c.repository_id == repository_id,
            trust.c.account_id == account_id,
            trust.c.ended_at.is_(None),
        )
        .values(ended_at=now)
    )
    return bool(tx.execute(ended).rowcount)


def put(tx: Tx, repository_id: int, of: Account, by_id: int, word: Trust) -> bool:
    """Keeps a word, once; what was said of the account before ends with it.

    False where it was kept before.
    """
    kept = current(tx, repository_id, of.id, word.at)
    if kept is not None and kept.model_copy(update={"by_id": word.by_id}) == word:
        return False
    # One that was delivered late is kept, and had ended by the time that it came.
    ended = kept.at if kept is not None and kept.at > word.at else None
    tx.execute(
        update(trust)
        .where(
            trust.c.repository_id == repository_id,
            trust.c.account_id == of.id,
            trust.c.ended_at.is_(None),
            trust.c.at <= word.at,
        )
        .values(ended_at=word.at)
    )
    tx.execute(
        insert(trust).values(
            repository_id=repository_id,
            account_id=of.id,
            login=of.login,
            ended_at=ended,
            **word.model_dump() | {"by_id": by_id},
        )
    )
    return True
