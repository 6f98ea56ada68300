"""Worker and clock as Celery runs them."""

import logging
import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from celery import Celery
from celery.platforms import SecurityWarning
from celery.signals import setup_logging, worker_process_init, worker_process_shutdown

from app.adapters.child import die_with_parent
from app.adapters.queue import QUEUES, make_celery
from app.core.errors import UserError
from app.logs import configure
from app.settings import Settings, load
from app.wiring.worker import Flows, WorkerParts
from app.worker.tasks import register

_SWEEP = "sweep"


class _Process:
    """What belongs to one process of the pool: nothing may be shared over a fork."""

    parts: WorkerParts | None = None


def _start(settings: Settings) -> None:
    die_with_parent()
    _Process.parts = WorkerParts(settings)


def _flows() -> Flows:
    if _Process.parts is None:
        raise RuntimeError("the process of the pool was not initialised")
    return _Process.parts.flows()


def _stop() -> None:
    if _Process.parts is not None:
        _Process.parts.close()
        _Process.parts = None


def _celery(settings: Settings) -> Celery:
    if settings.redis_url is None:
        raise UserError(
            "REDIS_URL is not set", hint="Start everything with `pulsegate up`, or name a server."
        )
    made = make_celery(settings.redis_url.get_secret_value())
    register(made, _flows)
    setup_logging.connect(
        lambda **_: configure(settings.log_level, settings.log_format), weak=False
    )
    return made


def run_worker(queues: Sequence[str], concurrency: int) -> None:
    """Serves the queues until SIGTERM; running tasks are finished first.

    Raises `UserError` for a queue that nobody rings for.
    """
    unknown = sorted(set(queues) - set(QUEUES.values()))
    if unknown or not queues:
        known = ", ".join(sorted(set(QUEUES.values())))
        raise UserError(f"unknown queue: {', '.join(unknown)}", hint=f"The queues are: {known}.")
    settings = load()
    celery = _celery(settings)
    # It warns of root because of pickle; ours takes JSON only.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    worker_process_init.connect(lambda **_: _start(settings), weak=False)
    worker_process_shutdown.connect(lambda **_: _stop(), weak=False)
    celery.worker_main(
        [
            "--quiet",
            "worker",
            f"--queues={','.join(queues)}",
            f"--concurrency={concurrency}",
            f"--loglevel={settings.log_level}",
            f"--hostname={'-'.join(queues)}@%h",
            "--pool=prefork",
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
        ]
    )


def schedule(settings: Settings) -> dict[str, Any]:
    """What the clock rings for. A ring that nobody hears before the next one is dropped."""
    every = {
        "sweep": timedelta(seconds=settings.sweep_seconds),
        "redeliver": timedelta(seconds=settings.redeliver_seconds),
        "reconcile_due": timedelta(minutes=10),
        "forget": timedelta(hours=1),
        "report": timedelta(hours=1),
    }
    return {
        name: {
            "task": f"pulsegate.{name}",
            "schedule": interval,
            "options": {"queue": _SWEEP, "expires": interval.total_seconds(), "retry": False},
        }
        for name, interval in every.items()
    }


def _no_fault(record: logging.LogRecord) -> bool:
    """A ring that failed, perhaps since we are being stopped, is no fault: the next one comes."""
    if record.levelno >= logging.ERROR and str(record.msg).startswith("Message Error"):
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.exc_info = None
    return True


def run_beat() -> None:
    """Rings for the periodic work until SIGTERM.

    It keeps nothing on disk: everything due is in the database.
    """
    settings = load()
    celery = _celery(settings)
    celery.conf.beat_schedule = schedule(settings)
    # The clock looks up at least this often, also for a sweep of seconds.
    celery.conf.beat_max_loop_interval = min(
        5.0, settings.sweep_seconds, settings.redeliver_seconds
    )
    logging.getLogger("celery.beat").addFilter(_no_fault)
    celery.start(
        ["--quiet", "beat", "--scheduler=celery.beat:Scheduler", f"--loglevel={settings.log_level}"]
    )
