"""One repository's due process: brakes, appeals, campaigns, undo, what people did by hand."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Form, HTTPException, Path, Request
from starlette.responses import RedirectResponse, Response

from app.core.brakes import brake_reason
from app.core.effects import Control, SetControl
from app.core.facts import HandAct, Role
from app.core.rules import RULES
from app.db import appeals, brakes, campaigns, hands, installations, outbox, undos
from app.db.appeals import AppealRow
from app.db.brakes import Released
from app.db.campaigns import Summary
from app.db.engine import Tx
from app.db.hands import ByHand
from app.db.installations import Standing
from app.db.undos import Scope, Taken, Undo
from app.flows import fairness, undo
from app.flows.limit import PERMISSION
from app.web import words
from app.web.acting import acting, carry_out
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.sight import place
from app.web.viewer import AnyViewer

router = APIRouter()

_CONTROLS: dict[Control, tuple[str, str]] = {
    "interaction_limit": (
        "Interaction limit for 24 hours",
        "Accounts younger than a day or so can open nothing and write nothing.",
    ),
    "collaborators_only": (
        "Pull requests by collaborators only",
        "Nobody else can open one until it is taken off.",
    ),
    "pull_cap": ("Cap on open pull requests", "At most three open ones for each user."),
}


@dataclass(frozen=True)
class BrakeRow:
    """A brake that is on."""

    id: int
    rule: str
    why: str
    at: datetime


@dataclass(frozen=True)
class FairnessPage(Page):
    """`fairness.html`. `may_set`: GitHub's own controls can be set from here."""

    repository: str
    href: str
    list_href: str
    recorded: bool
    brakes: tuple[BrakeRow, ...]
    released: tuple[Released, ...]
    appeals: tuple[AppealRow, ...]
    campaigns: tuple[Summary, ...]
    undos: tuple[Undo, ...]
    hands: tuple[ByHand, ...]
    hand_words: dict[HandAct, str]
    rules: tuple[str, ...]
    may_set: bool
    controls: tuple[tuple[Control, str, str], ...]
    now: datetime


@router.get("/fairness/{owner}/{repo}")
def page(request: Request, parts: Parts, viewer: AnyViewer, owner: str, repo: str) -> Response:
    """The page."""
    where = place(parts, viewer, owner, repo)
    with parts.base.database.begin() as tx:
        standing = installations.standing(tx, where.id)
        permissions = standing.permissions if standing else {}
        shown = FairnessPage(
            title=f"Due process of {where.full_name}",
            repository=where.full_name,
            href=f"/fairness/{where.full_name}",
            list_href=f"/?repository={where.full_name}",
            recorded=where.recorded,
            brakes=tuple(
                BrakeRow(b.id, b.rule or "", str(brake_reason(b)), b.at)
                for b in brakes.on(tx, where.id)
            ),
            released=brakes.past(tx, where.id),
            appeals=appeals.of_repository(tx, where.id),
            campaigns=campaigns.latest(tx, where.id),
            undos=tuple(undos.of_repository(tx, where.id)),
            hands=hands.of_repository(tx, where.id),
            hand_words=words.HANDS,
            rules=tuple(rule.name for rule in RULES),
            may_set=permissions.get(PERMISSION) == "write",
            controls=tuple((c, *said) for c, said in _CONTROLS.items()),
            now=parts.clock(),
        )
    return render(request, "fairness.html", shown)


@router.post("/fairness/{owner}/{repo}/go-on")
def go_on(
    parts: Parts,
    viewer: AnyViewer,
    owner: str,
    repo: str,
    brake: Annotated[int, Form(ge=1, lt=2**63)],
) -> Response:
    """Lets the gate, or a rule, act again."""
    who = acting(parts, viewer, owner, repo, Role.WRITE)
    now = parts.clock()
    carry_out(parts, who.where, lambda tx, s: fairness.go_on(tx, s, brake, who.by, now))
    return RedirectResponse(f"/fairness/{who.where.full_name}", 303)


@router.post("/fairness/{owner}/{repo}/control")
def control(  # noqa: PLR0913 - the address and the form
    parts: Parts,
    viewer: AnyViewer,
    owner: str,
    repo: str,
    control: Annotated[Control, Form()],
    on: Annotated[Literal["on", "off"], Form()],
) -> Response:
    """Puts one of GitHub's own controls on or off."""
    who = acting(parts, viewer, owner, repo, Role.MAINTAIN)
    now = parts.clock()

    def flow(tx: Tx, standing: Standing) -> list[tuple[Literal["perform"], int]]:
        if standing.permissions.get(PERMISSION) != "write":
            raise HTTPException(409, "The App lacks the grant “administration: write” there")
        made = outbox.add_loose(
            tx,
            key=f"control:{who.where.id}:{control}:{now.isoformat()}",
            repository=standing.repository,
            effect=SetControl(control=control, on=on == "on"),
            sha="",
            now=now,
        )
        return [("perform", made)] if made is not None else []

    carry_out(parts, who.where, lambda tx, s: [*flow(tx, s)])
    return RedirectResponse(f"/fairness/{who.where.full_name}", 303)


