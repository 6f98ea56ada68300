"""The maintainers' queue: open pull requests, whom to look at first on top."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import ValidationError
from starlette.responses import Response

from app.core.queueing import Tier
from app.db import queue_report
from app.db.queue_report import Queued, QueueKey
from app.db.reports import Wanted
from app.web.dashboard import Filters, Row, row
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.sight import Sight, place, sight
from app.web.viewer import AnyViewer

_ROWS = 50
_PARTS = {
    Tier.PROVEN: "Somebody is there: proven, vouched for, or of the team",
    Tier.UNKNOWN: "Unknown",
    Tier.SUSPECTED: "A rule applies, or probably nobody answers",
}

router = APIRouter()


@dataclass(frozen=True)
class Part:
    """One part of the queue."""

    name: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class QueuePage(Page):
    """`queue.html`."""

    repository: str
    one_repository: bool
    list_href: str
    parts: tuple[Part, ...]
    first: str
    further: str


@router.get("/queue")
def queue(
    request: Request,
    parts: Parts,
    viewer: AnyViewer,
    repository: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[str, Query(max_length=80)] = "",
) -> Response:
    """The page."""
    name = repository.strip()
    if name:
        owner, _, rest = name.partition("/")
        seen = Sight(places=(place(parts, viewer, owner, rest),))
    else:
        seen = sight(parts, viewer)
    with parts.base.database.begin() as tx:
        found = queue_report.queue(tx, Wanted(seen.places), _key(after), limit=_ROWS + 1)
    shown = found[:_ROWS]
    filters = Filters(repository=name)
    return render(
        request,
        "queue.html",
        QueuePage(
            title="Queue",
            repository=name,
            one_repository=len(seen.places) == 1,
            list_href=filters.href(),
            parts=_parts(shown, filters),
            first=_href(name) if after else "",
            further=_href(name, shown[-1].key) if len(found) > _ROWS else "",
        ),
    )


def _parts(shown: list[Queued], filters: Filters) -> tuple[Part, ...]:
    of = {tier: tuple(row(q.line, filters) for q in shown if q.key.tier is tier) for tier in Tier}
    return tuple(Part(_PARTS[tier], rows) for tier, rows in of.items() if rows)


def _key(after: str) -> QueueKey | None:
    if not after:
        return None
    try:
        tier, order, case_id = after.split("~")
        return QueueKey(tier=Tier(int(tier)), order=float(order), case_id=int(case_id))
    except (ValueError, ValidationError):
        raise HTTPException(400, "This address is not one that this server gives out") from None


def _href(repository: str, key: QueueKey | None = None) -> str:
    after = f"{int(key.tier)}~{key.order!r}~{key.case_id}" if key else ""
    query = {k: v for k, v in {"repository": repository, "after": after}.items() if v}
    return f"/queue?{urlencode(query)}" if query else "/queue"
