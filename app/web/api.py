"""`/api`: what programs ask. Answers and errors are JSON."""

import json
from threading import BoundedSemaphore
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Request
from starlette.responses import JSONResponse, Response

from app.core.decision import Decision
from app.core.policy import LIMIT, Policy
from app.core.schema import schema
from app.db import configurations, reports, simulations
from app.db.reports import Place
from app.db.simulations import Simulation
from app.flows import simulate as flow
from app.web.parts import Parts
from app.web.sight import place
from app.web.viewer import AnyViewer, Viewer
from app.wiring.web import WebParts

router = APIRouter()

_SCHEMA = json.dumps(schema(), indent=2, ensure_ascii=False).encode()


async def text(request: Request) -> str:
    """The body as text; `app.web.guard` has bounded it."""
    raw = await request.body()
    if len(raw) > LIMIT:
        raise HTTPException(413, f"A configuration has at most {LIMIT:,} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HTTPException(400, "The body is not UTF-8 text") from None


Text = Annotated[str, Depends(text)]
Number = Annotated[int, Path(ge=1, lt=2**63)]


@router.get("/schema/pulsegate.json")
def json_schema() -> Response:
    """The schema, for editors anywhere."""
    headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600"}
    return Response(_SCHEMA, media_type="application/schema+json", headers=headers)


# A long file takes a second to read. Anybody may ask, and nothing else may wait for that.
_turns = BoundedSemaphore(2)


@router.post("/api/validate")
def validate(parts: Parts, text: Text) -> dict[str, Any]:
    """What is wrong in a configuration, or the whole policy that it makes. Nothing is stored."""
    if not _turns.acquire(blocking=False):
        raise HTTPException(503, "Other files are being checked just now", {"Retry-After": "5"})
    try:
        reading = parts.policies.read(text)
    finally:
        _turns.release()
    return {
        "valid": reading.policy is not None,
        "problems": [problem.model_dump() for problem in reading.problems],
        "policy": reading.policy.model_dump(mode="json") if reading.policy else None,
    }


@router.post("/api/simulate/{owner}/{repo}/{number}")
def simulate(  # noqa: PLR0913 - the address
    parts: Parts, viewer: AnyViewer, text: Text, owner: str, repo: str, number: Number
) -> Response:
    """Asks what would be decided under the body's configuration; 202 with where the answer will be.

    An empty body means the configuration in force. The organisation's default lies below it, as it
    would in the repository.
    """
    if viewer.session is None and not viewer.demo:
        raise HTTPException(401, "Sign in first: the answer is for maintainers")
    where = place(parts, viewer, owner, repo)
    policy, problems = read_over_default(parts, where.installation_id, text)
    if problems:
        raise HTTPException(422, problems)
    made = ask(parts, viewer, where, number, policy)
    answer = f"/api/simulations/{made}"
    return JSONResponse({"id": made, "answer": answer}, 202, {"Location": answer})


def read_over_default(
    parts: WebParts, installation_id: int, text: str
) -> tuple[Policy | None, str]:
    """The policy of a text over the organisation's default, or what is wrong.

    Neither where the text is empty: the configuration in force is meant.
    """
    if not text.strip():
        return None, ""
    with parts.base.database.begin() as tx:
        default = configurations.default_of(tx, installation_id)
    reading = parts.policies.read(text, default.text)
    return reading.policy, "" if reading.policy else reading.complaint()


def ask(parts: WebParts, viewer: Viewer, where: Place, number: int, policy: Policy | None) -> int:
    """Asks for a simulation in the viewer's name."""
    return flow.ask(
        parts.base.database,
        parts.doorbell,
        repository_id=where.id,
        number=number,
        account_id=viewer.account.id if viewer.account else 0,
        policy=policy,
        now=parts.clock(),
    )


def simulation_for(parts: WebParts, viewer: Viewer, id_: int) -> tuple[Simulation, Place]:
    """A simulation, for who may see its repository's decisions; 404 for everybody else."""
    with parts.base.database.begin() as tx:
        found = simulations.get(tx, id_)
        where = reports.place_by_id(tx, found.repository_id) if found else None
    if found is None or where is None:
        raise HTTPException(404, "There is no such page")
    place(parts, viewer, where.owner, where.name)
    return found, where


@router.get("/api/simulations/{simulation_id}")
def simulation(parts: Parts, viewer: AnyViewer, simulation_id: Number) -> dict[str, Any]:
    """A simulation: `waiting`, `done` with the decision, or `failed` with why."""
    found, _ = simulation_for(parts, viewer, simulation_id)
    return {"id": found.id, "number": found.number, **shown(found)}


def shown(found: Simulation) -> dict[str, Any]:
    """What a simulation says so far."""
    if found.ended_at is None:
        return {"state": "waiting"}
    if found.decision is None:
        return {"state": "failed", "error": found.error}
    return {"state": "done", "decision": _told(found.decision)}


def _told(decision: Decision) -> dict[str, Any]:
    """A decision in words; modes as the configuration writes them."""
    return {
        "state": decision.state,
        "summary": decision.summary,
        "mode": decision.mode.word,
        "rung": decision.rung.word,
        "rules": [
            {
                "rule": f.rule,
                "sentence": str(f.sentence),
                "way": str(f.way) if f.way else None,
                "rung": f.rung.word,
                "goal": f.goal.word,
                "may": f.in_force.word,
            }
            for f in decision.findings
        ],
        "effects": [
            {"effect": p.effect.model_dump(mode="json"), "observe": p.observe}
            for p in decision.planned
        ],
    }