@dataclass(frozen=True)
class UndoPreview(Page):
    """`undo_preview.html`."""

    repository: str
    href: str
    rule: str
    hours: int
    until: str
    numbers: tuple[int, ...]
    what: str


Rule = Annotated[str, Form(max_length=40)]
Hours = Annotated[int, Form(ge=1, le=24 * 90)]
Until = Annotated[datetime | None, Form()]


@router.post("/fairness/{owner}/{repo}/undo/preview")
def undo_preview(  # noqa: PLR0913 - the address and the form
    request: Request,
    parts: Parts,
    viewer: AnyViewer,
    owner: str,
    repo: str,
    rule: Rule = "",
    hours: Hours = 24,
) -> Response:
    """What would be put back."""
    who = acting(parts, viewer, owner, repo)
    scope = _scope(rule, hours, parts.clock())
    with parts.base.database.begin() as tx:
        found = undos.within(tx, who.where.id, scope)
    shown = UndoPreview(
        title="Undo",
        repository=who.where.full_name,
        href=f"/fairness/{who.where.full_name}",
        rule=scope.rule or "",
        hours=hours,
        until=scope.until.isoformat(),
        numbers=tuple(number for _, number in found),
        what=_what(scope, hours),
    )
    return render(request, "undo_preview.html", shown)


@router.post("/fairness/{owner}/{repo}/undo")
def undo_all(  # noqa: PLR0913 - the address and the form
    parts: Parts,
    viewer: AnyViewer,
    owner: str,
    repo: str,
    until: Annotated[datetime, Form()],
    rule: Rule = "",
    hours: Hours = 24,
) -> Response:
    """Puts it back: what the preview listed, and nothing that came later."""
    who = acting(parts, viewer, owner, repo)
    now = parts.clock()
    if until.tzinfo is None or not now - timedelta(hours=1) <= until <= now:
        raise HTTPException(409, "The preview is an hour old or more; look at it again")
    scope = _scope(rule, hours, until)
    made: list[int] = []

    def flow(tx: Tx, standing: Standing) -> fairness.Rings:
        found = undos.within(tx, who.where.id, scope)
        what = _what(scope, hours)
        id_, rings = undo.undo(tx, standing, found, what, who.by, parts.catalogues, now)
        made.append(id_)
        return rings

    carry_out(parts, who.where, flow)
    return RedirectResponse(f"/fairness/{who.where.full_name}/undos/{made[0]}", 303)


def _scope(rule: str, hours: int, until: datetime) -> Scope:
    known = rule if rule in {r.name for r in RULES} else None
    if rule and known is None:
        raise HTTPException(422, "There is no such rule")
    return Scope(rule=known, since=until - timedelta(hours=hours), until=until)


def _what(scope: Scope, hours: int) -> str:
    rule = f"the rule {scope.rule}" if scope.rule else "all rules"
    return f"{rule}, {hours} hours up to {scope.until:%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True)
class UndoPage(Page):
    """`undo.html`."""

    repository: str
    href: str
    undo: Undo
    taken: tuple[Taken, ...]
    waits: int


@router.get("/fairness/{owner}/{repo}/undos/{undo_id}")
def undo_page(  # noqa: PLR0913 - the address
    request: Request,
    parts: Parts,
    viewer: AnyViewer,
    owner: str,
    repo: str,
    undo_id: Annotated[int, Path(ge=1, lt=2**63)],
) -> Response:
    """How far an undo came, and what could not be put back."""
    where = place(parts, viewer, owner, repo)
    with parts.base.database.begin() as tx:
        found = undos.get(tx, undo_id)
        taken = undos.result(tx, undo_id) if found else []
    if found is None or found.repository_id != where.id:
        raise HTTPException(404, "There is no such page")
    shown = UndoPage(
        title=f"Undo {undo_id}",
        repository=where.full_name,
        href=f"/fairness/{where.full_name}",
        undo=found,
        taken=tuple(taken),
        waits=sum(1 for t in taken if t.waits),
    )
    # No script: the browser asks again until all is done.
    headers = {"Refresh": "5"} if shown.waits else None
    return render(request, "undo.html", shown, headers=headers)


@router.post("/fairness/{owner}/{repo}/undos/{undo_id}/take-back")
def redo(
    parts: Parts,
    viewer: AnyViewer,
    owner: str,
    repo: str,
    undo_id: Annotated[int, Path(ge=1, lt=2**63)],
) -> Response:
    """Takes an undo back: the rules apply again."""
    who = acting(parts, viewer, owner, repo)
    now = parts.clock()

    def flow(tx: Tx, standing: Standing) -> fairness.Rings:
        found = undos.get(tx, undo_id)
        if found is None or found.repository_id != who.where.id:
            raise HTTPException(404, "There is no such page")
        return undo.take_back(tx, standing, undo_id, who.by, now)

    carry_out(parts, who.where, flow)
    return RedirectResponse(f"/fairness/{who.where.full_name}/undos/{undo_id}", 303)
