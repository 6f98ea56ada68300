"""Webhooks that GitHub could not deliver: it does not retry by itself, so we ask it to."""

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.errors import Rejected
from app.core.patience import backoff
from app.core.ports import AppApi, Delivery
from app.db import bookmarks, inbox
from app.db.engine import Database

# GitHub keeps deliveries for three days; what is older is for the reconciliation.
KEPT = timedelta(days=3)
_OVERLAP = timedelta(hours=1)
_MOST_AT_ONCE = 100
_NAME = "deliveries"


@dataclass(frozen=True)
class Redeliver:
    """Compares GitHub's list of deliveries with the inbox. `target` is the id of the App."""

    database: Database
    app: AppApi
    target: Callable[[], str | None]
    clock: Callable[[], datetime]

    def run(self) -> int:
        """Has failed deliveries that we do not have delivered again; answers how many.

        Each is asked for until GitHub forgets it, the longer it fails the more seldom (hourly at
        last), so that also an outage of days loses nothing.

        Raises `RetryLater` where GitHub does not answer; the next run starts where this one did.
        """
        now, target = self.clock(), self.target()
        if target is None:
            return 0
        with self.database.begin() as tx:
            seen_until = bookmarks.get(tx, _NAME)
        since = max(now - KEPT, (seen_until or now - KEPT) - _OVERLAP)
        attempts: dict[str, list[Delivery]] = defaultdict(list)
        for delivery in self.app.deliveries(since):
            attempts[delivery.guid].append(delivery)
        missed = self._missed(attempts, target)
        due = [d for d in missed if now >= d.delivered_at + _wait(len(attempts[d.guid]))]
        for delivery in due[:_MOST_AT_ONCE]:
            # One that GitHub refuses (it forgot it, say) must not hold up those behind it.
            with suppress(Rejected):
                self.app.redeliver(delivery.id)
        # What is missing stays in sight until it is here or GitHub has forgotten it.
        with self.database.begin() as tx:
            bookmarks.put(tx, _NAME, min([now, *(d.delivered_at for d in missed)]))
        return min(len(due), _MOST_AT_ONCE)

    def _missed(self, attempts: dict[str, list[Delivery]], target: str) -> list[Delivery]:
        """The newest attempt of each delivery that never arrived, the oldest delivery first."""
        failed = {guid: tries for guid, tries in attempts.items() if not any(t.ok for t in tries)}
        with self.database.begin() as tx:
            here = inbox.known(tx, "github", [f"{target}:{guid}" for guid in failed])
        newest = [
            max(tries, key=lambda t: t.delivered_at)
            for guid, tries in failed.items()
            if f"{target}:{guid}" not in here
        ]
        return sorted(newest, key=lambda t: t.delivered_at)


def _wait(tries: int) -> timedelta:
    """How long to leave it alone: the first redelivery is asked for at once."""
    return backoff(tries - 1) if tries > 1 else timedelta()
