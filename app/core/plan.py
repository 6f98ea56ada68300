"""The acts that follow from a state: the whole wanted state, and what differs from before."""

from collections.abc import Sequence

from app.core import render
from app.core.decision import Case, CaseState, Planned
from app.core.effects import (
    ORDER,
    Adopt,
    Close,
    Effect,
    EffectKind,
    EndQuestion,
    MarkVerified,
    Notice,
    Reopen,
    SetCheckRun,
    SetLabel,
    StatusComment,
)
from app.core.fact import Fact
from app.core.facts import Facts, HandAct
from app.core.ladder import LIFE, by_a_word, closes_at, is_word
from app.core.modes import Mode
from app.core.policy import Policy
from app.core.rules import campaign
from app.core.rules.base import Finding
from app.core.said import Words
from app.core.scoring import Score

# After so many comments of its own on one pull request the gate says nothing more, whatever comes.
MOST_NOTICES = 3


# The rung of the ladder that an effect belongs to. A reopen puts our own act back: always allowed.
_RUNG: dict[EffectKind, Mode] = {
    "reopen": Mode.OFF,
    # What a person asked for by a command is done in every mode.
    "adopt": Mode.OFF,
    "verified": Mode.LABEL,
    "reaction": Mode.OFF,
    "config_check": Mode.OFF,
    "limit": Mode.CLOSE,
    "control": Mode.OFF,
    "announce": Mode.OFF,
    "appeal_comment": Mode.OFF,
    # What stands there is put right in every mode.
    "question_ended": Mode.OFF,
    "label": Mode.LABEL,
    "check_run": Mode.LABEL,
    "status_comment": Mode.ASK,
    "ask_comment": Mode.ASK,
    "close_comment": Mode.CLOSE,
    "close": Mode.CLOSE,
}


# Orders that take back what was asked.
_TAKE_BACK: set[HandAct | None] = {"undone", "exempted", "adopted", "ordered_closed"}


class Situation(Fact):
    """What a plan rests on. `rung` is how far the findings would go by themselves."""

    case: Case
    facts: Facts
    policy: Policy
    score: Score
    findings: tuple[Finding, ...]
    state: CaseState
    rung: Mode


class Plan(Fact):
    """The wanted state (`planned`), what of it is new, and which kinds are wanted no more."""

    planned: tuple[Planned, ...]
    effects: tuple[Planned, ...]
    dropped_kinds: tuple[EffectKind, ...]


def plan(now: Situation, *, words: Words, force: bool) -> Plan:
    """The acts that follow, in these words.

    `force` shows the check run anew, also where nothing changed.
    """
    planned = _wanted(now, words)
    closed = now.state is CaseState.CLOSED
    standing = now.case.planned if closed else _standing(now.case, now.facts)
    return Plan(
        planned=planned,
        effects=_new(
            standing,
            planned,
            again=force and now.policy.mode >= Mode.LABEL,
            reopen=asks_to_reopen(now.facts),
        ),
        dropped_kinds=_gone(now.case, standing, planned),
    )


def asks_to_reopen(facts: Facts) -> bool:
    """Whether somebody just asked for a closed one to be opened again."""
    return facts.pull.state == "closed" and any(r.command == "reopen" for r in facts.requests)


def _wanted(now: Situation, words: Words) -> tuple[Planned, ...]:
    """The whole wanted state of a pull request, in the order in which it is brought about."""
    case, facts, policy, findings = now.case, now.facts, now.policy, now.findings
    state, rung = now.state, now.rung
    left = state in {CaseState.LEFT_ALONE, CaseState.ENDED}
    told = _told(now)
    if state is CaseState.CLOSED and facts.pull.state == "closed":
        # Also on what we closed, a label that maintainers touched is theirs.
        theirs = _touched_label(facts)
        kept = (p for p in case.planned if not (theirs and p.effect.kind == "label"))
        return _with_answers(tuple(kept), now, words)
    wanted: list[Effect] = []
    if state is CaseState.REOPENED and facts.pull.state == "closed":
        wanted.append(Reopen())
    if not left or _takes_back(facts):
        wanted += _label(case, facts, policy, rung)
    if state is CaseState.ADOPTED and facts.ruling is not None:
        wanted.append(Adopt(login=facts.ruling.login, label=policy.adopt_label))
    if facts.proof is not None and not left and _was_held(case):
        wanted.append(MarkVerified(label=policy.proofs.label))
    if state is not CaseState.ENDED and (not left or _had(case, "check_run")):
        # Also where the gate has no say: a repository may require the check run of every head.
        shown = CaseState.CLEAR if state is CaseState.FLAGGED and not told else state
        run = render.check_run(words, facts.pull, shown.value, told, now.score, policy.mode)
        wanted.append(run)
    wanted += _status(now, words)
    if state is CaseState.CLOSED:
        wanted += _ordered_close(words, case, facts)
    elif not left:
        wanted += _notices(words, case, facts, findings, rung)
    if case.has_question and not _still_asks(wanted) and state is not CaseState.ENDED:
        wanted.append(EndQuestion(body=render.question_ended(words)))
    ordered = sorted(wanted, key=lambda e: ORDER.index(e.kind))
    return tuple(
        Planned(effect=e, observe=_RUNG[e.kind] > _limit(e, now, policy.mode)) for e in ordered
    )


