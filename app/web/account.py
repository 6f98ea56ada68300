"""The sessions of whoever is signed in, each of which can be ended."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from app.core.audit import Entry, Place
from app.core.github import Account
from app.db import audit, sessions
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.viewer import SignedIn, drop_cookie

router = APIRouter()


@dataclass(frozen=True)
class OneSession:
    """One browser. `id` names it in the form that ends it; no cookie can be made from it."""

    id: str
    here: bool
    created_at: datetime
    seen_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class AccountPage(Page):
    """`account.html`."""

    login: str
    sessions: tuple[OneSession, ...]


@router.get("/account")
def account(request: Request, parts: Parts, session: SignedIn) -> Response:
    """The page."""
    with parts.base.database.begin() as tx:
        found = sessions.of_account(tx, session.account_id, parts.clock())
    shown = tuple(
        OneSession(
            id=s.id_hash,
            here=s.id_hash == session.id_hash,
            created_at=s.created_at,
            seen_at=s.seen_at,
            expires_at=s.expires_at,
        )
        for s in found
    )
    page = AccountPage(title="Account", login=session.login, sessions=shown)
    return render(request, "account.html", page)


@router.post("/account/end")
def end(
    request: Request, parts: Parts, session: SignedIn, id: Annotated[str, Form(max_length=64)]
) -> Response:
    """Ends one of one's own sessions, at once and everywhere."""
    with parts.base.database.begin() as tx:
        ended = sessions.end(tx, session.account_id, id, parts.clock())
        if ended:
            by = Account(id=session.account_id, login=session.login)
            audit.note(tx, Place(), Entry(at=parts.clock(), act="session.ended", by=by))
    if not ended:
        raise HTTPException(404, "This session is not yours, or has ended already")
    response = RedirectResponse("/account", 303)
    if id == session.id_hash:
        response = RedirectResponse("/", 303)
        drop_cookie(response, request.app.state.site, "session")
    return response
