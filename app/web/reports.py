"""The report of one repository on a page, and the texts that fit what it configured."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.responses import Response

from app.core.documents import contributing, privacy, why
from app.core.policy import Policy
from app.core.report import MINUTES_EACH, Report
from app.db import installations, reports
from app.flows.reporting import report_on
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.sight import place
from app.web.viewer import AnyViewer

router = APIRouter()


@dataclass(frozen=True)
class ReportPage(Page):
    """`report.html`."""

    repository: str
    href: str
    list_href: str
    report: Report
    days: int
    minutes_each: int


@router.get("/reports/{owner}/{repo}")
def report(  # noqa: PLR0913 - the address
    request: Request,
    parts: Parts,
    viewer: AnyViewer,
    owner: str,
    repo: str,
    days: Annotated[int, Query(ge=1, le=3650)] = 28,
) -> Response:
    """What each rule did or would have done, and what became of it."""
    where = place(parts, viewer, owner, repo)
    now = parts.clock()
    with parts.base.database.begin() as tx:
        standing = installations.standing(tx, where.id)
        policy = standing.policy if standing else Policy()
        newest = reports.newest(tx, where.id) if where.recorded else None
        # A recording ends when it ends, however long ago that is.
        until = newest + timedelta(seconds=1) if newest else now
        found = report_on(tx, where, policy.mode, until - timedelta(days=days), until)
    shown = ReportPage(
        title=f"Report on {where.full_name}",
        repository=where.full_name,
        href=f"/reports/{where.full_name}",
        list_href=f"/?repository={where.full_name}",
        report=found,
        days=days,
        minutes_each=MINUTES_EACH,
    )
    return render(request, "report.html", shown)


@dataclass(frozen=True)
class TextsPage(Page):
    """`texts.html`."""

    repository: str
    list_href: str
    why_href: str
    contributing: str
    privacy: str


@router.get("/texts/{owner}/{repo}")
def texts(request: Request, parts: Parts, viewer: AnyViewer, owner: str, repo: str) -> Response:
    """Texts for the project's own files."""
    where = place(parts, viewer, owner, repo)
    with parts.base.database.begin() as tx:
        standing = installations.standing(tx, where.id)
    policy = standing.policy if standing else Policy()
    site = parts.settings.public_url.rstrip("/")
    shown = TextsPage(
        title=f"Texts for {where.full_name}",
        repository=where.full_name,
        list_href=f"/?repository={where.full_name}",
        why_href=f"/why/{where.full_name}",
        contributing=contributing(policy, f"{site}/why/{where.full_name}"),
        privacy=privacy(policy, site),
    )
    return render(request, "texts.html", shown)


@dataclass(frozen=True)
class WhyPage(Page):
    """`why.html`: for contributors, without signing in."""

    repository: str
    parts: tuple[tuple[str, tuple[str, ...], str], ...]


@router.get("/why/{owner}/{repo}")
def why_page(request: Request, parts: Parts, viewer: AnyViewer, owner: str, repo: str) -> Response:
    """What is asked of contributors: for everybody, where the repository is public."""
    hidden = HTTPException(404, "There is no such page")
    if "\0" in owner + repo:
        raise hidden
    with parts.base.database.begin() as tx:
        where = reports.place_named(tx, owner, repo, live_first=True)
        standing = installations.standing(tx, where.id) if where else None
        private = where is None or installations.is_private(tx, where.id)
    if where is None or standing is None or standing.gone:
        raise hidden
    if private or where.recorded:
        place(parts, viewer, owner, repo)
    found = [(head, *_lists(body)) for head, body in why(standing.policy)]
    shown = WhyPage(title="Why was I asked?", repository=where.full_name, parts=tuple(found))
    return render(request, "why.html", shown)


def _lists(body: str) -> tuple[tuple[str, ...], str]:
    """A part's list, or its sentence."""
    lines = body.split("\n")
    if all(line.startswith("- ") for line in lines):
        return tuple(line[2:] for line in lines), ""
    return (), body
