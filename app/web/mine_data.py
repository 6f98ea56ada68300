"""What is kept of whoever is signed in: seen, put right, taken along, erased."""

import json
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from app.core.privacy import CLASSES, DataClass, span
from app.core.text import clean
from app.db import personal
from app.web.errors import problem
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.viewer import SignedIn

router = APIRouter()

MOST_WORDS = 1000
FORMAT = 1


@dataclass(frozen=True)
class Kept:
    """One class of data on the page. `count`: rows, None where they are not shown."""

    kind: DataClass
    span: str
    count: int | None


@dataclass(frozen=True)
class DataPage(Page):
    """`mine_data.html`."""

    login: str
    account_id: int
    kept: tuple[Kept, ...]
    statement: str


@router.get("/mine/data")
def page(request: Request, parts: Parts, session: SignedIn) -> Response:
    """By class of data: how much there is, how long it is kept, what an erasure does to it."""
    with parts.base.database.begin() as tx:
        counts = personal.counts(tx, session.account_id)
        statement = personal.statement(tx, session.account_id)
    kept = tuple(Kept(one, span(one), counts.get(one.name)) for one in CLASSES.values())
    shown = DataPage(
        title="What is kept of you",
        login=session.login,
        account_id=session.account_id,
        kept=kept,
        statement=statement,
    )
    return render(request, "mine_data.html", shown)


@router.get("/mine/data.json")
def export(parts: Parts, session: SignedIn) -> Response:
    """All of it, for programs. `format` changes when its shape does."""
    with parts.base.database.begin() as tx:
        found = personal.export(tx, session.account_id)
    told = {
        "format": FORMAT,
        "at": parts.clock().isoformat(),
        "account": {"id": session.account_id, "login": session.login},
        "most_rows_of_a_table": personal.MOST,
        "data": {
            name: {"about": CLASSES[name].about, "kept": span(CLASSES[name]), "tables": rows}
            for name, rows in found.items()
        },
        "not_here": {one.name: one.about for one in CLASSES.values() if not one.shown},
    }
    return Response(
        json.dumps(told, ensure_ascii=False, indent=1, default=str),
        media_type="application/json",
        headers={
            "content-disposition": 'attachment; filename="pulsegate-my-data.json"',
            "cache-control": "no-store",
        },
    )


@router.post("/mine/data/statement")
def state(
    parts: Parts, session: SignedIn, words: Annotated[str, Form(max_length=4 * MOST_WORDS)] = ""
) -> Response:
    """One's own words, which maintainers read beside what is kept."""
    said = clean(words, MOST_WORDS).strip()
    with parts.base.database.begin() as tx:
        personal.state(tx, session.account_id, said, parts.clock())
    return RedirectResponse("/mine/data", 303)


@router.post("/mine/data/erase")
def erase(
    request: Request, parts: Parts, session: SignedIn, sure: Annotated[str, Form()] = ""
) -> Response:
    """Erases what can be, and signs out."""
    if sure != "yes":
        return problem(request, 422, "Nothing was erased", "Tick the box to say that you are sure.")
    with parts.base.database.begin() as tx:
        personal.erase(tx, session.account_id, parts.clock())
    return RedirectResponse("/", 303)
