"""The public activity of an account: its newest events, one request."""

from app.adapters.github.connection import Connection, path
from app.adapters.github.errors import UNREADABLE, narrow
from app.core.errors import RetryLater
from app.core.facts import PublicEvent
from app.core.github import Account, Id, Line, Moment, Narrow

PAGE = 100  # GitHub keeps 300 of the last 30 days; the newest hundred hold the days that count


class _Actor(Narrow):
    id: Id


class _Place(Narrow):
    name: Line = ""


class _Payload(Narrow):
    action: Line = ""


class _Event(Narrow):
    type: Line
    actor: _Actor
    repo: _Place = _Place()
    payload: _Payload = _Payload()
    created_at: Moment


def public_events(github: Connection, account: Account) -> tuple[PublicEvent, ...]:
    """The newest events that GitHub says are of this account's numeric id; see the port."""
    where = path("users", account.login, "events", "public")
    answer = github.read(where, {"per_page": str(PAGE)}, accept=(404,))
    if answer.status == 404:
        return ()  # suspended, or hidden from everybody
    if not isinstance(answer.payload, list):
        raise RetryLater(f"{UNREADABLE} (not a list)")
    events = [narrow(_Event, item) for item in answer.payload[:PAGE]]
    # The login may be somebody else's by now.
    return tuple(
        PublicEvent(
            kind=f"{event.type} {event.payload.action}".strip(),
            repository=event.repo.name,
            at=event.created_at,
        )
        for event in events
        if event.actor.id == account.id
    )
