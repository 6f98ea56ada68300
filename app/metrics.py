"""What this process counts. Gauges of the whole service come from SQL: see `app.web.health`."""

from prometheus_client import Counter, Histogram

DELIVERIES = Counter(
    "pulsegate_deliveries_total", "Webhook deliveries by event and outcome", ("event", "outcome")
)
BELLS_LOST = Counter(
    "pulsegate_bells_lost_total",
    "Times no worker could be woken up; the sweep finds the row",
    ("task",),
)
REQUESTS = Histogram(
    "pulsegate_request_seconds",
    "Seconds from request to the end of the answer",
    ("method", "route", "status"),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
