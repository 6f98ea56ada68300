"""Installations of the App, their repositories, and each repository's policy in force."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, select, update
from sqlalchemy import case as sql_case
from sqlalchemy.dialects.postgresql import insert

from app.core.brakes import Brake, braked
from app.core.fact import Fact
from app.core.facts import RepositoryRef, Role
from app.core.github import Installation, Repository, RepositoryName
from app.core.policy import Policy
from app.db import brakes
from app.db.engine import Tx
from app.db.tables import installations, repositories


class Standing(Fact):
    """How a repository stands with us, and the policy in force there, less what is braked.

    `gone` says why nothing may be done for it any more. `roles` are the answers that a recording
    brought with it, by account id; None for a real installation.
    """

    repository: RepositoryRef
    installed_at: datetime
    suspended: bool
    gone: str | None
    policy: Policy
    policy_sha: str
    policy_read: bool
    roles: dict[int, Role] | None
    permissions: dict[str, str]
    brakes: tuple[Brake, ...] = ()

    @property
    def recorded(self) -> bool:
        """Whether it comes from a recording, where nothing is ever asked or written."""
        return self.roles is not None


def put_installation(
    tx: Tx, found: Installation, now: datetime, recording: dict[str, Any] | None = None
) -> None:
    """Creates or renews an installation. One that was deleted and comes back starts anew."""
    values = {
        "account_id": found.account.id if found.account else None,
        "account_login": found.account.login if found.account else None,
        "permissions": dict(found.permissions),
        "suspended_at": found.suspended_at,
    }
    made = insert(installations).values(
        id=found.id, installed_at=found.created_at or now, recording=recording, **values
    )
    again = sql_case(
        (installations.c.deleted_at.is_not(None), made.excluded.installed_at),
        else_=installations.c.installed_at,
    )
    tx.execute(
        made.on_conflict_do_update(
            index_elements=["id"], set_={**values, "installed_at": again, "deleted_at": None}
        )
    )


def installation_known(tx: Tx, installation_id: int) -> bool:
    """Whether we have it and it was not deleted."""
    row = select(installations.c.id).where(
        installations.c.id == installation_id, installations.c.deleted_at.is_(None)
    )
    return tx.execute(row).scalar_one_or_none() is not None


def end_installation(tx: Tx, installation_id: int, now: datetime) -> None:
    """The App was uninstalled."""
    tx.execute(
        update(installations).where(installations.c.id == installation_id).values(deleted_at=now)
    )


def suspend(tx: Tx, installation_id: int, at: datetime | None) -> None:
    """The installation was suspended at a time, or (None) may act again."""
    tx.execute(
        update(installations).where(installations.c.id == installation_id).values(suspended_at=at)
    )


def suspended(tx: Tx, installation_id: int) -> bool:
    """Whether it is suspended as far as we know."""
    row = select(installations.c.suspended_at).where(installations.c.id == installation_id)
    return tx.execute(row).scalar_one_or_none() is not None


def put_repositories(
    tx: Tx, installation_id: int, found: Iterable[RepositoryName], now: datetime
) -> None:
    """The installation reaches these repositories from now on.

    PRs older than `now` are left alone in those that were not there before.
    """
    for repository in found:
        owner, _, name = repository.full_name.partition("/")
        made = insert(repositories).values(
            id=repository.id,
            installation_id=installation_id,
            owner=owner,
            name=name,
            private=repository.private,
            installed_at=now,
        )
        back = sql_case(
            (repositories.c.removed_at.is_not(None), made.excluded.installed_at),
            else_=repositories.c.installed_at,
        )
        tx.execute(
            made.on_conflict_do_update(
                index_elements=["id"],
                set_={
                    "installation_id": installation_id,
                    "owner": owner,
                    "name": name,
                    "private": repository.private,
                    "installed_at": back,
                    "removed_at": None,
                    "policy_read_at": _read_unless_moved(installation_id),
                },
            )
        )


def _read_unless_moved(installation_id: int) -> ColumnElement[Any]:
    """Another installation has another default, with which the file is read anew."""
    stays = repositories.c.installation_id == installation_id
    return sql_case((stays, repositories.c.policy_read_at), else_=None)


def put_repository(tx: Tx, installation_id: int, seen: Repository, since: datetime) -> None:
    """A repository as a delivery names it, made if new."""
    made = insert(repositories).values(
        id=seen.id,
        installation_id=installation_id,
        owner=seen.owner,
        name=seen.name,
        private=seen.private,
        default_branch=seen.default_branch,
        installed_at=since,
    )
    tx.execute(made.on_conflict_do_nothing(index_elements=["id"]))


def rename_repository(tx: Tx, seen: Repository, installation_id: int | None, now: datetime) -> None:
    """The repository has a new name, owner, default branch or visibility, by its id.

    One that comes to another installation which we know is taken up there. Another default branch
    may hold another configuration, which is then read before the next decision.
    """
    same_branch = repositories.c.default_branch == seen.default_branch
    values: dict[str, Any] = {
        "owner": seen.owner,
        "name": seen.name,
        "private": seen.private,
        "default_branch": seen.default_branch,
        "policy_read_at": sql_case((same_branch, repositories.c.policy_read_at), else_=None),
    }
    if installation_id is not None and installation_known(tx, installation_id):
        moved = repositories.c.installation_id != installation_id
        here = _read_unless_moved(installation_id)
        values["policy_read_at"] = sql_case((same_branch, here), else_=None)
        came_back = and_(moved, repositories.c.removed_at.is_not(None))
        kept = repositories.c.installed_at
        values |= {
            "installation_id": installation_id,
            "installed_at": sql_case((came_back, now), else_=kept),
            "removed_at": sql_case((moved, None), else_=repositories.c.removed_at),
        }
    tx.execute(update(repositories).where(repositories.c.id == seen.id).values(**values))


def of_installation(tx: Tx, installation_id: int, ids: Iterable[int]) -> list[int]:
    """Those of the repositories that belong to the installation as far as we know."""
    rows = select(repositories.c.id).where(
        repositories.c.installation_id == installation_id, repositories.c.id.in_(list(ids))
    )
    return list(tx.execute(rows).scalars())


def remove_repositories(tx: Tx, ids: Iterable[int], now: datetime) -> None:
    """The installation does not reach these any more."""
    tx.execute(update(repositories).where(repositories.c.id.in_(list(ids))).values(removed_at=now))


def standing(tx: Tx, repository_id: int) -> Standing | None:
    """All that a decision needs to know of a repository; None where it is unknown."""
    row = (
        tx.execute(
            select(
                repositories,
                installations.c.suspended_at,
                installations.c.deleted_at,
                installations.c.recording,
                installations.c.permissions,
            )
            .join(installations, installations.c.id == repositories.c.installation_id)
            .where(repositories.c.id == repository_id)
        )
        .mappings()
        .one_or_none()
    )
    if row is None:
        return None
    gone = "the App was uninstalled" if row["deleted_at"] else None
    if row["removed_at"]:
        gone = "the repository was taken out of the installation"
    recording = row["recording"]
    roles = None
    if recording is not None:
        roles = {int(k): Role(v) for k, v in recording.get("roles", {}).items()}
    on = brakes.on(tx, repository_id)
    policy = Policy.model_validate(row["policy"]) if row["policy"] else Policy()
    version = row["policy_sha"] or "default"
    return Standing(
        repository=RepositoryRef(
            id=row["id"],
            installation_id=row["installation_id"],
            owner=row["owner"],
            name=row["name"],
        ),
        installed_at=row["installed_at"],
        suspended=row["suspended_at"] is not None,
        gone=gone,
        policy=braked(policy, on),
        policy_sha="~".join([version, *(f"brake{b.id}" for b in on)]),
        brakes=on,
        policy_read=row["policy_read_at"] is not None,
        roles=roles,
        permissions=row["permissions"],
    )


def repositories_of(tx: Tx, installation_id: int) -> list[RepositoryRef]:
    """The repositories of one installation that it may act on now; none of a recording."""
    rows = tx.execute(
        select(
            repositories.c.id,
            repositories.c.installation_id,
            repositories.c.owner,
            repositories.c.name,
        )
        .join(installations, installations.c.id == repositories.c.installation_id)
        .where(
            repositories.c.installation_id == installation_id,
            repositories.c.removed_at.is_(None),
            installations.c.deleted_at.is_(None),
            installations.c.suspended_at.is_(None),
            installations.c.recording.is_(None),
        )
        .order_by(repositories.c.id)
    )
    return [RepositoryRef(**row) for row in rows.mappings()]


def is_private(tx: Tx, repository_id: int) -> bool:
    """Whether not everybody may know of a repository."""
    row = select(repositories.c.private).where(repositories.c.id == repository_id)
    return bool(tx.execute(row).scalar_one_or_none() is not False)


def reporting(tx: Tx) -> list[Standing]:
    """Repositories that are to get a weekly report, and may be written to."""
    issue = repositories.c.policy["report"]["issue"].as_integer()
    rows = (
        select(repositories.c.id)
        .join(installations, installations.c.id == repositories.c.installation_id)
        .where(
            issue.is_not(None),
            repositories.c.removed_at.is_(None),
            installations.c.deleted_at.is_(None),
            installations.c.suspended_at.is_(None),
            installations.c.recording.is_(None),
        )
        .order_by(repositories.c.id)
    )
    found = (standing(tx, id_) for id_ in tx.execute(rows).scalars())
    return [one for one in found if one is not None]


def not_yet_reconciled(tx: Tx, installation_id: int) -> list[RepositoryRef]:
    """The repositories that the run under way has not come to; all where none is under way."""
    last = (
        select(func.coalesce(installations.c.reconciled_at, installations.c.installed_at))
        .where(installations.c.id == installation_id)
        .scalar_subquery()
    )
    done = select(repositories.c.id).where(
        repositories.c.installation_id == installation_id, repositories.c.reconciled_at > last
    )
    behind = set(tx.execute(done).scalars())
    return [r for r in repositories_of(tx, installation_id) if r.id not in behind]


def repository_reconciled(tx: Tx, repository_id: int, now: datetime) -> None:
    """Its open pull requests were compared with ours."""
    tx.execute(
        update(repositories).where(repositories.c.id == repository_id).values(reconciled_at=now)
    )


def reconcile_due(tx: Tx, before: datetime, limit: int = 50) -> list[int]:
    """Installations that were last reconciled before a time, the longest ago first.

    Suspended ones too: that they act again may be what we were never told.
    """
    rows = (
        select(installations.c.id)
        .where(
            installations.c.deleted_at.is_(None),
            installations.c.recording.is_(None),
            func.coalesce(installations.c.reconciled_at, installations.c.installed_at) < before,
        )
        .order_by(installations.c.reconciled_at.nulls_first())
        .limit(limit)
    )
    return list(tx.execute(rows).scalars())


def reconciled(tx: Tx, installation_id: int, now: datetime) -> None:
    """Its open pull requests were compared with ours."""
    tx.execute(
        update(installations).where(installations.c.id == installation_id).values(reconciled_at=now)
    )


def installed_at(tx: Tx, installation_id: int) -> datetime | None:
    """Since when the App is installed there."""
    row = select(installations.c.installed_at).where(installations.c.id == installation_id)
    return tx.execute(row).scalar_one_or_none()


def known_at_all(tx: Tx, installation_id: int) -> bool:
    """Whether there is a row of it, be it deleted or not."""
    return installed_at(tx, installation_id) is not None
