"""One decision whole: reasons, signals, score, effects, hands, versions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Request
from starlette.responses import Response

from app.core.decision import Decision
from app.core.proofs.challenge import Tick, step
from app.core.proofs.telling import told
from app.core.scoring import Score
from app.db import campaigns, installations, proof_domains, pull_report
from app.db.engine import Tx
from app.db.proof_domains import Domain
from app.db.pull_report import EffectRow, Whole
from app.db.reports import Place
from app.web import words
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.sight import place
from app.web.viewer import AnyViewer
from app.web.words import Badge

router = APIRouter()


@dataclass(frozen=True)
class RuleRow:
    """A rule that applies."""

    rule: str
    sentence: str
    would: str
    may: str


@dataclass(frozen=True)
class SignalRow:
    """One reading, in log-odds."""

    name: str
    sentence: str
    weight: float


@dataclass(frozen=True)
class Band:
    """The score as a bar from 0 to 100."""

    low: float
    width: float
    middle: float
    text: str


@dataclass(frozen=True)
class ActRow:
    """One effect. `body` is what it writes, if anything."""

    act: str
    detail: str
    body: str
    state: Badge
    reason: str
    version: int
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True)
class HandRow:
    """What a person did."""

    at: datetime
    login: str
    did: str
    reason: str


@dataclass(frozen=True)
class AnswerRow:
    """An answer of the author's: how soon, and whether it touches the question about the change."""

    at: datetime
    after: str
    touches: str


@dataclass(frozen=True)
class ChallengePart:
    """Whether somebody is there."""

    state: str
    told: str
    question: str
    answers: tuple[AnswerRow, ...]


@dataclass(frozen=True)
class VersionRow:
    """One decision among those before it."""

    version: int
    decided_at: datetime
    state: Badge
    summary: str
    mode: str
    policy: str


@dataclass(frozen=True)
class PullPage(Page):
    """`pull.html`. Where nothing was decided yet, `state` says so and `versions` is empty."""

    recorded: bool
    repository: str
    number: int
    name: str
    github_url: str
    list_href: str
    author: str
    author_href: str
    person_href: str
    campaign_href: str
    opened_at: datetime
    branch: str
    sha: str
    facts: tuple[str, ...]
    state: Badge
    summary: str
    mode: str
    rung: str
    role: str
    rules: tuple[RuleRow, ...]
    band: Band | None
    base: float
    model: str
    signals: tuple[SignalRow, ...]
    effects: tuple[ActRow, ...]
    hands: tuple[HandRow, ...]
    domains: tuple[Domain, ...]
    challenge: ChallengePart
    simulate_href: str
    versions: tuple[VersionRow, ...]


@router.get("/pull/{owner}/{repo}/{number}")
def pull(  # noqa: PLR0913 - the address
    request: Request,
    parts: Parts,
    viewer: AnyViewer,
    owner: str,
    repo: str,
    number: Annotated[int, Path(ge=1, lt=2**63)],
) -> Response:
    """The page."""
    where = place(parts, viewer, owner, repo)
    with parts.base.database.begin() as tx:
        found = pull_report.whole(tx, where.id, number)
        campaign = campaigns.of_case(tx, found.case_id) if found else None
        domains = _domains(tx, where, found, parts.clock())
    if found is None:
        raise HTTPException(404, "There is no such page")
    shown = _page(where, found, campaign, domains, parts.settings.github_web_url, parts.clock())
    return render(request, "pull.html", shown)


def _domains(tx: Tx, where: Place, found: Whole | None, now: datetime) -> tuple[Domain, ...]:
    """Where the author's proofs come from, as long as the repository asks to see it."""
    author = found.pull.user if found else None
    standing = installations.standing(tx, where.id) if author else None
    if author is None or standing is None or not standing.policy.proofs.domain_days:
        return ()
    return proof_domains.of_author(tx, where.id, author.id, now)


