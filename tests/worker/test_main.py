"""What the clock rings for, and that somebody answers."""

import logging
from datetime import timedelta
from pathlib import Path
from typing import get_args

import yaml
from pydantic import SecretStr

from app.adapters.queue import QUEUES, make_celery, task_name
from app.core.ports import Task
from app.settings import Settings
from app.wiring.up import children
from app.worker.main import _no_fault, schedule
from app.worker.tasks import register

ROOT = Path(__file__).parents[2]
SETTINGS = Settings(_env_file=None, sweep_seconds=7, redeliver_seconds=70)  # type: ignore[call-arg]


def _registered() -> set[str]:
    celery = make_celery("redis://127.0.0.1:1/0")
    register(celery, lambda: None)  # type: ignore[arg-type, return-value]
    return {name for name in celery.tasks if name.startswith("pulsegate.")}


def test_everything_periodic_is_rung_for_and_answered() -> None:
    due = schedule(SETTINGS)
    assert set(due) == {"sweep", "redeliver", "reconcile_due", "forget", "report"}
    assert {entry["task"] for entry in due.values()} <= _registered()
    assert due["sweep"]["schedule"] == timedelta(seconds=7)
    assert due["redeliver"]["schedule"] == timedelta(seconds=70)
    assert all(entry["schedule"] <= timedelta(hours=1) for entry in due.values())


def test_every_bell_has_a_task() -> None:
    assert {task_name(task) for task in get_args(Task)} <= _registered()


MAILING = SETTINGS.model_copy(update={"smtp_url": SecretStr("smtp://127.0.0.1")})


def test_every_queue_is_served_by_up_and_by_compose() -> None:
    rung = {*QUEUES.values(), *(e["options"]["queue"] for e in schedule(SETTINGS).values())}
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    for commands in (
        [child.argv for child in children(MAILING)],
        [service["command"] for service in compose.values() if "command" in service],
    ):
        served = {
            queue
            for command in commands
            if "--queues" in command
            for queue in command[command.index("--queues") + 1].split(",")
        }
        assert served == rung


def test_a_ring_that_fails_is_no_fault() -> None:
    """As when beat is stopped within one."""
    record = logging.makeLogRecord(
        {"levelno": logging.ERROR, "levelname": "ERROR", "msg": "Message Error: %s\n%s"}
    )
    assert _no_fault(record)
    assert record.levelname == "WARNING"
    other = logging.makeLogRecord({"levelno": logging.ERROR, "levelname": "ERROR", "msg": "x"})
    assert _no_fault(other)
    assert other.levelname == "ERROR"
