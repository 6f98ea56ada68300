"""Which repositories a viewer may see: recorded ones at this machine, others by live permission."""

from dataclasses import dataclass

from fastapi import HTTPException

from app.core.facts import Role
from app.db import people, reports
from app.db.reports import Place
from app.web.viewer import Viewer
from app.wiring.web import WebParts

# Decisions are for those who may act on them.
LEAST = Role.TRIAGE
# One page asks GitHub about at most so many repositories.
MOST_ASKED = 50


@dataclass(frozen=True)
class Sight:
    """`places` may be shown. Of the others, GitHub did not answer for some; some were not asked."""

    places: tuple[Place, ...]
    unanswered: int = 0
    more: int = 0


def sight(parts: WebParts, viewer: Viewer) -> Sight:
    """All repositories that the viewer may see, as far as one page may ask."""
    with parts.base.database.begin() as tx:
        shown = tuple(reports.places(tx, recorded=True)) if viewer.demo else ()
        if viewer.account is None:
            return Sight(places=shown)
        real = reports.places(tx, recorded=False)
        ids = [p.id for p in real]
        denied = {
            where
            for where, role in people.roles(tx, viewer.account.id, ids, parts.clock()).items()
            if role < LEAST
        }
    wanted = [p for p in real if p.id not in denied]
    roles = parts.access.roles(viewer.account, wanted[:MOST_ASKED])
    seen = roles.seen_by(LEAST)
    return Sight(
        places=(*(p for p in wanted if p.id in seen), *shown),
        unanswered=len(roles.unknown),
        more=len(wanted[MOST_ASKED:]),
    )


def place(parts: WebParts, viewer: Viewer, owner: str, name: str) -> Place:
    """One repository by its name. 404 alike where there is none and where it is not for them."""
    hidden = HTTPException(404, "There is no such page")
    if "\0" in owner + name:  # PostgreSQL takes it for no text at all
        raise hidden
    with parts.base.database.begin() as tx:
        found = reports.place_named(tx, owner, name, live_first=viewer.account is not None)
    if found is None:
        raise hidden
    if found.recorded:
        if viewer.demo:
            return found
        raise hidden
    if viewer.account is None:
        raise hidden
    roles = parts.access.roles(viewer.account, [found])
    if roles.unknown:
        what = "GitHub did not answer whether you may see this, so it is not shown"
        raise HTTPException(503, what, {"Retry-After": "10"})
    if found.id not in roles.seen_by(LEAST):
        raise hidden
    return found
