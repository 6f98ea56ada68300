"""One account in one repository, for moderators: words on it, private notes, what became of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Path, Request
from starlette.responses import RedirectResponse, Response

from app.adapters.models import latency_bands
from app.core.facts import History, Trust
from app.core.github import Account
from app.core.proofs.latency import Pace, pace
from app.core.text import clean
from app.db import account_notes, cases, challenges, personal, proofs, reports, trust
from app.db.account_notes import Note
from app.db.proofs import Kept
from app.flows import trusting
from app.web.acting import acting, carry_out
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.sight import place
from app.web.viewer import AnyViewer

router = APIRouter()

Id = Annotated[int, Path(ge=1, lt=2**63)]


@dataclass(frozen=True)
class PersonPage(Page):
    """`person.html`. `word` is what holds now."""

    repository: str
    href: str
    list_href: str
    recorded: bool
    account_id: int
    login: str
    history: History
    pace: Pace
    # Of so many answers to questions of the gate about a change, so many touch it.
    touching: int
    questions: int
    proofs: tuple[Kept, ...]
    word: Trust | None
    words: tuple[Trust, ...]
    notes: tuple[Note, ...]
    statement: str
    now: datetime


@router.get("/people/{owner}/{repo}/{account_id}")
def person(  # noqa: PLR0913 - the address
    request: Request, parts: Parts, viewer: AnyViewer, owner: str, repo: str, account_id: Id
) -> Response:
    """The page."""
    where = place(parts, viewer, owner, repo)
    now = parts.clock()
    with parts.base.database.begin() as tx:
        login = reports.login_of(tx, where.id, account_id)
        if login is None:
            raise HTTPException(404, "Nobody with this id opened a pull request there")
        answers = challenges.of_author(tx, where.id, account_id)
        shown = PersonPage(
            title=f"{login} in {where.full_name}",
            repository=where.full_name,
            href=f"/people/{where.full_name}/{account_id}",
            list_href=f"/?repository={where.full_name}&author={account_id}",
            recorded=where.recorded,
            account_id=account_id,
            login=login,
            history=cases.history(tx, where.id, account_id, 0),
            pace=pace(challenges.latencies(answers), latency_bands()),
            touching=sum(a.touches == "touches" for a in answers),
            questions=sum(a.touches is not None for a in answers),
            proofs=proofs.of_account(tx, account_id, where.installation_id, where.id, now),
            word=trust.current(tx, where.id, account_id, now),
            words=trust.of_account(tx, where.id, account_id),
            notes=account_notes.of_account(tx, where.id, account_id),
            statement=personal.statement(tx, account_id),
            now=now,
        )
    return render(request, "person.html", shown)


@router.post("/people/{owner}/{repo}/{account_id}/notes")
def note(  # noqa: PLR0913 - the address and the form
    parts: Parts,
    viewer: AnyViewer,
    owner: str,
    repo: str,
    account_id: Id,
    words: Annotated[str, Form(min_length=1, max_length=2000)],
) -> Response:
    """Keeps a private note."""
    who = acting(parts, viewer, owner, repo)
    text = clean(words, 2000).strip()
    if text:
        with parts.base.database.begin() as tx:
            account_notes.add(tx, who.where.id, account_id, text, who.by, parts.clock())
    return RedirectResponse(f"/people/{who.where.full_name}/{account_id}", 303)


@router.post("/people/{owner}/{repo}/{account_id}/notes/{note_id}/remove")
def remove_note(  # noqa: PLR0913 - the address
    parts: Parts, viewer: AnyViewer, owner: str, repo: str, account_id: Id, note_id: Id
) -> Response:
    """Deletes one."""
    who = acting(parts, viewer, owner, repo)
    with parts.base.database.begin() as tx:
        account_notes.remove(tx, who.where.id, note_id)
    return RedirectResponse(f"/people/{who.where.full_name}/{account_id}", 303)


@router.post("/people/{owner}/{repo}/{account_id}/end")
def end(parts: Parts, viewer: AnyViewer, owner: str, repo: str, account_id: Id) -> Response:
    """Takes back what was said of the account; its pull requests are decided anew."""
    who = acting(parts, viewer, owner, repo)
    now = parts.clock()
    with parts.base.database.begin() as tx:
        login = reports.login_of(tx, who.where.id, account_id) or "?"
    of = Account(id=account_id, login=login)
    carry_out(parts, who.where, lambda tx, s: trusting.end(tx, s, of, who.by, now))
    return RedirectResponse(f"/people/{who.where.full_name}/{account_id}", 303)
