"""A repository's past pull requests as a recording, so that each is decided as of its own day."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from app.core.github import PullRequest, Repository
from app.core.rules import RULES

# What history does not hold; said with every report of it.
UNKNOWN = (
    "Titles and descriptions are as they stand now, not as they were on the day.",
    "Who is on the team is what GitHub says today; permissions of then are nowhere.",
    "What was before the oldest of these pull requests is not known, so that authors may count as "
    "newcomers who were none.",
    "Comments are not read: whether authors answered is not known.",
)


def unjudged() -> tuple[str, ...]:
    """The rules that history says nothing of: they read what a pull request changes."""
    return tuple(rule.name for rule in RULES if rule.needs)


def recording(
    repository: Repository, pulls: Iterable[PullRequest], policy: str | None
) -> Iterator[str]:
    """Lines of a recording (`core.recording`), in the order in which it all happened."""
    policies = {repository.full_name: policy} if policy else {}
    yield json.dumps({"recording": 1, "note": "backtest", "policies": policies})
    turns: list[tuple[datetime, int, str, PullRequest]] = []
    for pull in pulls:
        turns.append((pull.created_at, pull.number, "opened", _as_opened(pull)))
        if pull.state == "closed":
            turns.append((pull.merged_at or pull.updated_at, pull.number, "closed", pull))
    for at, number, action, pull in sorted(turns, key=lambda t: (t[0], t[1], t[2] != "opened")):
        yield json.dumps(
            {
                "at": at.isoformat(),
                "event": "pull_request",
                "guid": f"{number}:{action}",
                "payload": _payload(repository, action, at, pull),
            }
        )


def _as_opened(pull: PullRequest) -> PullRequest:
    """The pull request on its first day, as far as that is known."""
    then: dict[str, Any] = {"state": "open", "merged": False, "merged_at": None, "labels": ()}
    return pull.model_copy(update={**then, "locked": False, "updated_at": pull.created_at})


def _payload(
    repository: Repository, action: str, at: datetime, pull: PullRequest
) -> dict[str, Any]:
    shown = pull.model_copy(update={"updated_at": at}) if action == "closed" else pull
    return {
        "action": action,
        "number": pull.number,
        "pull_request": shown.model_dump(mode="json"),
        "repository": repository.model_dump(mode="json"),
        # Whoever closed it is not in the list; a merge names nobody either.
        "sender": None,
        "installation": {"id": 1},
    }