def _still_asks(wanted: Sequence[Effect]) -> bool:
    """Whether the question that stands there counts, or what it announced comes now."""
    return any(e.kind == "ask_comment" or (isinstance(e, Close) and e.rules) for e in wanted)


def _is_mute(case: Case, facts: Facts) -> bool:
    """Whether no comment of its own can be written any more."""
    return facts.pull.locked or case.notices >= MOST_NOTICES


def _ordered_close(words: Words, case: Case, facts: Facts) -> list[Effect]:
    """A close at a maintainer's word, also where the conversation takes no comment of ours."""
    if _is_mute(case, facts):
        return [Close(alone=True)]
    return [Notice(kind="close_comment", body=render.notice_ordered(words)), Close()]


def _told(now: Situation) -> tuple[Finding, ...]:
    """What is told to anybody: what a rule saw that only observes is recorded alone."""
    if now.policy.mode < Mode.LABEL:
        return now.findings
    return tuple(f for f in now.findings if f.in_force >= Mode.LABEL)


def _was_held(case: Case) -> bool:
    """Whether anything was ever held up or marked: who was never asked gets no label either."""
    return bool(case.rules or case.closed_for) or _had(case, "verified")


def _takes_back(facts: Facts) -> bool:
    """Whether a maintainer's last word takes back what was done, also where the gate has no say."""
    return facts.ruling is not None and facts.ruling.act in {"undone", "exempted"}


def _undone(facts: Facts) -> bool:
    return facts.ruling is not None and facts.ruling.act == "undone"


def _status(now: Situation, words: Words) -> list[Effect]:
    """The status comment: while something is asked, once nothing is any more, and with answers."""
    had = now.case.has_status_comment or _had(now.case, "status_comment")
    answers = now.facts.answers
    asks = now.rung >= Mode.ASK and now.state is not CaseState.CLOSED
    # What was said when it was closed is put right, also where there was no status comment.
    undone = _undone(now.facts) and now.case.notices > 0
    if not (answers or asks or had or undone):
        return []
    left = now.state in {CaseState.LEFT_ALONE, CaseState.ENDED}
    ruling = now.facts.ruling
    stays = ruling is None or ruling.act == "held" or not now.case.has_status_comment
    if not answers and not undone and (now.state is CaseState.ENDED or (left and stays)):
        return []
    named = now.policy.label if now.policy.ladder.label else ""
    # Where nothing may be asked, nobody is told that something would be.
    told = _told(now)
    # What a rule only tries out is recorded with all of it, and told to nobody who asks.
    if asks and (told or not answers) and (now.policy.mode >= Mode.ASK or not answers):
        # Told where somebody asked: the question itself names its time already.
        ends = closes_at(now.findings, now.facts.asked) if answers else None
        body = render.status(words, told or now.findings, named, ends)
    elif undone and not asks:
        body = render.status_resolved(words, "undone")
    elif now.state is CaseState.ADOPTED:
        body = render.status_adopted(words, now.facts.pull.number)
    elif _closed_by_word(now):
        body = render.status_resolved(words, "closed_by_word")
    else:
        body = render.status_resolved(words, now.state.value)
    return [StatusComment(body=render.answered(words, body, answers))]


def _closed_by_word(now: Situation) -> bool:
    """Whether it is closed at a maintainer's word, so that its author may only appeal."""
    case, facts = now.case, now.facts
    if not case.closed_by_us or facts.pull.state != "closed" or case.closed_by_hand(facts.hands):
        return False
    if now.state not in {CaseState.CLOSED, CaseState.ENDED}:
        return False
    ordered = facts.ruling is not None and facts.ruling.act == "ordered_closed"
    return ordered or is_word(case.closed_for) or by_a_word(now.findings)


def _with_answers(kept: tuple[Planned, ...], now: Situation, words: Words) -> tuple[Planned, ...]:
    """What stands on a closed one, with its status comment renewed where somebody asked."""
    if not now.facts.answers:
        return kept
    status = [Planned(effect=e, observe=False) for e in _status(now, words)]
    return (*(p for p in kept if p.effect.kind != "status_comment"), *status)


def _allowed(findings: Sequence[Finding], mode: Mode) -> Mode:
    """How far the rules that apply may go here and now."""
    return max((f.in_force for f in findings), default=mode)


def _is_ordered(effect: Effect, facts: Facts) -> bool:
    """Whether somebody with the right to asked for it by a command: done whatever the mode."""
    act = facts.ruling.act if facts.ruling is not None else None
    if isinstance(effect, StatusComment):
        return bool(facts.answers) or act in _TAKE_BACK
    if isinstance(effect, SetLabel):
        return not effect.present and act in _TAKE_BACK
    return _RUNG[effect.kind] is Mode.CLOSE and act == "ordered_closed"


