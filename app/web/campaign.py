"""One campaign: its pull requests, what would follow from a decision, and the decision."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Path, Request
from starlette.responses import RedirectResponse, Response

from app.core.campaigns import ORDERS, CampaignOrder, left_out, spared
from app.core.facts import CampaignWord
from app.core.text import one_line
from app.db import campaigns, installations, reports
from app.db.campaigns import Campaign, Decided, Shown
from app.db.reports import Place
from app.flows import campaigns as flow
from app.web.acting import acting, carry_out
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.sight import place
from app.web.viewer import AnyViewer, Viewer
from app.wiring.web import WebParts

router = APIRouter()

Id = Annotated[int, Path(ge=1, lt=2**63)]
Named = Annotated[list[int], Form(max_length=campaigns.MOST)]
Order = Annotated[CampaignOrder, Form()]


@dataclass(frozen=True)
class MemberRow:
    """A pull request of it. `out`: why it stays out; `will`: what would happen, in a preview."""

    case_id: int
    number: int
    href: str
    title: str
    author: str
    state: str
    named: bool
    nameable: bool
    out: str
    will: str = ""


@dataclass(frozen=True)
class CampaignPage(Page):
    """`campaign.html`. `order` is what is previewed, if anything."""

    repository: str
    href: str
    own_href: str
    recorded: bool
    campaign: Campaign
    members: tuple[MemberRow, ...]
    accounts: int
    word: CampaignWord | None
    words: tuple[Decided, ...]
    orders: dict[CampaignOrder, str]
    order: CampaignOrder | None = None
    reason: str = ""
    meets: int = 0


@router.get("/campaigns/{campaign_id}")
def campaign(request: Request, parts: Parts, viewer: AnyViewer, campaign_id: Id) -> Response:
    """The page."""
    found, where = _found(parts, viewer, campaign_id)
    return render(request, "campaign.html", _page(parts, found, where))


@router.post("/campaigns/{campaign_id}/preview")
def preview(  # noqa: PLR0913 - the address and the form
    request: Request,
    parts: Parts,
    viewer: AnyViewer,
    campaign_id: Id,
    order: Order,
    named: Named = [],  # noqa: B006 - FastAPI's way
    reason: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """What would follow from a decision. Nothing is done yet."""
    found, where = _found(parts, viewer, campaign_id)
    acting(parts, viewer, where.owner, where.name)
    return render(
        request,
        "campaign.html",
        _page(parts, found, where, order, set(named), one_line(reason, 200)),
    )


@router.post("/campaigns/{campaign_id}/decide")
def decide(  # noqa: PLR0913 - the address and the form
    parts: Parts,
    viewer: AnyViewer,
    campaign_id: Id,
    order: Order,
    named: Named = [],  # noqa: B006
    reason: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Decides on the whole campaign."""
    _, where = _found(parts, viewer, campaign_id)
    who = acting(parts, viewer, where.owner, where.name)
    now, words = parts.clock(), one_line(reason, 200)
    carry_out(
        parts,
        where,
        lambda tx, s: flow.order(
            tx, s, campaign_id, order, named, words, who.by, parts.catalogues, now
        ),
    )
    return RedirectResponse(f"/campaigns/{campaign_id}", 303)


@router.post("/campaigns/{campaign_id}/take-back")
def take_back(parts: Parts, viewer: AnyViewer, campaign_id: Id) -> Response:
    """One undo for the whole."""
    _, where = _found(parts, viewer, campaign_id)
    who = acting(parts, viewer, where.owner, where.name)
    now = parts.clock()
    carry_out(parts, where, lambda tx, s: flow.take_back(tx, s, campaign_id, who.by, now))
    return RedirectResponse(f"/campaigns/{campaign_id}", 303)


def _found(parts: WebParts, viewer: Viewer, campaign_id: int) -> tuple[Campaign, Place]:
    with parts.base.database.begin() as tx:
        found = campaigns.get(tx, campaign_id)
        where = reports.place_by_id(tx, found.repository_id) if found else None
    if found is None or where is None:
        raise HTTPException(404, "There is no such page")
    place(parts, viewer, where.owner, where.name)
    return found, where


def _page(  # noqa: PLR0913
    parts: WebParts,
    found: Campaign,
    where: Place,
    order: CampaignOrder | None = None,
    named: set[int] | None = None,
    reason: str = "",
) -> CampaignPage:
    with parts.base.database.begin() as tx:
        members = campaigns.shown(tx, found.id)
        standing = installations.standing(tx, found.repository_id)
        if standing is not None:
            members = flow.with_proofs(tx, standing, members, parts.clock())
        word = campaigns.word_of(tx, found.id)
        words = campaigns.words(tx, found.id)
    if named is not None:
        members = [m.model_copy(update={"named": m.case_id in named}) for m in members]
    out = left_out(members, order) if order else spared(members)
    rows = tuple(_row(m, where, out.get(m.case_id, ""), order) for m in members)
    return CampaignPage(
        title=f"Campaign {found.id}",
        repository=where.full_name,
        href=f"/fairness/{where.full_name}",
        own_href=f"/campaigns/{found.id}",
        recorded=where.recorded,
        campaign=found,
        members=rows,
        accounts=len({m.author_id for m in members}),
        word=word,
        words=tuple(words),
        orders=ORDERS,
        order=order,
        reason=reason,
        meets=sum(1 for r in rows if r.will and not r.out),
    )


def _row(m: Shown, where: Place, out: str, order: CampaignOrder | None) -> MemberRow:
    return MemberRow(
        case_id=m.case_id,
        number=m.number,
        href=f"/pull/{where.full_name}/{m.number}",
        title=m.title,
        author=m.author or "deleted account",
        state=m.pull_state if m.state != "ended" else f"{m.pull_state}, ended",
        named=m.named,
        nameable=bool(out) and (m.vouched or not m.exempt),
        out=out,
        will=_will(m, out, order) if order else "",
    )


def _will(m: Shown, out: str, order: CampaignOrder) -> str:
    """What a decision would do to one pull request."""
    if out:
        return f"stays out: {out}"
    if m.state == "ended":
        return "nothing: it has ended"
    if order == "reopen":
        return "is opened again" if m.pull_state == "closed" else "is left alone from now on"
    if m.pull_state == "closed":
        return "nothing: it is closed already"
    return {"label": "gets the label", "ask": "is asked", "close": "is closed, with a comment"}[
        order
    ]
