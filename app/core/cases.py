"""The decision about one pull request: a pure function from what is known to what follows.

`decide` reads nothing and knows no clock: the same facts, policy and case give the same decision,
today and in a replay a year later.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from app.core.config import Patterns
from app.core.decision import Case, CaseState, Decision
from app.core.facts import Facts, HandAct, Request, Role
from app.core.github import PullRequest
from app.core.ladder import asked_by_hand, by_a_word, cured, find, is_word
from app.core.modes import Mode
from app.core.plan import Situation, asks_to_reopen, plan
from app.core.policy import Policy
from app.core.queueing import turn
from app.core.rules.base import Finding, Seen
from app.core.said import Catalogues, only_english
from app.core.scoring import Score


@dataclass(frozen=True)
class Means:
    """What deciding borrows: matching in linear time, and words in several languages."""

    patterns: Patterns
    # Where people read all of it; see `page`.
    site: str = ""
    # Where authors show that somebody is there; "" where mail is not set up for it.
    verify: str = ""
    catalogues: Catalogues = only_english

    def page(self, full_name: str, number: int) -> str:
        """The address of the evidence, for maintainers."""
        return f"{self.site}/pull/{full_name}/{number}"

    @property
    def mine(self) -> str:
        """The address where authors read what is kept about them."""
        return f"{self.site}/mine"

    def verify_page(self, full_name: str, number: int) -> str:
        """The address where the author shows that somebody is there; "" without mail."""
        return f"{self.verify}/{full_name}/{number}" if self.verify else ""


def decide(  # noqa: PLR0913 - each is one of the things that a decision rests on
    case: Case,
    facts: Facts,
    score: Score,
    policy: Policy,
    policy_version: str,
    now: datetime,
    *,
    means: Means,
    force: bool = False,
) -> Decision | None:
    """What follows for a pull request; None where nothing changed that matters.

    `force` decides anew all the same (somebody pressed "re-run").
    """
    # The team, and whatever is none of our business, before any rule runs.
    before = _before_rules(case, facts, policy)
    seen = Seen(facts=facts, score=score, patterns=means.patterns, now=now)
    findings = () if before else find(seen, policy)
    state, summary = before or _after_rules(case, facts, findings, policy, now)
    if state is CaseState.FLAGGED and _opened_again(case):
        # What was opened again is not closed a second time for the same: only the new word counts.
        findings = asked_by_hand(findings)
    if _answers_are_old(case, facts, findings, state, now):
        facts = facts.model_copy(update={"answers": ()})
    rung = _rung(state, findings, facts, now)
    fingerprint = _fingerprint(facts, policy, findings, state, rung)
    anew = force or (state is CaseState.REOPENED and asks_to_reopen(facts))
    if fingerprint == case.fingerprint and not anew:
        return None
    wanted = plan(
        Situation(
            case=case,
            facts=facts,
            policy=policy,
            score=score,
            findings=findings,
            state=state,
            rung=rung,
        ),
        words=means.catalogues(policy.language),
        force=force,
    )
    return Decision(
        version=case.version + 1,
        state=state,
        mode=policy.mode,
        rung=rung,
        summary=summary,
        findings=findings,
        score=score,
        turn=turn(
            facts,
            score,
            exempt=state in {CaseState.EXEMPT, CaseState.ADOPTED},
            applies=state in {CaseState.FLAGGED, CaseState.CLOSED},
        ),
        policy_version=policy_version,
        role=facts.role,
        planned=wanted.planned,
        effects=wanted.effects,
        dropped_kinds=wanted.dropped_kinds,
        fingerprint=fingerprint,
        decided_at=now,
        head_sha=facts.pull.head.sha,
        answers=facts.answers,
        pull_state="draft" if facts.pull.draft and facts.pull.state == "open" else facts.pull.state,
        due_at=min((f.due_at for f in findings if f.due_at is not None), default=None),
    )


def _answers_are_old(
    case: Case, facts: Facts, findings: tuple[Finding, ...], state: CaseState, now: datetime
) -> bool:
    """Whether the answers to commands are of before: something else came of it meanwhile."""
    if facts.answers != case.answers:
        return False
    return state is not case.state or appeal_lapsed(case, facts, [f.rule for f in findings], now)


def appeal_lapsed(case: Case, facts: Facts, rules: Iterable[str], now: datetime) -> bool:
    """Whether nobody answered the author's appeal in time. A maintainer's word needs a person.

    `rules`: those that apply.
    """
    return (
        facts.appeal is not None
        and facts.appeal.deadline_at <= now
        and not is_word((*case.closed_for, *rules))
        and not (facts.ruling is not None and facts.ruling.act == "ordered_closed")
        and (
            facts.pull.state == "open"
            or (case.closed_by_us and not case.closed_by_hand(facts.hands))
        )
    )


def _before_rules(case: Case, facts: Facts, policy: Policy) -> tuple[CaseState, str] | None:
    """The state, with a sentence that says why, of a pull request that no rule is for."""
    pull = facts.pull
    if pull.is_merged:
        return CaseState.ENDED, "It was merged."
    if pull.state == "closed":
        return _closed(case, facts)
    ruled = _ruling(case, facts)
    if ruled is not None:
        return ruled
    if pull.created_at < facts.installed_at:
        return CaseState.LEFT_ALONE, "It is older than the installation and is left alone."
    if facts.author is None:
        why = "The account that opened it no longer exists, so nobody can be asked."
        return CaseState.LEFT_ALONE, why
    exempt = exemption(facts, policy)
    return (CaseState.EXEMPT, exempt) if exempt else None


# What a maintainer said last counts, and the gate does as it says.
_RULING: dict[HandAct, tuple[CaseState, str]] = {
    "reopened": (CaseState.LEFT_ALONE, "{login} reopened it by hand; the gate leaves it alone."),
    "dismissed": (CaseState.LEFT_ALONE, "{login} dismissed it by hand; the gate leaves it alone."),
    "held": (CaseState.LEFT_ALONE, "{login} holds it as it is."),
    "undone": (CaseState.LEFT_ALONE, "{login} took back what the gate did here."),
    "exempted": (CaseState.EXEMPT, "{login} exempted it."),
    "adopted": (CaseState.ADOPTED, "{login} took it over."),
    "ordered_closed": (CaseState.CLOSED, "{login} has it closed."),
}


def _ruling(case: Case, facts: Facts) -> tuple[CaseState, str] | None:
    hand = facts.ruling
    if hand is None or hand.act not in _RULING:
        return None
    done = case.state in {CaseState.ENDED, CaseState.REOPENED}
    if hand.act == "ordered_closed" and done and case.decided_at and case.decided_at > hand.at:
        # The order was carried out, and somebody opened it again since, who is not on the team.
        return CaseState.REOPENED, "It was opened again and is not closed a second time."
    state, words = _RULING[hand.act]
    return state, words.format(login=hand.login)


def _closed(case: Case, facts: Facts) -> tuple[CaseState, str] | None:
    """Of a closed one: ended by others, opened again at a maintainer's word, or for the rules."""
    hand = facts.ruling
    if not case.closed_by_us or case.closed_by_hand(facts.hands):
        return _closed_by_others(case)
    if hand is not None and hand.act in {"undone", "adopted", "exempted"}:
        return CaseState.REOPENED, f"{hand.login} had it opened again."
    if hand is not None and hand.act == "ordered_closed":
        return CaseState.ENDED, f"{hand.login} had it closed."
    return None


