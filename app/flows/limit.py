"""The last rung: after many closes in a short time, GitHub's own limit on the whole repository."""

from datetime import datetime, timedelta

from app.core.effects import LimitInteractions
from app.core.modes import Mode
from app.db import outbox
from app.db.engine import Tx
from app.db.installations import Standing

PERMISSION = "administration"


def limit_after_close(tx: Tx, standing: Standing, now: datetime) -> None:
    """Plans the limit where the last minutes had so many closes of ours; once for its time.

    Without the optional grant there is nothing to plan. The sweep rings for it.
    """
    limit = standing.policy.ladder.limit
    if limit is None or standing.policy.mode < Mode.CLOSE:
        return
    if standing.permissions.get(PERMISSION) != "write":
        return
    since = now - timedelta(minutes=limit.minutes)
    if outbox.closes_since(tx, standing.repository.id, since) < limit.closes:
        return
    outbox.add_loose(
        tx,
        # Whatever its time, one limit a day: what a maintainer took off again stays off till then.
        key=f"limit:{standing.repository.id}:{now:%Y-%m-%d}",
        repository=standing.repository,
        effect=LimitInteractions(group=limit.group, expiry=limit.expiry),
        sha="",
        now=now,
    )
