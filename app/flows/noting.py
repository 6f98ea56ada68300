"""What a batch of stimuli leaves behind beside its decision: what later decisions read."""

from collections.abc import Sequence
from datetime import datetime

from app.core.audit import Place, trusted
from app.core.decision import Case
from app.core.events import CommentEvent, Event, PullRequestEvent
from app.core.github import Account
from app.core.ports import Task
from app.db import audit, cases, challenges, outbox, trust
from app.db.engine import Tx
from app.db.inbox import Stimulus
from app.db.installations import Standing
from app.flows import waves
from app.flows.evidence import Obeyed

# What authors do to their own pull request, beside writing and pushing.
_BY_AUTHOR = {"edited", "ready_for_review", "converted_to_draft", "reopened"}
# What GitHub lets nobody without triage rights do to another's pull request.
_TEAM_ACTS = {"labeled", "unlabeled", "closed", "reopened", "assigned", "review_requested"}
_TEAM = {"OWNER", "MEMBER", "COLLABORATOR"}


def place_of(standing: Standing, number: int) -> Place:
    """A pull request, as the audit log names it."""
    where = standing.repository
    return Place(installation_id=where.installation_id, repository_id=where.id, number=number)


def note(
    tx: Tx,
    events: Sequence[tuple[Stimulus, Event]],
    row: cases.Row,
    kept: set[int],
    app_login: str | None,
) -> None:
    """Keeps who wrote and acted when, and what our own App did.

    `kept` are the ids of the rows whose state of the pull request was new.
    """
    case_id, author = row.case.id, row.pull.user
    for stimulus, event in events:
        if _is_look(event, author):
            cases.looked(tx, case_id, stimulus.received_at)
        if isinstance(event, CommentEvent) and event.action in {"created", "submitted"}:
            _wrote(tx, event, row, stimulus.received_at)
        elif isinstance(event, PullRequestEvent) and stimulus.id in kept:
            _turned(tx, event, row, app_login)
            sender = event.sender
            by_author = author is not None and sender is not None and sender.id == author.id
            if by_author and event.action in _BY_AUTHOR:
                _acted(tx, case_id, stimulus.received_at)


def _wrote(tx: Tx, event: CommentEvent, row: cases.Row, at: datetime) -> None:
    user, author = event.comment.user, row.pull.user
    if user is None or user.is_app:
        return
    by_author = author is not None and author.id == user.id
    # How soon it came goes by GitHub's own time; a delivery may be hours late.
    challenges.said(
        tx, row.case.id, by_author=by_author, at=event.comment.at or at, body=event.comment.body
    )
    cases.wrote(tx, row.case.id, by_author=by_author, at=at)
    if by_author:
        _acted(tx, row.case.id, at)


def _acted(tx: Tx, case_id: int, at: datetime) -> None:
    cases.acted(tx, case_id, at)
    challenges.acted(tx, case_id, at)


def _turned(tx: Tx, event: PullRequestEvent, row: cases.Row, app_login: str | None) -> None:
    """Keeps whether it was our App: of the newest closing or reopening only."""
    pull, sender = event.pull_request, event.sender
    if pull.state != row.pull.state:
        return
    by_us = sender is not None and sender.is_app and sender.login == app_login
    if event.action == "reopened":
        cases.open_again(tx, row.case.id, pull.updated_at if by_us else None)
    elif event.action == "closed" and by_us:
        cases.closed_by_us(tx, row.case.id, pull.updated_at)


def _is_look(event: Event, author: Account | None) -> bool:
    """Whether a person of the team did something there. GitHub's hint is enough for a figure."""
    if isinstance(event, CommentEvent):
        by, team = event.comment.user, event.comment.author_association in _TEAM
    elif isinstance(event, PullRequestEvent):
        by, team = event.sender, event.action in _TEAM_ACTS
    else:
        return False
    other = by is not None and not by.is_app and (author is None or by.id != author.id)
    return team and other


def keep_obeyed(
    tx: Tx, standing: Standing, case: Case, obeyed: Obeyed, now: datetime
) -> list[tuple[Task, int]]:
    """Stores what commands come to beside the decision; answers whom to wake."""
    if standing.recorded:
        return []
    rings: list[tuple[Task, int]] = []
    for word in obeyed.words:
        if trust.put(tx, standing.repository.id, word.of, word.by.id, word.trust):
            said = trusted(word.by, word.of, word.trust)
            audit.note(tx, place_of(standing, case.number), said)
        cause = f"trust:{case.id}:{word.trust.at.isoformat()}"
        asked = waves.of_account(tx, standing, word.of.id, case.number, cause, now)
        rings += [("triage", id_) for id_ in asked]
    made = outbox.add_reactions(
        tx, case.id, case.number, standing.repository, obeyed.reactions, now
    )
    return rings + [("perform", id_) for id_ in made]
