"""The list of decisions, newest first, floods folded into one row each."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.responses import Response

from app.core.decision import CaseState
from app.db import flood_report, reports
from app.db.flood_report import Flood
from app.db.reports import Key, Line, Wanted
from app.web import words
from app.web.notes import Note, empty, notes
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.sight import Sight, place, sight
from app.web.viewer import AnyViewer, Viewer
from app.web.words import Badge
from app.wiring.web import WebParts

_ROWS = 50

router = APIRouter()


@dataclass(frozen=True)
class Row:
    """One pull request in the list."""

    href: str
    title: str
    repository: str
    number: int
    author: str
    author_href: str
    decided_at: datetime
    state: Badge
    mode: str
    why: str
    score: str
    acts: tuple[Badge, ...]


@dataclass(frozen=True)
class FloodRow:
    """Many pull requests as one row."""

    href: str
    count: int
    author: str
    repository: str
    span: str
    first_at: datetime
    last_at: datetime
    why: str
    mode: str
    acts: tuple[Badge, ...]


@dataclass(frozen=True)
class Choice:
    """A filter to follow; `count` is None where it is not counted."""

    text: str
    href: str
    chosen: bool
    count: int | None = None


@dataclass(frozen=True)
class DecisionsPage(Page):
    """`decisions.html`."""

    notes: tuple[Note, ...]
    recorded: bool
    states: tuple[Choice, ...]
    repositories: tuple[Choice, ...]
    narrowed: str
    floods: tuple[FloodRow, ...]
    rows: tuple[Row, ...]
    one_repository: bool
    goals_href: str
    fairness_href: str
    report_href: str
    queue_href: str
    older: str
    first: str
    empty: str
    empty_hint: str


@dataclass(frozen=True)
class Filters:
    """What the address asks for, as it came."""

    repository: str = ""
    state: CaseState | None = None
    author: int | None = None
    before: str = ""

    def href(self, **other: object) -> str:
        """The address of the list with some of the filters changed, from its first page."""
        values = {"repository": self.repository, "state": self.state, "author": self.author}
        query = {k: str(v) for k, v in {**values, **other}.items() if v}
        return f"/?{urlencode(query)}" if query else "/"

    @property
    def queue_href(self) -> str:
        """The queue of the same repository, or of all."""
        return (
            f"/queue?{urlencode({'repository': self.repository})}" if self.repository else "/queue"
        )


@router.get("/")
def decisions(  # noqa: PLR0913 - the filters
    request: Request,
    parts: Parts,
    viewer: AnyViewer,
    repository: Annotated[str, Query(max_length=200)] = "",
    state: CaseState | None = None,
    author: Annotated[int | None, Query(ge=1, lt=2**63)] = None,
    before: Annotated[str, Query(max_length=80)] = "",
) -> Response:
    """The page."""
    filters = Filters(repository.strip(), state, author, before)
    if filters.repository:
        owner, _, name = filters.repository.partition("/")
        seen = Sight(places=(place(parts, viewer, owner, name),))
    else:
        seen = sight(parts, viewer)
    page = _page(parts, viewer, seen, filters)
    return render(request, "decisions.html", page)


def _page(parts: WebParts, viewer: Viewer, seen: Sight, filters: Filters) -> DecisionsPage:
    wanted = Wanted(seen.places, filters.state, filters.author, _key(filters.before))
    folded = filters.state is None and filters.author is None
    with parts.base.database.begin() as tx:
        floods = flood_report.floods(tx, wanted) if folded else []
        lines = reports.decisions(tx, wanted, limit=_ROWS + 1, without=[f.stretch for f in floods])
        tally = reports.tally(tx, wanted) if wanted.places else {}
    more = len(lines) > _ROWS
    lines = lines[:_ROWS]
    nothing, hint = empty(parts, viewer, seen, filtered=filters != Filters())
    return DecisionsPage(
        title="Decisions",
        notes=notes(parts, viewer, seen),
        recorded=any(p.recorded for p in seen.places),
        states=_states(filters, tally),
        repositories=_repositories(filters, seen),
        narrowed=_narrowed(filters, lines),
        floods=() if filters.before else tuple(_flood(f, filters) for f in floods),
        rows=tuple(row(line, filters) for line in lines),
        one_repository=len(seen.places) == 1,
        goals_href=f"/goals/{seen.places[0].full_name}" if filters.repository else "",
        fairness_href=f"/fairness/{seen.places[0].full_name}" if filters.repository else "",
        report_href=f"/reports/{seen.places[0].full_name}" if filters.repository else "",
        queue_href=filters.queue_href,
        older=_older(filters, lines[-1].key) if more else "",
        first=filters.href() if filters.before else "",
        empty=nothing,
        empty_hint=hint,
    )


def _key(before: str) -> Key | None:
    if not before:
        return None
    at, _, case_id = before.rpartition("~")
    try:
        return Key(decided_at=datetime.fromisoformat(at), case_id=int(case_id))
    except ValueError:
        raise HTTPException(400, "This address is not one that this server gives out") from None


def _older(filters: Filters, key: Key) -> str:
    return filters.href(before=f"{key.decided_at.isoformat()}~{key.case_id}")


def row(line: Line, filters: Filters) -> Row:
    """One line of a list."""
    repository = line.place.full_name
    return Row(
        href=f"/pull/{repository}/{line.number}",
        title=line.title or "(no title)",
        repository=repository,
        number=line.number,
        author=line.author or "deleted account",
        author_href=filters.href(repository=repository, author=line.author_id, state=None)
        if line.author_id
        else "",
        decided_at=line.decided_at,
        state=Badge(*words.STATES[line.state]),
        mode=line.mode.word,
        why=line.summary,
        score=words.score(line.score),
        acts=words.acts(line.done, line.state),
    )


def _flood(flood: Flood, filters: Filters) -> FloodRow:
    line = flood.newest
    acts = words.acts(line.done, line.state)
    if flood.closed:
        closed = Badge(f"closed {flood.closed} of {flood.total}", "acted")
        acts = (closed, *(a for a in acts if a.text != "closed"))
    elif flood.count < flood.total:
        acts = tuple(replace(a, text=f"{a.text} {flood.count}") for a in acts)
    return FloodRow(
        href=filters.href(repository=line.place.full_name, author=line.author_id),
        count=flood.total,
        author=line.author or "a deleted account",
        repository=line.place.full_name,
        span=words.span(flood.first_at, flood.last_at),
        first_at=flood.first_at,
        last_at=flood.last_at,
        # Not the state of the newest, but what makes it a flood.
        why=str(line.findings[0].sentence) if line.findings else line.summary,
        mode=line.mode.word,
        acts=acts,
    )


def _states(filters: Filters, tally: dict[CaseState, int]) -> tuple[Choice, ...]:
    every = Choice("all", filters.href(state=None), filters.state is None)
    shown = [s for s in words.STATES if s in tally or s is filters.state]
    return (
        every,
        *(
            Choice(words.STATES[s][0], filters.href(state=s), filters.state is s, tally.get(s, 0))
            for s in shown
        ),
    )


def _repositories(filters: Filters, seen: Sight) -> tuple[Choice, ...]:
    if filters.repository:
        name = seen.places[0].full_name
        return (
            Choice("all repositories", filters.href(repository="", author=None), chosen=False),
            Choice(name, filters.href(), chosen=True),
        )
    if len(seen.places) < 2:
        return ()
    return tuple(
        Choice(p.full_name, filters.href(repository=p.full_name), chosen=False)
        for p in seen.places[:12]
    )


def _narrowed(filters: Filters, lines: list[Line]) -> str:
    """Whom the list is about, where it is about one account."""
    if filters.author is None:
        return ""
    named = next((line.author for line in lines if line.author), None)
    return named or f"account {filters.author}"
