"""What the audit log says: who did what, when, under which policy, on which evidence.

It names people by pseudonym only, and holds no word that anybody typed.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from app.core.decision import Decision
from app.core.effects import EffectKind
from app.core.fact import Fact
from app.core.facts import Hand, Trust
from app.core.github import Account

# Effects that change something for somebody; what only informs follows from the decision.
TOLD: frozenset[EffectKind] = frozenset(
    {
        "label",
        "ask_comment",
        "close_comment",
        "close",
        "reopen",
        "adopt",
        "verified",
        "limit",
        "control",
    }
)


class Place(Fact):
    """What an entry is about; None where it is wider."""

    installation_id: int | None = None
    repository_id: int | None = None
    number: int | None = None


class Entry(Fact):
    """One line. `by` is a person, or None where the gate acted; `of` is whom it concerns."""

    at: datetime
    act: str
    by: Account | None = None
    of: Account | None = None
    policy_version: str | None = None
    detail: Mapping[str, Any] = Field(default_factory=dict)


def decided(decision: Decision) -> Entry:
    """A decision, with the evidence that it rests on: rules and signals by name and number."""
    detail: dict[str, Any] = {
        "version": decision.version,
        "state": decision.state.value,
        "mode": decision.mode.word,
        "head": decision.head_sha[:12],
    }
    if decision.findings:
        detail["rules"] = {f.rule: f.rung.word for f in decision.findings}
    if not decision.score.unknown:
        detail["score"] = decision.score.probability
        detail["signals"] = {s.name: s.weight for s in decision.score.signals if s.weight}
    return Entry(
        at=decision.decided_at,
        act="decision",
        policy_version=decision.policy_version,
        detail=detail,
    )


def by_hand(hand: Hand) -> Entry:
    """What a person did on a pull request, by hand or by a command."""
    return Entry(
        at=hand.at, act=f"hand.{hand.act}", by=Account(id=hand.account_id, login=hand.login)
    )


def trusted(by: Account, of: Account, word: Trust) -> Entry:
    """A maintainer's word on an account. The reason stays where it was written."""
    until = word.until.isoformat() if word.until else None
    return Entry(at=word.at, act=f"trust.{word.kind}", by=by, of=of, detail={"until": until})


def carried(kind: str, outcome: str, at: datetime, why: str = "") -> Entry:
    """How an effect ended."""
    detail = {"kind": kind, **({"why": why[:120]} if why else {})}
    return Entry(at=at, act=f"effect.{outcome}", detail=detail)
