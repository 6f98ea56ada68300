"""What the pages call things: states, acts, times. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from app.core.decision import CaseState
from app.core.effects import Effect, EffectKind, EffectState
from app.core.facts import HandAct
from app.core.scoring import Score
from app.db.reports import Done

Tone = Literal["plain", "good", "look", "acted", "bad"]

STATES: dict[CaseState, tuple[str, Tone]] = {
    CaseState.NEW: ("new", "plain"),
    CaseState.LEFT_ALONE: ("left alone", "plain"),
    CaseState.EXEMPT: ("exempt", "good"),
    CaseState.CLEAR: ("clear", "good"),
    CaseState.FLAGGED: ("needs a look", "look"),
    CaseState.CLOSED: ("closed", "acted"),
    CaseState.REOPENED: ("reopened", "plain"),
    CaseState.ADOPTED: ("adopted", "good"),
    CaseState.ENDED: ("ended", "plain"),
}
EFFECT_STATES: dict[EffectState, tuple[str, Tone]] = {
    EffectState.OBSERVED: ("only recorded", "look"),
    EffectState.PENDING: ("waits", "plain"),
    EffectState.DOING: ("under way", "plain"),
    EffectState.DONE: ("carried out", "acted"),
    EffectState.DROPPED: ("dropped", "plain"),
    EffectState.FAILED: ("failed", "bad"),
}
# (kind, direction): infinitive, participle. The furthest-going first.
_ACTS: dict[tuple[EffectKind, str], tuple[str, str]] = {
    ("close", ""): ("close", "closed"),
    ("reopen", ""): ("reopen", "reopened"),
    ("ask_comment", ""): ("ask", "asked"),
    ("close_comment", ""): ("explain", "explained"),
    ("label", "on"): ("label", "labelled"),
    ("label", "off"): ("take the label off", "label taken off"),
    ("status_comment", ""): ("comment", "commented"),
    ("check_run", ""): ("report a check", "check reported"),
    ("config_check", ""): ("check the configuration", "configuration checked"),
    ("adopt", ""): ("assign", "assigned"),
    ("reaction", ""): ("react", "reacted"),
    ("question_ended", ""): ("take the question back", "question taken back"),
    ("limit", ""): ("limit the repository", "repository limited"),
}
# Of interest in the list only where they failed: they follow from the others.
_QUIET: set[tuple[EffectKind, str]] = {
    ("close_comment", ""),
    ("status_comment", ""),
    ("check_run", ""),
    ("reaction", ""),
    ("question_ended", ""),
    ("config_check", ""),
}
# A recorded wish of an earlier decision says nothing once the pull request stands well.
_STANDS_WELL = {CaseState.CLEAR, CaseState.EXEMPT, CaseState.LEFT_ALONE, CaseState.ENDED}


@dataclass(frozen=True)
class Badge:
    """A word with a tone; `why` is the reason, where there is one."""

    text: str
    tone: Tone
    why: str = ""


def act_name(kind: EffectKind, word: str) -> str:
    """An act in the infinitive."""
    return _ACTS.get((kind, word), (kind.replace("_", " "), ""))[0]


def described(effect: Effect) -> tuple[str, str, str]:
    """An effect in words: the act, on what, and the text that it writes."""
    match effect.kind:
        case "label":
            return act_name("label", "on" if effect.present else "off"), effect.name, ""
        case "ask_comment" | "close_comment":
            return act_name(effect.kind, ""), "in a comment of its own", effect.body
        case "status_comment":
            return (
                act_name("status_comment", ""),
                "the one that is kept up to date",
                effect.body,
            )
        case "check_run" | "config_check":
            detail = f"{effect.conclusion}: {effect.title}"
            return act_name(effect.kind, ""), detail, effect.summary
        case _:
            return act_name(effect.kind, ""), "", ""


HANDS: dict[HandAct, str] = {
    "labeled": "put the label on",
    "unlabeled": "took the label off",
    "closed": "closed it",
    "reopened": "reopened it",
    "dismissed": "pressed “Leave it alone”",
    "exempted": "exempted it",
    "held": "holds it as it is",
    "adopted": "took it over",
    "undone": "took back what the gate did",
    "ordered_closed": "had it closed",
    "released": "let the rules apply again",
    "appealed": "(its author) appealed",
}


def acts(done: tuple[Done, ...], state: CaseState) -> tuple[Badge, ...]:
    """What was done, or would have been, the furthest-going first."""
    found: list[Badge] = []
    by_key = {(d.kind, d.word): d for d in done}
    for key, (infinitive, participle) in _ACTS.items():
        act = by_key.get(key)
        if act is None or (key in _QUIET and act.state is not EffectState.FAILED):
            continue
        if state in _STANDS_WELL and act.state is EffectState.OBSERVED:
            continue
        found.append(_badge(act, infinitive, participle))
    return tuple(found)


def _badge(act: Done, infinitive: str, participle: str) -> Badge:
    why = act.reason or ""
    match act.state:
        case EffectState.OBSERVED:
            return Badge(f"would have {participle}", "look", "Only recorded in this mode")
        case EffectState.DONE:
            return Badge(participle, "acted", why)
        case EffectState.DROPPED:
            return Badge(f"not {participle}", "plain", why)
        case EffectState.FAILED:
            return Badge(f"could not {infinitive}", "bad", why)
        case _:
            return Badge(f"will {infinitive}", "plain", why)


def score(found: Score) -> str:
    """The score in its band."""
    if found.unknown:
        return "unknown"
    return f"{found.probability:.0%} ({found.low:.0%} to {found.high:.0%})".replace("% to", " to")


def span(first: datetime, last: datetime) -> str:
    """How long something took, in words; never less than a minute."""
    minutes = max(1, -(-int((last - first) / timedelta(seconds=1)) // 60))
    if minutes < 120:
        return "1 minute" if minutes == 1 else f"{minutes} minutes"
    hours = round(minutes / 60)
    return f"{hours} hours" if hours < 48 else f"{round(hours / 24)} days"
