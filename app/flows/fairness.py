"""What a decision means for fairness: acts of rules, what people take back, appeals, brakes."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from app.core import brakes as limits
from app.core.appeals import opened
from app.core.audit import Entry, Place, by_hand
from app.core.brakes import Brake, Trip
from app.core.cases import appeal_lapsed
from app.core.decision import Case, CaseState, Decision
from app.core.effects import Announce, Notice
from app.core.facts import Facts, Hand, HandAct, Role
from app.core.github import Account
from app.core.ladder import WORDS
from app.core.ports import Task
from app.core.render import announced, asked_to_answer
from app.core.said import Catalogues
from app.db import appeals, audit, brakes, cases, neighbours, outbox, people, rule_acts
from app.db.appeals import AppealOutcome
from app.db.engine import Tx
from app.db.installations import Standing
from app.flows.evidence import Evidence
from app.flows.judge import Judged
from app.flows.waves import ask_all

# What a person with the right to does, and what it says of the rules that acted.
OVERTURNING: frozenset[HandAct] = frozenset(
    {"reopened", "dismissed", "undone", "exempted", "unlabeled"}
)
_CONFIRMING: frozenset[HandAct] = frozenset({"ordered_closed", "closed"})

Rings = list[tuple[Task, int]]


def settle(  # noqa: PLR0913 - what it rests on
    tx: Tx,
    standing: Standing,
    judged: Judged,
    evidence: Evidence,
    catalogues: Catalogues,
    now: datetime,
) -> Rings:
    """Keeps it all, in the transaction of the decision; answers whom to wake."""
    case, decision, facts = judged.case, judged.decision, judged.facts
    here = standing.repository.id
    if decision is not None and decision.findings:
        rule_acts.keep(tx, case.id, here, decision.findings, decision.rung, now)
    if standing.recorded:
        return []
    rings: Rings = []
    over = _overturned_by(evidence)
    if over is not None:
        rules = rule_acts.overturn(tx, [case.id], over.login, now)
        rings += judge_rules(tx, standing, rules, catalogues, now)
    ended = _appeal_ends(judged, evidence, over, now)
    if ended is not None:
        appeals.end(tx, case.id, ended[0], now, ended[1])
    if ended is not None and ended[0] == "lapsed":
        rules = rule_acts.overturn(tx, [case.id], "nobody answered the appeal", now)
        rings += judge_rules(tx, standing, rules, catalogues, now)
    asked = next((r for r in evidence.requests if r.command == "appeal"), None)
    if asked is not None and ended is None and not facts.pull.is_merged:
        named = evidence.obeyed.named
        rings += appeal(tx, standing, case, named, asked.reason, catalogues, now)
    return rings


def _appeal_ends(
    judged: Judged, evidence: Evidence, over: Account | None, now: datetime
) -> tuple[AppealOutcome, Account | None] | None:
    """How an appeal ends that may be open there, and by whom; None where it goes on."""
    case, decision, facts = judged.case, judged.decision, judged.facts
    adopted = _by(evidence, frozenset({"adopted"}))
    declined = _by(evidence, _CONFIRMING)
    word = next((w for w in evidence.obeyed.words if w.trust.kind == "vouched"), None)
    granted = over or adopted
    if granted is not None:
        return "granted", granted
    if declined is not None:
        return "declined", declined
    if facts.pull.is_merged or (facts.pull.state == "closed" and not case.closed_by_us):
        return "moot", None
    if decision is not None and _is_free(decision, case, facts, now):
        return ("granted", word.by) if word else ("moot", None)
    if appeal_lapsed(case, facts, _applying(judged), now):
        return "lapsed", None
    return None


def _by(evidence: Evidence, acts: frozenset[HandAct]) -> Account | None:
    """Who of the team did one of these by hand, if anybody."""
    for hand in evidence.hands:
        if hand.act in acts:
            return Account(id=hand.account_id, login=hand.login)
    return None


def _is_free(decision: Decision, case: Case, facts: Facts, now: datetime) -> bool:
    """Whether nothing holds it up any more, and not for want of an answer to an appeal."""
    free = {CaseState.CLEAR, CaseState.EXEMPT, CaseState.LEFT_ALONE, CaseState.REOPENED}
    rules = [f.rule for f in decision.findings]
    return decision.state in free and not appeal_lapsed(case, facts, rules, now)


def _applying(judged: Judged) -> list[str]:
    """The rules that apply, also where nothing was decided anew."""
    decision = judged.decision
    return [f.rule for f in decision.findings] if decision else list(judged.case.rules)


def _overturned_by(evidence: Evidence) -> Account | None:
    """Who of the team took back what the rules did, if anybody."""
    by = _by(evidence, OVERTURNING)
    if by is not None:
        return by
    for request in evidence.requests:
        if request.command == "reopen" and request.role >= Role.TRIAGE:
            return Account(id=request.account_id, login=request.login)
    return None


def appeal(  # noqa: PLR0913
    tx: Tx,
    standing: Standing,
    case: Case,
    named: str | None,
    words: str,
    catalogues: Catalogues,
    now: datetime,
) -> Rings:
    """Opens an appeal, unless one is open; who is `named` to answer it is told."""
    if appeals.open_on(tx, case.id) is not None:
        return []
    where, policy = standing.repository, standing.policy
    made = opened(policy.appeals, named, now)
    id_ = appeals.add(tx, case.id, where.id, made, words)
    cases.look_again(tx, case.id, made.deadline_at)
    place = Place(installation_id=where.installation_id, repository_id=where.id, number=case.number)
    until = {"until": made.deadline_at.isoformat()}
    audit.note(tx, place, Entry(at=now, act="appeal.opened", detail=until))
    if made.named is None:
        return []
    body = asked_to_answer(catalogues(policy.language), made.named, made.deadline_at)
    notice = Notice(kind="appeal_comment", body=body)
    told = outbox.add_beside(
        tx,
        key=f"{case.id}:appeal:{id_}",
        case_id=case.id,
        number=case.number,
        repository=where,
        effect=notice,
        now=now,
    )
    return [("perform", told)] if told is not None else []


def is_open(tx: Tx, row: cases.Row) -> bool:
    """Whether an appeal is open there."""
    return appeals.open_on(tx, row.case.id) is not None


def why_no_appeal(tx: Tx, row: cases.Row) -> str:
    """Why an author cannot appeal here; "" where they can."""
    case = row.case
    if appeals.open_on(tx, case.id) is not None:
        return "An appeal is open there already"
    declined = appeals.last_declined(tx, case.id)
    if declined is not None and (case.closed_at is None or case.closed_at <= declined):
        return "A maintainer answered the appeal there already"
    held = case.closed_by_us or (row.pull.state == "open" and case.rules)
    return "" if held else "There is nothing to appeal against: no rule holds it up"


def appeal_by(  # noqa: PLR0913
    tx: Tx,
    standing: Standing,
    row: cases.Row,
    by: Account,
    named: str | None,
    words: str,
    catalogues: Catalogues,
    now: datetime,
) -> Rings:
    """An author appeals from a page: as by the command, also where nothing can be written."""
    hand = Hand(act="appealed", account_id=by.id, login=by.login, at=now, reason=words)
    people.add_hands(tx, row.case.id, [hand])
    cases.acted(tx, row.case.id, now)
    where = standing.repository
    place = Place(
        installation_id=where.installation_id, repository_id=where.id, number=row.case.number
    )
    audit.note(tx, place, by_hand(hand))
    rings = appeal(tx, standing, row.case, named, words, catalogues, now)
    cause = f"appeal:{row.case.id}:{now.isoformat()}"
    asked = ask_all(tx, standing, [row.case.number], cause, now)
    return rings + [("triage", id_) for id_ in asked]


def judge_rules(
    tx: Tx, standing: Standing, rules: Iterable[str], catalogues: Catalogues, now: datetime
) -> Rings:
    """Stops each rule that people overturned more often than its limit."""
    rings: Rings = []
    limit = standing.policy.overturned
    for rule in sorted(rules) if limit else ():
        since = now - timedelta(days=limit.days if limit else 0)
        released = brakes.last_release(tx, standing.repository.id, rule)
        of, out_of = rule_acts.counts(
            tx, standing.repository.id, rule, max(since, released or since)
        )
        trip = limits.too_often_wrong(standing.policy, of, out_of)
        if trip is not None:
            rings += stop(tx, standing, rule, trip, catalogues, now)
    return rings


def stop_after_close(tx: Tx, standing: Standing, catalogues: Catalogues, now: datetime) -> Rings:
    """Stops the gate where it closed more than it may."""
    breaker = standing.policy.breaker
    if breaker is None:
        return []
    seen = brakes.closes(tx, standing.repository.id, now, breaker, WORDS)
    trip = limits.too_many(standing.policy, seen)
    return stop(tx, standing, None, trip, catalogues, now) if trip else []


def stop(  # noqa: PLR0913
    tx: Tx,
    standing: Standing,
    rule: str | None,
    trip: Trip,
    catalogues: Catalogues,
    now: datetime,
) -> Rings:
    """Puts a brake on, once: what waits to be done is dropped, and maintainers are told."""
    where = standing.repository
    made = brakes.put(tx, where.id, rule, trip, now)
    if made is None:
        return []
    if rule is None:
        outbox.drop_closes(tx, where.id, WORDS, "the gate stopped acting here by itself", now)
    brake = Brake(id=made, rule=rule, at=now, **trip.model_dump())
    place = Place(installation_id=where.installation_id, repository_id=where.id)
    detail = {"rule": rule, **trip.model_dump()}
    audit.note(tx, place, Entry(at=now, act="brake.on", detail=detail))
    title, body = announced(catalogues(standing.policy.language), brake)
    told = outbox.add_loose(
        tx,
        key=f"brake:{made}",
        repository=where,
        effect=Announce(issue=standing.policy.report.issue, title=title, body=body),
        sha="",
        now=now,
    )
    rings: Rings = [("perform", told)] if told is not None else []
    return rings + _looked_at_again(tx, standing, f"brake:{made}", now)


def go_on(tx: Tx, standing: Standing, brake_id: int, by: Account, now: datetime) -> Rings:
    """A person lets the gate act again; what it would have done meanwhile is decided anew."""
    where = standing.repository
    if not brakes.release(tx, where.id, [brake_id], by, now):
        return []
    place = Place(installation_id=where.installation_id, repository_id=where.id)
    audit.note(tx, place, Entry(at=now, act="brake.off", by=by, detail={"brake": brake_id}))
    return _looked_at_again(tx, standing, f"released:{brake_id}", now)


def _looked_at_again(tx: Tx, standing: Standing, cause: str, now: datetime) -> Rings:
    """All open pull requests that a rule holds up are decided anew."""
    numbers = neighbours.held_up(tx, standing.repository.id)
    return [("triage", id_) for id_ in ask_all(tx, standing, numbers, cause, now)]


def undone(  # noqa: PLR0913
    tx: Tx,
    standing: Standing,
    case_ids: list[int],
    by: Account,
    catalogues: Catalogues,
    now: datetime,
) -> Rings:
    """People took back what the rules did on many pull requests."""
    rules = rule_acts.overturn(tx, case_ids, by.login, now)
    for case_id in case_ids:
        appeals.end(tx, case_id, "granted", now, by)
    return judge_rules(tx, standing, rules, catalogues, now)
