"""The Celery tasks: each takes at most one id, and each may run twice without harm."""

from collections.abc import Callable
from typing import Any

import structlog
from celery import Celery

from app.core.errors import RetryLater, UserError
from app.core.ports import Task
from app.logs import bound
from app.wiring.worker import Flows

log = structlog.get_logger(__name__)


def register(celery: Celery, flows: Callable[[], Flows]) -> None:
    """Names the tasks as the doorbell and the clock ring for them."""
    rung: dict[Task, Callable[[], Callable[[int], Any]]] = {
        "triage": lambda: flows().triage.run,
        "perform": lambda: flows().perform.run,
        "reconcile": lambda: flows().reconcile.run,
        "simulate": lambda: flows().simulate.run,
        "mail": lambda: flows().mailing.run,
    }
    timed: dict[str, Callable[[], Callable[[], Any]]] = {
        "sweep": lambda: flows().sweep.ring,
        "redeliver": lambda: flows().redeliver.run,
        "reconcile_due": lambda: flows().sweep.reconcile,
        "report": lambda: flows().sweep.report,
        "forget": lambda: flows().sweep.forget,
    }
    for name, flow in rung.items():
        celery.task(name=f"pulsegate.{name}", shared=False)(_with_id(name, flow))
    for name_, flow_ in timed.items():
        celery.task(name=f"pulsegate.{name_}", shared=False)(_alone(name_, flow_))


def _with_id(name: str, flow: Callable[[], Callable[[int], Any]]) -> Callable[[int], None]:
    def task(id_: int) -> None:
        _run(name, id_, flow)

    return task


def _alone(name: str, flow: Callable[[], Callable[[], Any]]) -> Callable[[], None]:
    def task() -> None:
        _run(name, None, flow)

    return task


def _run(task: str, id_: int | None, flow: Callable[[], Callable[..., Any]]) -> None:
    """Runs a flow. What fails is written in its row already, so a line in the log is enough."""
    with bound(task=task, id=id_):
        try:
            flow()() if id_ is None else flow()(id_)
        except RetryLater as error:
            log.warning("tried again later", reason=error.reason)
        except UserError as error:
            # Nothing that a later attempt mends: somebody has to change the configuration.
            log.warning("waits until it is mended", reason=error.message, hint=error.hint)
        except Exception:
            log.exception("a fault of ours; the row waits and is tried again")
