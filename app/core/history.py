"""A repository's past pull requests as a recording, so that each is decided as of its own day."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from app.core.change import Change
from app.core.github import PullRequest, Repository
from app.core.past import Past, change_as_of
from app.core.rules import RULES

BEFORE = (
    "What was before the oldest of these pull requests is not known, so that authors may count as "
    "newcomers who were none."
)
WAITS = (
    "Nobody is waited for: a rule that closes after days without an answer shows as *would ask*."
)
# What history does not hold; said with every report of it.
UNKNOWN = (
    "Titles and descriptions are as they stand now, not as they were on the day.",
    "Who is on the team is what GitHub says today; permissions of then are nowhere.",
    BEFORE,
    "Comments are not read: whether authors answered is not known.",
    WAITS,
    "Templates, and what lies at the top of the repository, are as they stand now.",
)


def unjudged(known: int, total: int) -> str:
    """Which rules were not judged on how many pull requests, as a sentence; "" for none.

    They read what a pull request changes, which is `known` of those that nobody pushed to later.
    """
    if known >= total:
        return ""
    rules = ", ".join(rule.name for rule in RULES if rule.needs)
    return (
        f"What was changed on the day is known of {known} pull requests out of {total}. On the "
        f"others (pushed to later, or not read) these rules were not judged: {rules}."
    )


def _change(pull: PullRequest, past: Mapping[int, Past]) -> Change | None:
    known = past.get(pull.number)
    return change_as_of(known, pull.created_at) if known else None


def recording(
    repository: Repository,
    pulls: Iterable[PullRequest],
    policy: str | None,
    past: Mapping[int, Past],
) -> Iterator[str]:
    """Lines of a recording (`core.recording`), in the order in which it all happened.

    `past`: what they changed, by number, as far as that was read.
    """
    policies = {repository.full_name: policy} if policy else {}
    yield json.dumps({"recording": 1, "note": "backtest", "policies": policies})
    turns: list[tuple[datetime, int, str, PullRequest]] = []
    for pull in pulls:
        turns.append((pull.created_at, pull.number, "opened", _as_opened(pull)))
        if pull.state == "closed":
            turns.append((pull.merged_at or pull.updated_at, pull.number, "closed", pull))
    for at, number, action, pull in sorted(turns, key=lambda t: (t[0], t[1], t[2] != "opened")):
        change = _change(pull, past) if action == "opened" else None
        yield json.dumps(
            {
                "at": at.isoformat(),
                "event": "pull_request",
                "guid": f"{number}:{action}",
                "payload": _payload(repository, action, at, pull),
                **({"change": change.model_dump(mode="json")} if change else {}),
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