def _closed_by_others(case: Case) -> tuple[CaseState, str]:
    if case.closed_by_us:
        return CaseState.ENDED, "A maintainer closed it by hand."
    return CaseState.ENDED, "It was closed, and not by the gate."


def _after_rules(
    case: Case, facts: Facts, findings: tuple[Finding, ...], policy: Policy, now: datetime
) -> tuple[CaseState, str]:
    """The state that the rules put a pull request in, with a sentence that says why."""
    if facts.pull.state == "closed":
        word = is_word(case.closed_for) or by_a_word(findings)
        asked = next((r for r in facts.requests if may_reopen(r, word=word)), None)
        if asked:
            return CaseState.REOPENED, f"{asked.login} asked for it to be opened again."
        if facts.voucher is not None:
            return CaseState.REOPENED, f"{facts.voucher} vouched for the author."
        if appeal_lapsed(case, facts, [f.rule for f in findings], now):
            return CaseState.REOPENED, "Nobody answered its author's appeal in time."
        if cured(case.closed_for, findings, facts, policy):
            return CaseState.REOPENED, "What it was closed for is no longer so."
        return CaseState.CLOSED, "The gate closed it; its author can have it opened again."
    # Whoever opened it again: we, another App, or a person whose delivery is still on its way.
    if _opened_again(case) and not (_word_since(case, facts) and asked_by_hand(findings)):
        return CaseState.REOPENED, "It was opened again and is not closed a second time."
    if findings:
        counts = asked_by_hand(findings) if _opened_again(case) else findings
        return CaseState.FLAGGED, str(counts[0].sentence)
    return CaseState.CLEAR, "No rule applies."


