"""The decision about one pull request: a pure function from what is known to what follows.

`decide` reads nothing and knows no clock: the same facts, policy and case give the same decision,
today and in a replay a year later.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from app.core import render
from app.core.effects import (
    ORDER,
    Close,
    Effect,
    EffectKind,
    Notice,
    Reopen,
    SetCheckRun,
    SetLabel,
    StatusComment,
)
from app.core.events import PullRequest
from app.core.facts import Fact, Facts, Request, Role
from app.core.policy import Mode, Policy
from app.core.rules import Finding, find
from app.core.scoring import Score

# After so many comments of its own on one pull request the gate says nothing more, whatever comes.
MOST_NOTICES = 3
# The rung of the ladder that an effect belongs to. A reopen puts our own act back: always allowed.
_RUNG: dict[EffectKind, Mode] = {
    "reopen": Mode.OFF,
    "label": Mode.LABEL,
    "check_run": Mode.LABEL,
    "status_comment": Mode.ASK,
    "ask_comment": Mode.ASK,
    "close_comment": Mode.CLOSE,
    "close": Mode.CLOSE,
}


class CaseState(StrEnum):
    """Where a pull request stands with us."""

    NEW = "new"
    LEFT_ALONE = "left_alone"
    EXEMPT = "exempt"
    CLEAR = "clear"
    FLAGGED = "flagged"
    CLOSED = "closed"
    REOPENED = "reopened"
    ENDED = "ended"


class Planned(Fact):
    """An effect that follows from a decision. `observe`: recorded, never carried out."""

    effect: Effect
    observe: bool


class Case(Fact):
    """What we know of a pull request from before: the last decision and what became of it.

    `closed_by_us` and `reopened_by_us` follow from what was really carried out.
    """

    id: int
    repository_id: int
    number: int
    version: int = 0
    state: CaseState = CaseState.NEW
    fingerprint: str = ""
    planned: tuple[Planned, ...] = ()
    notices: int = 0
    closed_by_us: bool = False
    reopened_by_us: bool = False
    has_status_comment: bool = False


class Decision(Fact):
    """What was decided, why, and what follows: stored, acted on, shown and simulated alike.

    `rung` is how far the findings would go; `mode` is how far the repository lets it go.
    `planned` is the whole wanted state; `effects` is what differs from the decision before.
    """

    version: int
    state: CaseState
    mode: Mode
    rung: Mode
    summary: str
    findings: tuple[Finding, ...]
    score: Score
    policy_version: str
    role: Role | None
    planned: tuple[Planned, ...]
    effects: tuple[Planned, ...]
    dropped_kinds: tuple[EffectKind, ...]
    fingerprint: str
    decided_at: datetime
    head_sha: str


def decide(  # noqa: PLR0913 - each is one of the things that a decision rests on
    case: Case,
    facts: Facts,
    score: Score,
    policy: Policy,
    policy_version: str,
    now: datetime,
    *,
    force: bool = False,
) -> Decision | None:
    """What follows for a pull request; None where nothing changed that matters.

    `force` decides anew all the same (somebody pressed "re-run").
    """
    findings = find(facts, score, policy)
    state, summary = _stand(case, facts, policy, findings)
    print_ = _fingerprint(facts, policy, findings, state)
    if print_ == case.fingerprint and not force:
        return None
    rung = _rung(state, findings)
    planned = _plan(case, facts, policy, score, findings, state, rung)
    standing = case.planned if state is CaseState.CLOSED else _standing(case, facts)
    return Decision(
        version=case.version + 1,
        state=state,
        mode=policy.mode,
        rung=rung,
        summary=summary,
        findings=findings,
        score=score,
        policy_version=policy_version,
        role=facts.role,
        planned=planned,
        effects=_new(standing, planned, again=force and policy.mode >= Mode.LABEL),
        dropped_kinds=_gone(case, standing, planned),
        fingerprint=print_,
        decided_at=now,
        head_sha=facts.pull.head.sha,
    )


def _stand(
    case: Case, facts: Facts, policy: Policy, findings: tuple[Finding, ...]
) -> tuple[CaseState, str]:
    """The state that the facts put the pull request in, with a sentence that says why."""
    pull = facts.pull
    if pull.is_merged:
        return CaseState.ENDED, "It was merged."
    if pull.state == "closed":
        return _stand_closed(case, facts)
    held = [h for h in facts.hands if h.act in {"reopened", "dismissed"}]
    if held:
        return (
            CaseState.LEFT_ALONE,
            f"{held[-1].login} {held[-1].act} it by hand; the gate leaves it alone.",
        )
    if pull.created_at < facts.installed_at:
        return CaseState.LEFT_ALONE, "It is older than the installation and is left alone."
    if facts.author is None:
        return (
            CaseState.LEFT_ALONE,
            "The account that opened it no longer exists, so nobody can be asked.",
        )
    exempt = exemption(facts, policy)
    if exempt:
        return CaseState.EXEMPT, exempt
    # Also where neither we nor a maintainer opened it again: another App, say.
    if case.reopened_by_us or case.state in {CaseState.REOPENED, CaseState.CLOSED}:
        return CaseState.REOPENED, "It was opened again and is not closed a second time."
    if findings:
        return CaseState.FLAGGED, findings[0].sentence
    return CaseState.CLEAR, "No rule applies."


def _stand_closed(case: Case, facts: Facts) -> tuple[CaseState, str]:
    if not case.closed_by_us:
        return CaseState.ENDED, "It was closed, and not by the gate."
    if any(h.act == "closed" for h in facts.hands):
        return CaseState.ENDED, "A maintainer closed it by hand."
    asked = next((r for r in facts.requests if may_reopen(r)), None)
    if asked:
        return CaseState.REOPENED, f"{asked.login} asked for it to be opened again."
    return CaseState.CLOSED, "The gate closed it; its author can have it opened again."


def may_reopen(request: Request) -> bool:
    """What we closed is opened for its author and for everybody with triage rights or more."""
    return request.by_author or request.role >= Role.TRIAGE


def exemption(facts: Facts, policy: Policy) -> str | None:
    """Why no rule applies to this author, or None. The team comes before any rule."""
    if facts.author is None:
        return None
    if facts.role is not None and facts.role >= Role.TRIAGE:
        return f"The author has {facts.role.word} permission here."
    # A recording has no live permission to ask for; GitHub's own hint stands in for it there.
    if facts.role is None and facts.pull.author_association in {"OWNER", "MEMBER", "COLLABORATOR"}:
        return "GitHub names the author as part of the team."
    if facts.author.id in policy.exempt.accounts:
        return "The configuration exempts this account."
    if facts.author.is_app and facts.author.id in policy.exempt.apps:
        return "The configuration exempts this App."
    return None


def _rung(state: CaseState, findings: tuple[Finding, ...]) -> Mode:
    """How far the findings would go if the repository let them."""
    if state is CaseState.FLAGGED:
        return max(f.rung for f in findings)
    if state is CaseState.REOPENED and findings:
        return Mode.LABEL
    return Mode.OBSERVE


def _plan(  # noqa: PLR0913 - pure assembly of the wanted state
    case: Case,
    facts: Facts,
    policy: Policy,
    score: Score,
    findings: tuple[Finding, ...],
    state: CaseState,
    rung: Mode,
) -> tuple[Planned, ...]:
    """The whole wanted state of a pull request, in the order in which it is brought about."""
    held = state is CaseState.LEFT_ALONE and _had(case, "check_run")
    if state is CaseState.ENDED or (state is CaseState.LEFT_ALONE and not held):
        return ()
    if state is CaseState.CLOSED:
        return case.planned
    wanted: list[Effect] = []
    if state is CaseState.REOPENED and facts.pull.state == "closed":
        wanted.append(Reopen())
    wanted += _label(case, facts, policy, rung)
    # What a rule saw that only observes is recorded, and told to nobody.
    told = findings
    if policy.mode >= Mode.LABEL:
        told = tuple(f for f in findings if f.in_force >= Mode.LABEL)
    shown = CaseState.CLEAR if state is CaseState.FLAGGED and not told else state
    # Also where the gate has no say: a repository may require the check run of every head.
    wanted.append(render.check_run(facts.pull, shown.value, told, score, policy.mode))
    if held:
        return (Planned(effect=wanted[-1], observe=policy.mode < Mode.LABEL),)
    if rung >= Mode.ASK:
        wanted.append(StatusComment(body=render.status(told or findings, policy.label)))
    elif case.has_status_comment or _had(case, "status_comment"):
        wanted.append(StatusComment(body=render.status_resolved(state.value)))
    wanted += _notices(case, facts, findings, rung)
    ordered = sorted(wanted, key=lambda e: ORDER.index(e.kind))
    return tuple(
        Planned(effect=e, observe=_RUNG[e.kind] > _limit(e, findings, rung, policy.mode))
        for e in ordered
    )


def _allowed(findings: Sequence[Finding], mode: Mode) -> Mode:
    """How far the rules that apply may go here and now."""
    return max((f.in_force for f in findings), default=mode)


def _limit(effect: Effect, findings: Sequence[Finding], rung: Mode, mode: Mode) -> Mode:
    """How far an effect may go; beyond it is only recorded."""
    if _RUNG[effect.kind] is Mode.CLOSE:
        # A rule that may not close itself closes nothing, however far another one may go.
        return max((f.in_force for f in findings if f.rung >= Mode.CLOSE), default=Mode.OBSERVE)
    takes_back = (isinstance(effect, SetLabel) and not effect.present) or (
        isinstance(effect, StatusComment) and rung < Mode.ASK
    )
    # A rule that only observes holds up no check run, and keeps nothing from being taken back.
    return mode if takes_back or isinstance(effect, SetCheckRun) else _allowed(findings, mode)


def _label(case: Case, facts: Facts, policy: Policy, rung: Mode) -> list[Effect]:
    if any(h.act in {"labeled", "unlabeled"} for h in facts.hands):
        return []
    if rung >= Mode.LABEL:
        return [SetLabel(name=policy.label, present=True)]
    ours = [p.effect for p in case.planned if isinstance(p.effect, SetLabel) and not p.observe]
    return [SetLabel(name=e.name, present=False) for e in ours]


def _notices(case: Case, facts: Facts, findings: tuple[Finding, ...], rung: Mode) -> list[Effect]:
    """The question, where asking is as far as it goes; the close, with what explains it."""
    if rung < Mode.ASK:
        return []
    found: list[Effect] = []
    if Mode.ASK in {rung, _allowed(findings, Mode.OBSERVE)}:
        asking = [f for f in findings if f.in_force >= Mode.ASK] or findings
        found.append(Notice(kind="ask_comment", body=render.notice_ask(asking)))
    if rung >= Mode.CLOSE:
        closing = [f for f in findings if f.rung >= Mode.CLOSE]
        found += [Notice(kind="close_comment", body=render.notice_close(closing)), Close()]
    if case.notices < MOST_NOTICES:
        return found
    # Only what was written before, and no close whose comment could not be.
    kept = {p.effect.kind for p in _standing(case, facts) if not p.observe}
    return [e for e in found if e.kind in kept]


def _had(case: Case, kind: EffectKind) -> bool:
    return any(p.effect.kind == kind and not p.observe for p in case.planned)


_Identity = tuple[str, str, bool]


def _identity(planned: Planned) -> _Identity:
    """What makes two planned effects the same wish.

    A comment that was written once is not written again because a number in it changed.
    """
    effect = planned.effect
    what = "" if isinstance(effect, Notice) else effect.model_dump_json()
    return effect.kind, what, planned.observe


def _standing(case: Case, facts: Facts) -> tuple[Planned, ...]:
    """The earlier wishes that still stand.

    A close is wished for one head and never carried out on another, so that a push asks for it
    anew. The check run names the head that was decided on.
    """
    runs = [p.effect for p in case.planned if isinstance(p.effect, SetCheckRun)]
    if all(run.head_sha == facts.pull.head.sha for run in runs):
        return case.planned
    return tuple(p for p in case.planned if p.observe or _RUNG[p.effect.kind] is not Mode.CLOSE)


def _new(
    standing: tuple[Planned, ...], planned: tuple[Planned, ...], *, again: bool
) -> tuple[Planned, ...]:
    before = {_identity(p) for p in standing}
    return tuple(
        p
        for p in planned
        if _identity(p) not in before or (again and isinstance(p.effect, SetCheckRun))
    )


def _gone(
    case: Case, standing: tuple[Planned, ...], planned: tuple[Planned, ...]
) -> tuple[EffectKind, ...]:
    """Kinds whose earlier effects, where still pending, are no longer wanted as they were."""
    kept = {_identity(p) for p in standing} & {_identity(p) for p in planned}
    return tuple({p.effect.kind: None for p in case.planned if _identity(p) not in kept})


def _fingerprint(
    facts: Facts, policy: Policy, findings: tuple[Finding, ...], state: CaseState
) -> str:
    """A digest of all that makes a decision anew worth while; counts and scores are not."""
    pull: PullRequest = facts.pull
    parts = [
        pull.head.sha,
        pull.title,
        hashlib.sha256(pull.body.encode()).hexdigest(),
        pull.draft,
        pull.state,
        pull.is_merged,
        state.value,
        exemption(facts, policy),
        [(f.rule, f.rung, f.in_force) for f in findings],
        [(h.act, h.account_id, h.at.isoformat()) for h in facts.hands],
        policy.mode,
        policy.label,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


__all__ = ["Case", "CaseState", "Decision", "Planned", "SetCheckRun", "decide", "may_reopen"]
