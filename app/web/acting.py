"""Whoever acts on a repository from a page: signed in, with the right to, on a real one."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import HTTPException

from app.core.facts import Role
from app.core.github import Account
from app.core.ports import Task
from app.db import installations
from app.db.engine import Tx
from app.db.installations import Standing
from app.db.reports import Place
from app.web.sight import place
from app.web.viewer import Viewer
from app.wiring.web import WebParts

Rings = list[tuple[Task, int]]


@dataclass(frozen=True)
class Acting:
    """Who acts, and where."""

    by: Account
    where: Place


def acting(
    parts: WebParts, viewer: Viewer, owner: str, repo: str, least: Role = Role.TRIAGE
) -> Acting:
    """Somebody who may act; 403 for who may only look, 404 for who may not even do that."""
    where = place(parts, viewer, owner, repo)
    if where.recorded or viewer.account is None:
        raise HTTPException(403, "This is a recording. Nothing can be done in it")
    roles = parts.access.roles(viewer.account, [where])
    if where.id not in roles.seen_by(least):
        raise HTTPException(403, f"This needs {least.word} permission on {where.full_name}")
    return Acting(by=viewer.account, where=where)


def carry_out(parts: WebParts, where: Place, flow: Callable[[Tx, Standing], Rings]) -> None:
    """Runs a flow in one transaction, then wakes up whom it names."""
    with parts.base.database.begin() as tx:
        standing = installations.standing(tx, where.id)
        if standing is None or standing.gone:
            raise HTTPException(409, "The App is not installed on this repository any more")
        rings = flow(tx, standing)
    for task, id_ in rings:
        parts.doorbell.ring(task, id_)