def _opened_again(case: Case) -> bool:
    return (
        case.reopened_by_us
        or case.closed_by_us
        or case.state in {CaseState.REOPENED, CaseState.CLOSED}
    )


def _word_since(case: Case, facts: Facts) -> bool:
    """Whether a maintainer had a word on account or campaign after it was opened again."""
    known = [case.reopened_at, case.closed_at]
    known += [case.decided_at] if case.state is CaseState.REOPENED else []
    since = max((at for at in known if at is not None), default=None)
    words = [word.at for word in (facts.trust, facts.campaign) if word is not None]
    return since is not None and any(at > since for at in words)


def may_reopen(request: Request, *, word: bool) -> bool:
    """What we closed is opened for its author and for everybody with triage rights or more.

    `word`: it was closed at a maintainer's word, which its author does not undo.
    """
    team = request.role >= Role.TRIAGE
    return request.command == "reopen" and (team or (request.by_author and not word))


def exemption(facts: Facts, policy: Policy) -> str | None:
    """Why no rule applies to this author, or None. The team comes before any rule."""
    if facts.author is None:
        return None
    if facts.role is not None and facts.role >= Role.TRIAGE:
        return f"The author has {facts.role.word} permission here."
    # A recording has no live permission to ask for; GitHub's own hint stands in for it there.
    if facts.role is None and facts.pull.author_association in {"OWNER", "MEMBER", "COLLABORATOR"}:
        return "GitHub names the author as part of the team."
    if facts.voucher is not None:
        return f"{facts.voucher} vouched for the author."
    # Whoever somebody had a word against since has not earned that it does not count.
    if facts.trust is None and facts.earned(policy.trust.earned):
        return f"{facts.history.merged_lately} pull requests of the author were merged here."
    if facts.author.id in policy.exempt.accounts:
        return "The configuration exempts this account."
    if facts.author.is_app and facts.author.id in policy.exempt.apps:
        return "The configuration exempts this App."
    return None


def _rung(state: CaseState, findings: tuple[Finding, ...], facts: Facts, now: datetime) -> Mode:
    """How far the findings would go if the repository let them.

    Where a maintainer took our label off, or has an appeal to answer, nothing is asked or closed
    over their head; nor where they did not answer it, but at a maintainer's word.
    """
    if state is CaseState.FLAGGED:
        most = max(f.rung for f in findings)
        waits = facts.appeal is not None and facts.appeal.deadline_at > now
        unanswered = facts.appeal is not None or facts.appeal_lapsed
        if waits or (unanswered and not by_a_word(findings)):
            return min(most, Mode.LABEL)
        hands = [h.act for h in facts.hands if h.act in {"labeled", "unlabeled", "released"}]
        return min(most, Mode.LABEL) if hands[-1:] == ["unlabeled"] else most
    if state is CaseState.REOPENED and findings:
        return Mode.LABEL
    return Mode.OBSERVE


def _fingerprint(
    facts: Facts, policy: Policy, findings: tuple[Finding, ...], state: CaseState, rung: Mode
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
        rung,
        exemption(facts, policy),
        [(f.rule, f.rung, f.in_force, f.answered) for f in findings],
        [(h.act, h.account_id, h.at.isoformat()) for h in facts.hands],
        policy.mode,
        policy.label,
        [str(answer) for answer in facts.answers],
        facts.proof is not None,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
