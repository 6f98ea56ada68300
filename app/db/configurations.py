"""What configuration files said, and the policy in force that follows from them."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select, update

from app.core.fact import Fact
from app.core.policy import Policy
from app.db.engine import Tx
from app.db.tables import installations, repositories


class Written(Fact):
    """The last good file: what is written there, its blob id, and whether it was ever read."""

    text: dict[str, Any] | None = None
    sha: str | None = None
    was_read: bool = False
    failed: bool = False


def default_of(tx: Tx, installation_id: int) -> Written:
    """The organisation's default, as far as it was read."""
    row = tx.execute(
        select(
            installations.c.policy, installations.c.policy_sha, installations.c.policy_read_at
        ).where(installations.c.id == installation_id)
    ).one_or_none()
    if row is None:
        return Written()
    return Written(text=row.policy, sha=row.policy_sha, was_read=row.policy_read_at is not None)


def own(tx: Tx, repository_id: int) -> Written:
    """The repository's own file, as far as it was read."""
    row = tx.execute(
        select(
            repositories.c.policy_own,
            repositories.c.policy_own_sha,
            repositories.c.policy_read_at,
            repositories.c.policy_error,
        ).where(repositories.c.id == repository_id)
    ).one()
    was_read = row.policy_read_at is not None
    return Written(
        text=row.policy_own,
        sha=row.policy_own_sha,
        was_read=was_read,
        failed=row.policy_error is not None,
    )


def keep_default(
    tx: Tx, installation_id: int, written: dict[str, Any] | None, sha: str | None, now: datetime
) -> None:
    """Keeps the organisation's default; None: there is none."""
    tx.execute(
        update(installations)
        .where(_default_not_read_since(installation_id, now))
        .values(policy=written, policy_sha=sha, policy_error=None, policy_read_at=now)
    )


def default_failed(tx: Tx, installation_id: int, error: str, now: datetime) -> None:
    """The default is wrong: the last good one stays, and the page says why."""
    tx.execute(
        update(installations)
        .where(_default_not_read_since(installation_id, now))
        .values(policy_error=error[:2000], policy_read_at=now)
    )


def _default_not_read_since(installation_id: int, began: datetime) -> ColumnElement[bool]:
    read_at = installations.c.policy_read_at
    return and_(installations.c.id == installation_id, or_(read_at.is_(None), read_at <= began))


def forget_conflict(tx: Tx, repository_id: int, begins: str) -> None:
    """The two files fit again: an error that begins so is over."""
    tx.execute(
        update(repositories)
        .where(repositories.c.id == repository_id, repositories.c.policy_error.startswith(begins))
        .values(policy_error=None)
    )


def keep_own(
    tx: Tx, repository_id: int, written: dict[str, Any] | None, sha: str | None, now: datetime
) -> bool:
    """Keeps a repository's own file; None: there is none. False where a newer read was kept.

    `now` is from before the file was read: of two reads at once the one that began last counts.
    """
    kept = tx.execute(
        update(repositories)
        .where(_not_read_since(repository_id, now))
        .values(policy_own=written, policy_own_sha=sha, policy_error=None, policy_read_at=now)
    )
    return bool(kept.rowcount)


def put_policy(tx: Tx, repository_id: int, policy: Policy | None, version: str) -> bool:
    """Puts a policy in force; None: there is no file at all, so the defaults.

    False where this version was in force already.
    """
    changed = tx.execute(
        update(repositories)
        .where(
            repositories.c.id == repository_id, repositories.c.policy_sha.is_distinct_from(version)
        )
        .values(
            policy=policy.model_dump(mode="json") if policy else None,
            policy_sha=version,
        )
    )
    return bool(changed.rowcount)


def policy_failed(tx: Tx, repository_id: int, error: str, now: datetime) -> None:
    """The file is wrong: the last good policy stays in force, and the page says why."""
    tx.execute(
        update(repositories)
        .where(_not_read_since(repository_id, now))
        .values(policy_error=error[:2000], policy_read_at=now)
    )


def _not_read_since(repository_id: int, began: datetime) -> ColumnElement[bool]:
    read_at = repositories.c.policy_read_at
    return and_(repositories.c.id == repository_id, or_(read_at.is_(None), read_at <= began))
