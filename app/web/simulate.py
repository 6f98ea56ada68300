"""The page of `/api/simulate`: a configuration tried on one pull request."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Path, Request
from starlette.responses import RedirectResponse, Response

from app.core.decision import CaseState, Decision
from app.db.simulations import Simulation
from app.web import words
from app.web.api import ask, read_over_default, simulation_for
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.sight import place
from app.web.viewer import AnyViewer
from app.web.words import Badge

router = APIRouter()

Number = Annotated[int, Path(ge=1, lt=2**63)]


@dataclass(frozen=True)
class RuleRow:
    """A rule that would apply."""

    rule: str
    sentence: str
    now: str
    goal: str
    may: str


@dataclass(frozen=True)
class PlannedRow:
    """An effect that would follow. `body` is what it would write, if anything."""

    act: str
    detail: str
    body: str
    observe: bool


@dataclass(frozen=True)
class SimulationPage(Page):
    """`simulation.html`. `waits`: the page asks again by itself. `acts` are in order."""

    repository: str
    number: int
    pull_href: str
    waits: bool = False
    error: str = ""
    state: Badge | None = None
    summary: str = ""
    mode: str = ""
    rules: tuple[RuleRow, ...] = ()
    acts: tuple[PlannedRow, ...] = ()
    # Of a file that is not understood: why, and the file itself, so that nothing typed is lost.
    wrong: str = ""
    text: str = ""
    simulate_href: str = ""


@router.post("/pull/{owner}/{repo}/{number}/simulate")
def simulate(  # noqa: PLR0913 - the address
    request: Request,
    parts: Parts,
    viewer: AnyViewer,
    owner: str,
    repo: str,
    number: Number,
    text: Annotated[str, Form(max_length=60_000)] = "",
) -> Response:
    """Asks for it, and leads to where the answer will be."""
    where = place(parts, viewer, owner, repo)
    policy, wrong = read_over_default(parts, where.installation_id, text)
    if wrong:
        page = _refused(where.full_name, number, wrong, text)
        return render(request, "simulation.html", page, status=422)
    made = ask(parts, viewer, where, number, policy)
    return RedirectResponse(f"/simulations/{made}", 303)


@router.get("/simulations/{simulation_id}")
def simulation(
    request: Request, parts: Parts, viewer: AnyViewer, simulation_id: Number
) -> Response:
    """The page."""
    found, where = simulation_for(parts, viewer, simulation_id)
    page = _page(found, where.full_name)
    # No script: the browser asks again until there is an answer.
    headers = {"Refresh": "2"} if page.waits else None
    return render(request, "simulation.html", page, headers=headers)


def _refused(full_name: str, number: int, wrong: str, text: str) -> SimulationPage:
    """What is wrong with a file, and the file, to be mended there."""
    here = f"/pull/{full_name}/{number}"
    return SimulationPage(
        title=f"Tried on {full_name} #{number}",
        repository=full_name,
        number=number,
        pull_href=here,
        simulate_href=f"{here}/simulate",
        wrong=wrong,
        text=text,
    )


def _page(found: Simulation, full_name: str) -> SimulationPage:
    decision = found.decision
    planned = decision.planned if decision else ()
    return SimulationPage(
        title=f"Tried on {full_name} #{found.number}",
        repository=full_name,
        number=found.number,
        pull_href=f"/pull/{full_name}/{found.number}",
        waits=found.ended_at is None,
        error=found.error or "",
        state=Badge(*words.STATES[CaseState(decision.state)]) if decision else None,
        summary=decision.summary if decision else "",
        mode=decision.mode.word if decision else "",
        rules=_rules(decision) if decision else (),
        acts=tuple(PlannedRow(*words.described(p.effect), observe=p.observe) for p in planned),
    )


def _rules(decision: Decision) -> tuple[RuleRow, ...]:
    return tuple(
        RuleRow(f.rule, str(f.sentence), f.rung.word, f.goal.word, f.in_force.word)
        for f in decision.findings
    )
