"""From pending stimuli to facts: what was seen, who did it by hand, what was asked for.

Reads of GitHub are few and outside any transaction; each may raise `RetryLater`, and then nothing
is decided.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from app.core.effects import React
from app.core.events import (
    Again,
    CheckRunEvent,
    CommentEvent,
    Event,
    PullRequestEvent,
    Unread,
    parse,
)
from app.core.facts import Hand, HandAct, Request, Role, Trust
from app.core.github import Account
from app.core.ports import Reader
from app.core.said import Sentence
from app.db import cases, people
from app.db.engine import Database
from app.db.inbox import Stimulus
from app.db.installations import Standing

_BY_HAND: dict[str, HandAct] = {
    "labeled": "labeled",
    "unlabeled": "unlabeled",
    "closed": "closed",
    "reopened": "reopened",
}
DISMISS = "dismiss"


def event_of(row: Stimulus) -> Event:
    """A stored stimulus as a typed event."""
    if row.source == "again":
        return Again(name="again", reason=str((row.payload or {}).get("reason", "")))
    if row.problem:
        where = row.installation_id
        return Unread(name=row.event, installation_id=where, problem=row.problem)
    return parse(row.event, row.payload)


@dataclass
class Word:
    """A maintainer's word on an account, to be stored."""

    of: Account
    by: Account
    trust: Trust


@dataclass
class Obeyed:
    """What the commands of a batch come to."""

    words: list[Word] = field(default_factory=list)
    reactions: list[React] = field(default_factory=list)
    answers: list[Sentence] = field(default_factory=list)
    # Who is asked to answer an appeal.
    named: str | None = None


@dataclass
class Evidence:
    """What a batch of stimuli says about one pull request.

    `material` is True where something happened that may change the decision.
    """

    hands: list[Hand] = field(default_factory=list)
    # Whether somebody of the team asked for something in a comment.
    by_team: bool = False
    requests: list[Request] = field(default_factory=list)
    obeyed: Obeyed = field(default_factory=Obeyed)
    material: bool = False
    force: bool = False
    # When the author pushed which head; whether that was work of theirs shows in what they pushed.
    pushes: list[tuple[datetime, str]] = field(default_factory=list)


Take = Callable[[Stimulus, CommentEvent, Evidence], None]


@dataclass(frozen=True)
class Roles:
    """Live permission of accounts on one repository, through the cache of minutes."""

    database: Database
    reader: Reader
    standing: Standing
    now: datetime

    def of(self, account: Account) -> Role | None:
        """The permission; None where a recording does not say."""
        if self.standing.roles is not None:
            return self.standing.roles.get(account.id)
        repository = self.standing.repository
        kept = self._kept(account)
        if kept is not None:
            return kept
        # The workers of a burst ask once together; one that waits in vain asks by itself.
        with self.database.lock(f"role:{repository.id}:{account.id}"):
            kept = self._kept(account)
            if kept is not None:
                return kept
            found = self.reader.role(repository, account)
            with self.database.begin() as tx:
                people.keep_role(tx, repository.id, account.id, found, self.now)
        return found

    def _kept(self, account: Account) -> Role | None:
        with self.database.begin() as tx:
            return people.role(tx, self.standing.repository.id, account.id, self.now)

    def is_team(self, account: Account) -> bool:
        """Whether the account has triage rights or more; apps are nobody's hand."""
        if account.is_app:
            return False
        role = self.of(account)
        return role is not None and role >= Role.TRIAGE


def gather(
    events: Sequence[tuple[Stimulus, Event]],
    row: cases.Row,
    kept: set[int],
    roles: Roles,
    take: Take,
) -> Evidence:
    """Reads a batch. `kept` are the ids of the rows whose state of the pull request was new.

    `take` reads the commands of a comment.
    """
    evidence = Evidence()
    for stimulus, event in events:
        if isinstance(event, PullRequestEvent):
            # A comment that came first showed us a newer state, but nothing was decided then.
            evidence.material |= stimulus.id in kept or row.case.version == 0
            _by_hand(event, roles.standing.policy.label, roles, evidence)
            author, sender = event.pull_request.user, event.sender
            if event.action == "synchronize" and author and sender and sender.id == author.id:
                evidence.pushes.append((stimulus.received_at, event.pull_request.head.sha))
        elif isinstance(event, CommentEvent):
            take(stimulus, event, evidence)
        elif isinstance(event, CheckRunEvent):
            _pressed(event, stimulus.received_at, roles, evidence)
        elif isinstance(event, Again):
            evidence.material = True
    obeyed = evidence.obeyed
    evidence.material |= bool(
        evidence.hands or evidence.requests or obeyed.answers or obeyed.words or evidence.force
    )
    return evidence


def _by_hand(event: PullRequestEvent, label: str, roles: Roles, evidence: Evidence) -> None:
    act = _BY_HAND.get(event.action)
    sender, author = event.sender, event.pull_request.user
    if act is None or sender is None or sender.is_app:
        return
    # GitHub knows a label in whatever case it was made, and finds it in any.
    named = event.label.name.casefold() if event.label else None
    if act in {"labeled", "unlabeled"} and named != label.casefold():
        return
    if act == "closed" and event.pull_request.is_merged:
        return
    # What authors do to their own pull request is no maintainer's word on it.
    if author is not None and sender.id == author.id and act in {"closed", "reopened"}:
        return
    if roles.is_team(sender):
        when = event.pull_request.updated_at
        evidence.hands.append(Hand(act=act, account_id=sender.id, login=sender.login, at=when))


def _pressed(event: CheckRunEvent, at: datetime, roles: Roles, evidence: Evidence) -> None:
    sender = event.sender
    if event.action == "rerequested":
        evidence.force = True
    wanted = event.requested_action and event.requested_action.identifier == DISMISS
    if event.action == "requested_action" and wanted and sender and roles.is_team(sender):
        evidence.hands.append(
            Hand(act="dismissed", account_id=sender.id, login=sender.login, at=at)
        )