def _page(  # noqa: PLR0913 - what the page shows
    where: Place,
    found: Whole,
    campaign: int | None,
    domains: tuple[Domain, ...],
    web_url: str,
    now: datetime,
) -> PullPage:
    last = found.decisions[0] if found.decisions else None
    pull, user = found.pull, found.pull.user
    return PullPage(
        title=f"{where.full_name} #{pull.number}",
        recorded=where.recorded,
        repository=where.full_name,
        number=pull.number,
        name=pull.title or "(no title)",
        github_url="" if where.recorded else f"{web_url}/{where.full_name}/pull/{pull.number}",
        list_href=f"/?repository={where.full_name}",
        author=user.login if user else "deleted account",
        author_href=f"/?repository={where.full_name}&author={user.id}" if user else "",
        person_href=f"/people/{where.full_name}/{user.id}" if user else "",
        campaign_href=f"/campaigns/{campaign}" if campaign else "",
        opened_at=pull.created_at,
        branch=pull.head.ref,
        sha=last.head_sha if last else pull.head.sha,
        facts=_facts(found),
        state=Badge(*words.STATES[found.state]),
        summary=last.summary if last else "Nothing was decided yet; a worker will come to it.",
        mode=last.mode.word if last else "",
        rung=last.rung.word if last else "",
        role=_role(last),
        rules=_rules(last),
        band=_band(last.score) if last else None,
        base=last.score.base if last else 0.0,
        model=last.score.model if last else "",
        signals=_signals(last),
        effects=tuple(_act(e) for e in found.effects),
        challenge=_challenge(found, now),
        hands=tuple(HandRow(h.at, h.login, words.HANDS[h.act], h.reason) for h in found.hands),
        domains=domains,
        simulate_href=f"/pull/{where.full_name}/{pull.number}/simulate",
        versions=tuple(_version(d) for d in found.decisions),
    )


def _challenge(found: Whole, now: datetime) -> ChallengePart:
    stands = step(found.challenge, Tick(), now)
    return ChallengePart(
        state=stands.state.value.replace("_", " "),
        told=str(told(stands)),
        question=str(found.probe.sentence).replace("**", "") if found.probe else "",
        answers=tuple(
            AnswerRow(r.answered_at, words.span(r.asked_at, r.answered_at), r.touches or "")
            for r in found.readings
        ),
    )


def _facts(found: Whole) -> tuple[str, ...]:
    pull = found.pull
    said = (
        (pull.is_merged, "merged"),
        (pull.state == "closed" and not pull.is_merged, "closed"),
        (pull.state == "open", "open"),
        (pull.draft, "draft"),
        (pull.locked, "conversation locked"),
        (found.closed_at is not None, "closed by the gate"),
        (found.reopened_at is not None, "reopened by the gate"),
    )
    return tuple(text for holds, text in said if holds)


def _role(last: Decision | None) -> str:
    if last is None or last.role is None:
        return "not asked for"
    return last.role.word


def _rules(last: Decision | None) -> tuple[RuleRow, ...]:
    return tuple(
        RuleRow(f.rule, str(f.sentence), would=f.rung.word, may=f.in_force.word)
        for f in (last.findings if last else ())
    )


def _band(score: Score) -> Band | None:
    if score.unknown:
        return None
    low, high = round(score.low * 100, 1), round(score.high * 100, 1)
    middle = round(score.probability * 100, 1)
    return Band(
        low=low, width=max(1.0, round(high - low, 1)), middle=middle, text=words.score(score)
    )


def _signals(last: Decision | None) -> tuple[SignalRow, ...]:
    return tuple(
        SignalRow(s.name.replace("_", " "), str(s.sentence), s.weight)
        for s in (last.score.signals if last else ())
    )


def _act(row: EffectRow) -> ActRow:
    act, detail, body = words.described(row.effect)
    return ActRow(
        act=act,
        detail=detail,
        body=body,
        state=Badge(*words.EFFECT_STATES[row.state]),
        reason=row.reason or "",
        version=row.version,
        created_at=row.created_at,
        ended_at=row.ended_at,
    )


def _version(decision: Decision) -> VersionRow:
    return VersionRow(
        version=decision.version,
        decided_at=decision.decided_at,
        state=Badge(*words.STATES[decision.state]),
        summary=decision.summary,
        mode=decision.mode.word,
        policy=decision.policy_version[:12],
    )
