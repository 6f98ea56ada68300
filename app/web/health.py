"""For machines that look after this one: does it live, can it work, how does it do."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from app.core.errors import RetryLater
from app.core.slo import WINDOWS, Slo
from app.db import bookmarks, inbox, migrate, outbox, reports, slo_report
from app.db.engine import Tx
from app.flows.spending import SPENT
from app.web.deadline import in_time
from app.web.parts import Parts
from app.wiring.web import WebParts

# Name, labels and meaning of each gauge, in the order in which they are answered.
GAUGES = (
    ("pulsegate_database_up", "", "Whether the database answers"),
    ("pulsegate_inbox_pending", "", "Stimuli that wait"),
    ("pulsegate_inbox_troubled", "", "Of these, tried in vain"),
    ("pulsegate_inbox_oldest_seconds", "", "Age of the oldest that is due"),
    ("pulsegate_outbox", "state", "Effects that wait, are under way, or failed"),
    ("pulsegate_over_budget", "", "Pull requests that wait since the day's budget is spent"),
    (
        "pulsegate_first_decision_late",
        "window",
        "Share of pull requests whose first decision came later than the default goal",
    ),
    ("pulsegate_mailbox_unread_seconds", "", "Since the mailbox of proof mails was read (IMAP)"),
)

# For each of the two checks, which a hanging server would otherwise hold up for longer.
_CHECK_SECONDS = 3.0

router = APIRouter()


@router.api_route("/healthz", methods=["GET", "HEAD"])
def healthz() -> dict[str, str]:
    """That the process lives, whatever it lacks."""
    return {"status": "ok"}


@router.api_route("/readyz", methods=["GET", "HEAD"])
async def readyz(response: Response, parts: Parts) -> dict[str, Any]:
    """Whether all that this process needs answers, each named."""
    checks = {
        "database": await _word(lambda: _database(parts)),
        "broker": await _word(lambda: _broker(parts)),
    }
    ready = all(word == "ok" for word in checks.values())
    response.status_code = 200 if ready else 503
    return {"status": "ok" if ready else "not ready", **checks}


async def _word(check: Callable[[], str]) -> str:
    try:
        return await in_time(check, _CHECK_SECONDS)
    except RetryLater as error:
        return error.reason


def _database(parts: WebParts) -> str:
    try:
        with parts.base.database.begin() as tx:
            revision = reports.schema_revision(tx)
    except RetryLater as error:
        return error.reason
    if not migrate.fits(revision):
        return f"the schema is at {revision or 'nothing'}; run: pulsegate db upgrade"
    return "ok"


def _broker(parts: WebParts) -> str:
    try:
        parts.base.broker.ping()
    except RetryLater as error:
        return error.reason
    return "ok"


@router.get("/metrics")
def metrics(parts: Parts) -> Response:
    """Prometheus' text: what this process counted, and the service's gauges from SQL."""
    gauges = CollectorRegistry()
    gauges.register(Gauges(parts))
    text = generate_latest(REGISTRY) + generate_latest(gauges)
    return Response(text, media_type=CONTENT_TYPE_LATEST)


class Gauges(Collector):
    """What waits, as SQL says; the same from every process. Absent while the database is."""

    def __init__(self, parts: WebParts) -> None:
        self._parts = parts

    def describe(self) -> Iterator[Metric]:
        """Nothing: registering must not ask the database."""
        yield from ()

    def _late(self, tx: Tx, ids: list[int], window: timedelta) -> float | None:
        """The share that was late in a window; None where there is nothing to count."""
        limit = Slo().limit("first_decision")
        found = slo_report.share(
            tx, "first_decision", ids, limit=limit, window=window, now=self._parts.clock()
        )
        return 1 - found.met() if found.total else None

    def collect(self) -> Iterator[Metric]:
        """Asks the database once."""
        up, *others = (GaugeMetricFamily(n, t, labels=[x] if x else []) for n, x, t in GAUGES)
        try:
            with self._parts.base.database.begin() as tx:
                waiting = inbox.counts(tx)
                oldest = inbox.oldest_pending_seconds(tx, self._parts.clock())
                effects = outbox.counts(tx)
                ids = [p.id for p in reports.places(tx, recorded=False)]
                over, _ = inbox.waiting(tx, ids, SPENT)
                late = {name: self._late(tx, ids, window) for name, window in WINDOWS.items()}
                read = bookmarks.get(tx, bookmarks.MAILBOX)
        except RetryLater:
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        pending, troubled, age, states, spent, slow, unread = others
        box = self._parts.inbound
        if box is not None and box.kind == "imap" and read is not None:
            unread.add_metric([], (self._parts.clock() - read).total_seconds())
        spent.add_metric([], over)
        for name, share in late.items():
            if share is not None:
                slow.add_metric([name], share)
        pending.add_metric([], waiting["pending"])
        troubled.add_metric([], waiting["troubled"])
        age.add_metric([], oldest)
        for state in ("pending", "doing", "failed"):
            states.add_metric([state], effects.get(state, 0))
        yield from others
