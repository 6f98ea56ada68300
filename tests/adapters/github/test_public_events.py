"""What GitHub may answer to the question what an account did in public."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.adapters.github.reader import GitHubReader
from app.core.errors import RetryLater
from app.core.facts import PublicEvent, RepositoryRef
from app.core.github import Account
from tests.adapters.github.scripted import Reply, Scripted

SOMEBODY = Account(id=7, login="some[bot]")


def event(actor: int = 7, **more: Any) -> dict[str, Any]:
    return {
        "type": "PullRequestEvent",
        "actor": {"id": actor, "login": "some[bot]"},
        "repo": {"name": "acme/\u202ewidgets"},
        "payload": {"action": "opened"},
        "created_at": "2026-05-01T12:00:00Z",
        **more,
    }


def test_only_what_the_account_itself_did_counts(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef
) -> None:
    push = event(type="PushEvent", payload={})
    scripted.on("GET", "/users/some%5Bbot%5D/events/public$", Reply(200, [event(), event(8), push]))
    at = datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert reader.activity(repository, SOMEBODY) == (
        PublicEvent(kind="PullRequestEvent opened", repository="acme/widgets", at=at),
        PublicEvent(kind="PushEvent", repository="acme/widgets", at=at),
    )


def test_one_whom_github_does_not_show_did_nothing(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef
) -> None:
    scripted.on("GET", "/events/public$", Reply(404, {"message": "Not Found"}))
    assert reader.activity(repository, SOMEBODY) == ()


@pytest.mark.parametrize(
    "payload", [{}, [5], [event(created_at="soon")], [event() | {"actor": {}}]]
)
def test_what_is_no_list_of_events_is_not_read(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef, payload: Any
) -> None:
    scripted.on("GET", "/events/public$", Reply(200, payload))
    with pytest.raises(RetryLater):
        reader.activity(repository, SOMEBODY)
