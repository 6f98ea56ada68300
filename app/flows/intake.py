"""A delivery comes in: stored once, committed, and only then answered and rung for."""

from datetime import datetime

from app.core.errors import UserError
from app.core.events import Address, address
from app.core.fact import Fact
from app.core.ports import Doorbell
from app.db import inbox
from app.db.engine import Database


class Incoming(Fact):
    """A webhook delivery whose signature is good. `target` is the id of the App it was sent for."""

    event: str
    guid: str
    target: str
    payload: object


class Accepted(Fact):
    """What became of a delivery. `inbox_id` is None where it was seen before."""

    inbox_id: int | None
    where: Address


def accept(database: Database, doorbell: Doorbell, incoming: Incoming, now: datetime) -> Accepted:
    """Commits a delivery to the inbox, then wakes a worker up.

    Raises `RetryLater` where the database is out of reach and `UserError` where the delivery has
    no name or GUID.
    """
    if not incoming.event or not incoming.guid:
        raise UserError(
            "the delivery has no X-GitHub-Event or no X-GitHub-Delivery header",
            hint="Point the GitHub App's webhook at this address; nothing else may post here.",
        )
    where = address(incoming.event, incoming.payload)
    with database.begin() as tx:
        made = inbox.add(
            tx,
            source="github",
            key=f"{incoming.target}:{incoming.guid}"[:200],
            event=incoming.event[:80],
            payload=incoming.payload,
            address=where,
            now=now,
        )
    if made is not None:
        doorbell.ring("triage", made)
    return Accepted(inbox_id=made, where=where)