def _limit(effect: Effect, now: Situation, mode: Mode) -> Mode:
    """How far an effect may go; beyond it is only recorded."""
    findings = now.findings
    if isinstance(effect, SetCheckRun):
        # A rule that only observes holds up no check run.
        return mode
    if _is_ordered(effect, now.facts):
        return Mode.CLOSE
    if _RUNG[effect.kind] is Mode.CLOSE:
        # A rule that may not close itself closes nothing, however far another one may go.
        return max((f.in_force for f in findings if f.rung >= Mode.CLOSE), default=Mode.OBSERVE)
    takes_back = (isinstance(effect, SetLabel) and not effect.present) or (
        isinstance(effect, StatusComment) and now.rung < Mode.ASK
    )
    if takes_back:
        # A rule that only observes keeps nothing from being taken back, and what was done at a
        # maintainer's decision in any mode is taken back in any.
        ordered = campaign.RULE.name in {*now.case.rules, *now.case.closed_for}
        return Mode.CLOSE if ordered else mode
    return _allowed(findings, mode)


def _touched_label(facts: Facts) -> bool:
    return any(h.act in {"labeled", "unlabeled"} for h in facts.hands)


def _label(case: Case, facts: Facts, policy: Policy, rung: Mode) -> list[Effect]:
    if _touched_label(facts):
        return []
    if rung >= Mode.LABEL and policy.ladder.label:
        put = [e for e in _put_on(case) if e.present]
        same = next((e for e in put if e.name.casefold() == policy.label.casefold()), None)
        old = put[-1].name if put else None
        return [same or SetLabel(name=policy.label, present=True, instead_of=old)]
    # What stands there may be of a time before the gate had no say for a while.
    names = {e.name: None for e in _put_on(case)} | ({case.label: None} if case.label else {})
    return [SetLabel(name=name, present=False) for name in names]


def _put_on(case: Case) -> list[SetLabel]:
    """What was wished of the label, and carried out or about to be."""
    return [p.effect for p in case.planned if isinstance(p.effect, SetLabel) and not p.observe]


def _notices(
    words: Words, case: Case, facts: Facts, findings: tuple[Finding, ...], rung: Mode
) -> list[Effect]:
    """The question, where asking is as far as it goes; the close, with what explains it."""
    if rung < Mode.ASK:
        return []
    found: list[Effect] = []
    if Mode.ASK in {rung, _allowed(findings, Mode.OBSERVE)}:
        asking = [f for f in findings if f.in_force >= Mode.ASK] or findings
        found.append(_question(words, asking, facts))
    if rung >= Mode.CLOSE:
        closing = [f for f in findings if f.rung >= Mode.CLOSE]
        rules = tuple(f.rule for f in closing)
        word = is_word(rules)
        if word and _is_mute(case, facts):
            return [Close(rules=rules, alone=True)]
        body = (
            render.notice_word(words, closing)
            if word
            else render.notice_close(words, closing, facts.verify_page)
        )
        why = Notice(kind="close_comment", body=body)
        found += [why, Close(rules=rules)]
    if case.notices < MOST_NOTICES:
        return found
    # Only what was written before, and no close whose comment could not be.
    kept = {p.effect.kind for p in _standing(case, facts) if not p.observe}
    return [e for e in found if e.kind in kept]


def _question(words: Words, asking: Sequence[Finding], facts: Facts) -> Notice:
    """The question; where a close follows its silence, after how many hours."""
    waits = [f.grace_hours for f in asking if f.grace_hours and f.in_force >= Mode.CLOSE]
    hours = min(waits, default=0)
    probe = facts.probe if any(f.rule in LIFE for f in asking) else None
    body = render.notice_ask(words, asking, hours, facts.verify_page, probe)
    return Notice(kind="ask_comment", body=body, grace_hours=hours, probe=probe)


def _had(case: Case, kind: EffectKind) -> bool:
    return any(p.effect.kind == kind and not p.observe for p in case.planned)


_Identity = tuple[str, str, bool]


def _identity(planned: Planned) -> _Identity:
    """What makes two planned effects the same wish.

    A comment that was written once is not written again because a number in it changed.
    """
    effect = planned.effect
    what = effect.model_dump_json()
    if isinstance(effect, Notice | Close):
        # A question that announces a close is another one than a question that does not.
        what = "clock" if isinstance(effect, Notice) and effect.grace_hours else ""
        what += "alone" if isinstance(effect, Close) and effect.alone else ""
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
    standing: tuple[Planned, ...], planned: tuple[Planned, ...], *, again: bool, reopen: bool
) -> tuple[Planned, ...]:
    before = {_identity(p) for p in standing}
    return tuple(
        p
        for p in planned
        if _identity(p) not in before
        or (again and isinstance(p.effect, SetCheckRun))
        # GitHub may have refused the last one, since the branch was gone.
        or (reopen and isinstance(p.effect, Reopen))
    )


def _gone(
    case: Case, standing: tuple[Planned, ...], planned: tuple[Planned, ...]
) -> tuple[EffectKind, ...]:
    """Kinds whose earlier effects, where still pending, are no longer wanted as they were."""
    kept = {_identity(p) for p in standing} & {_identity(p) for p in planned}
    return tuple({p.effect.kind: None for p in case.planned if _identity(p) not in kept})
