"""What a decision is: the case before it, the state, the reasons, and the acts that follow."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Literal

from app.core.effects import Close, Effect, EffectKind
from app.core.fact import Fact
from app.core.facts import Hand, Role
from app.core.modes import Mode
from app.core.queueing import Turn
from app.core.rules.base import Finding
from app.core.said import Said
from app.core.scoring import Score


class CaseState(StrEnum):
    """Where a pull request stands with us."""

    NEW = "new"
    LEFT_ALONE = "left_alone"
    EXEMPT = "exempt"
    CLEAR = "clear"
    FLAGGED = "flagged"
    CLOSED = "closed"
    REOPENED = "reopened"
    ADOPTED = "adopted"
    ENDED = "ended"


class Planned(Fact):
    """An effect that follows from a decision. `observe`: recorded, never carried out."""

    effect: Effect
    observe: bool


class Case(Fact):
    """What we know of a pull request from before: the last decision and what became of it.

    `closed_by_us` and `reopened_by_us` follow from what was really carried out. `has_question`: a
    question of ours stands there as it was asked; `label`: what we put on and did not take off.
    """

    id: int
    repository_id: int
    number: int
    version: int = 0
    state: CaseState = CaseState.NEW
    decided_at: datetime | None = None
    fingerprint: str = ""
    planned: tuple[Planned, ...] = ()
    notices: int = 0
    closed_by_us: bool = False
    closed_at: datetime | None = None
    reopened_at: datetime | None = None
    has_status_comment: bool = False
    has_question: bool = False
    label: str | None = None
    # Of the last decision: the rules that applied, when it was to be looked at again, and whether
    # the pull request was closed or a draft then.
    rules: tuple[str, ...] = ()
    due_at: datetime | None = None
    was_closed_or_draft: bool = False
    answers: tuple[Said, ...] = ()

    @property
    def reopened_by_us(self) -> bool:
        """Whether we opened it again, and nobody closed it since."""
        return self.reopened_at is not None

    def closed_by_hand(self, hands: Sequence[Hand]) -> bool:
        """Whether a maintainer closed it, and not before it was opened again and the gate did."""
        since = self.closed_at if self.closed_by_us else None
        # GitHub's times have whole seconds; within one, the person counts.
        since = since.replace(microsecond=0) if since else None
        return any(h.act == "closed" and (since is None or h.at >= since) for h in hands)

    @property
    def closed_for(self) -> tuple[str, ...]:
        """The rules that the last close of ours was for."""
        closes = [p.effect for p in self.planned if isinstance(p.effect, Close) and not p.observe]
        return closes[-1].rules if closes else ()


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
    pull_state: Literal["open", "draft", "closed"] = "open"
    # Its place in the maintainers' queue; None in decisions of earlier releases.
    turn: Turn | None = None
    # What was answered to the last commands: it stays in the status comment until the next ones.
    answers: tuple[Said, ...] = ()
    # When to look again although nothing happened; None: never.
    due_at: datetime | None = None
