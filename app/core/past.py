"""What a pull request changed on the day it was opened, from what GitHub tells of it later."""

from datetime import datetime
from typing import Literal

from app.core.change import Change, LinkedIssue
from app.core.fact import Fact

TurnKind = Literal["labeled", "unlabeled", "assigned", "unassigned", "closed", "reopened"]


class Turn(Fact):
    """One event of an issue. `label` and `account_id` as far as the kind has one."""

    at: datetime
    kind: TurnKind
    label: str = ""
    account_id: int | None = None


class PastIssue(Fact):
    """A linked issue as it is now, with how it became so. `complete`: no event was left out."""

    issue: LinkedIssue
    created_at: datetime | None
    turns: tuple[Turn, ...] = ()
    complete: bool = True


class Past(Fact):
    """A pull request's change as of its last head, and what tells whether that was its first.

    `committed_at`: of the newest commit; `forced`: whether its branch was ever pushed by force.
    """

    number: int
    change: Change
    committed_at: datetime | None = None
    forced: bool = False
    issues: tuple[PastIssue, ...] | None = ()


def change_as_of(past: Past, at: datetime) -> Change | None:
    """The change at that moment; None where it was pushed to later, so that nobody knows it.

    Templates and the top of the tree are as they stand now.
    """
    if past.forced or past.committed_at is None or past.committed_at > at:
        return None
    return past.change.model_copy(update={"issues": _issues(past, at)})


def _issues(past: Past, at: datetime) -> tuple[LinkedIssue, ...] | None:
    found = []
    for one in past.issues or ():
        if one.created_at is None or not one.complete:
            return None
        if one.created_at <= at:
            found.append(_issue(one, at))
    return None if past.issues is None else tuple(found)


def _issue(past: PastIssue, at: datetime) -> LinkedIssue:
    labels: dict[str, None] = {}
    assignees: dict[int, None] = {}
    is_open = True
    for turn in sorted(past.turns, key=lambda t: t.at):
        if turn.at > at:
            break
        match turn.kind:
            case "labeled":
                labels[turn.label] = None
            case "unlabeled":
                labels.pop(turn.label, None)
            case "assigned" if turn.account_id is not None:
                assignees[turn.account_id] = None
            case "unassigned" if turn.account_id is not None:
                assignees.pop(turn.account_id, None)
            case "closed" | "reopened":
                is_open = turn.kind == "reopened"
    then = {"labels": tuple(labels), "assignees": tuple(assignees), "open": is_open}
    return past.issue.model_copy(update=then)
