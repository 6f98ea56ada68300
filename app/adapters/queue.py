"""Celery and its broker: how workers are woken up. PostgreSQL holds the work itself.

Redis may be slow, gone or emptied at any time; nothing here makes a caller wait for it for more
than about a second, nor fails.
"""

import time
from collections.abc import Callable
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl, urlencode

import redis
import structlog
from celery import Celery
from kombu.entity import Exchange, Queue

from app.core.errors import RetryLater
from app.core.ports import Task
from app.metrics import BELLS_LOST

# Each stage has its own queue, so that a slow one never holds up the others.
QUEUES: dict[Task, str] = {
    "triage": "triage",
    "perform": "perform",
    "reconcile": "sweep",
    "simulate": "sweep",
    "mail": "mail",
}
_SOCKET_SECONDS = 1.0
_VISIBILITY_SECONDS = 120
_TASK_SECONDS = 90
# So long a failing broker is left alone, lest each request pays for finding out anew.
_QUIET_SECONDS = 5.0

log = structlog.get_logger(__name__)


def task_name(task: Task) -> str:
    """The Celery task that answers to a bell."""
    return f"pulsegate.{task}"


def broker_url(redis_url: str) -> str:
    """A Redis address as Celery wants it: only that of a Unix socket is written differently."""
    scheme, _, rest = redis_url.partition("://")
    if scheme != "unix":
        return redis_url
    path, _, query = rest.partition("?")
    return f"redis+socket://{path}" + _renamed(query, "db", "virtual_host")


def client_url(redis_url: str) -> str:
    """The same address as redis-py wants it."""
    scheme, _, rest = redis_url.partition("://")
    if scheme != "redis+socket":
        return redis_url
    path, _, query = rest.partition("?")
    return f"unix://{path}" + _renamed(query, "virtual_host", "db")


def _renamed(query: str, old: str, new: str) -> str:
    pairs = [(new if name == old else name, value) for name, value in parse_qsl(query)]
    return f"?{urlencode(pairs)}" if pairs else ""


def make_celery(redis_url: str) -> Celery:
    """The Celery application as web, worker and beat share it."""
    made = Celery("pulsegate", broker=broker_url(redis_url), set_as_current=False)
    made.conf.update(
        accept_content=["json"],
        task_serializer="json",
        result_backend=None,
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        # A killed worker's task comes back; each task is safe to run twice.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        task_time_limit=_TASK_SECONDS,
        task_queues=[  # each once, also where it serves several tasks
            Queue(q, Exchange(q), routing_key=q)  # type: ignore[no-untyped-call]
            for q in dict.fromkeys(QUEUES.values())
        ],
        task_default_queue=QUEUES["triage"],
        task_routes={task_name(t): {"queue": q} for t, q in QUEUES.items()},
        task_create_missing_queues=False,
        task_publish_retry=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=_SOCKET_SECONDS,
        broker_transport_options={
            "socket_timeout": _SOCKET_SECONDS,
            "socket_connect_timeout": _SOCKET_SECONDS,
            "visibility_timeout": _VISIBILITY_SECONDS,
            # Without these a publish tries to connect for as long as it takes.
            "max_retries": 0,
            "interval_start": 0,
            "interval_step": 0,
            "interval_max": 0,
        },
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        timezone="UTC",
        enable_utc=True,
    )
    return made


class CeleryDoorbell:
    """Wakes a worker over the broker; see `app.core.ports.Doorbell`. Thread-safe."""

    def __init__(self, redis_url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._celery = make_celery(redis_url)
        self._clock = clock
        # One publish at a time: it takes a fraction of a millisecond, and a broker that hangs
        # costs the first caller a second and the others nothing.
        self._lock = Lock()
        self._quiet_until = float("-inf")

    def ring(self, task: Task, id: int) -> None:
        """See `Doorbell`."""
        if not self._rung(task, id):
            BELLS_LOST.labels(task).inc()

    def _rung(self, task: Task, id: int) -> bool:
        if self._clock() < self._quiet_until or not self._lock.acquire(timeout=_SOCKET_SECONDS):
            return False
        try:
            if self._clock() < self._quiet_until:
                return False
            self._celery.send_task(
                task_name(task), args=(id,), queue=QUEUES[task], retry=False, ignore_result=True
            )
        except Exception as error:  # noqa: BLE001 - whatever Redis, kombu and Celery have
            self._quiet_until = self._clock() + _QUIET_SECONDS
            log.warning("no worker could be woken up", task=task, error=type(error).__name__)
            return False
        finally:
            self._lock.release()
        return True

    def close(self) -> None:
        """Closes the connections."""
        self._celery.close()


class Broker:
    """The broker for others than Celery: whether it lives, and values that live for minutes."""

    def __init__(self, redis_url: str) -> None:
        self.client: Any = redis.Redis.from_url(
            client_url(redis_url),
            socket_timeout=_SOCKET_SECONDS,
            socket_connect_timeout=_SOCKET_SECONDS,
        )

    def ping(self) -> None:
        """Raises `RetryLater` unless it answers."""
        try:
            self.client.ping()
        except (redis.RedisError, OSError) as error:
            raise RetryLater(f"the broker did not answer: {type(error).__name__}") from error

    def close(self) -> None:
        """Closes the connections."""
        self.client.close()
