"""What a contributor who is signed in can see and do: their own pull requests, and words on them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from app.core.github import Account
from app.core.text import one_line
from app.db import cases, installations, mine, proof_domains, proofs, trust
from app.db.mine import Held
from app.db.proof_domains import Domain
from app.db.proofs import Kept
from app.db.trust import OnMe
from app.flows import fairness
from app.web.acting import Rings
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.viewer import SignedIn

router = APIRouter()


@dataclass(frozen=True)
class MinePage(Page):
    """`mine.html`."""

    login: str
    held: tuple[Held, ...]
    words: tuple[OnMe, ...]
    proofs: tuple[Kept, ...]
    domains: tuple[Domain, ...]
    now: datetime


@router.get("/mine")
def page(request: Request, parts: Parts, session: SignedIn) -> Response:
    """The page. Only by the numeric id that GitHub signed in."""
    now = parts.clock()
    with parts.base.database.begin() as tx:
        shown = MinePage(
            title="Yours",
            login=session.login,
            held=mine.held(tx, session.account_id),
            words=trust.on_account(tx, session.account_id, now),
            proofs=proofs.all_of(tx, session.account_id, now),
            domains=proof_domains.of_account(tx, session.account_id),
            now=now,
        )
    return render(request, "mine.html", shown)


@router.post("/mine/proofs/erase")
def erase_proofs(parts: Parts, session: SignedIn) -> Response:
    """Deletes every proof and token of the account, at its owner's word."""
    with parts.base.database.begin() as tx:
        proofs.erase(tx, session.account_id)
    return RedirectResponse("/mine", 303)


@router.post("/mine/appeal")
def appeal(
    parts: Parts,
    session: SignedIn,
    repository: Annotated[int, Form(ge=1, lt=2**63)],
    number: Annotated[int, Form(ge=1, lt=2**63)],
    words: Annotated[str, Form(max_length=1000)] = "",
) -> Response:
    """Appeals from here: for who cannot write on GitHub, since the conversation is locked."""
    now, by = parts.clock(), Account(id=session.account_id, login=session.login)
    rings: Rings = []
    with parts.base.database.begin() as tx:
        standing = installations.standing(tx, repository)
    # Reads of GitHub never within a transaction.
    named = parts.access.who_answers(standing, by.login) if standing else None
    with parts.base.database.begin() as tx:
        row = cases.get(tx, repository, number)
        own = row is not None and row.pull.user is not None and row.pull.user.id == by.id
        if standing is None or row is None or not own or standing.gone or standing.recorded:
            raise HTTPException(404, "There is no such pull request of yours")
        why_not = fairness.why_no_appeal(tx, row)
        if why_not:
            raise HTTPException(409, why_not)
        said = one_line(words, 200)
        rings = fairness.appeal_by(tx, standing, row, by, named, said, parts.catalogues, now)
    for task, id_ in rings:
        parts.doorbell.ring(task, id_)
    return RedirectResponse("/mine", 303)
