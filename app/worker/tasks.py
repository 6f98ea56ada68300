"""The Celery tasks: each takes at most one id, and each may run twice without harm."""

from collections.abc import Callable
from typing import Any

import structlog
from celery import Celery

from app.core.errors import RetryLater, UserError
from app.logs import bound
from app.wiring.worker import Flows

log = structlog.get_logger(__name__)


def register(celery: Celery, flows: Callable[[], Flows]) -> None:
    """Names the tasks as the doorbell and the clock ring for them."""

    @celery.task(name="pulsegate.triage", shared=False)  # type: ignore[untyped-decorator]
    def triage(inbox_id: int) -> None:
        _run("triage", inbox_id, lambda: flows().triage.run)

    @celery.task(name="pulsegate.perform", shared=False)  # type: ignore[untyped-decorator]
    def perform(effect_id: int) -> None:
        _run("perform", effect_id, lambda: flows().perform.run)

    @celery.task(name="pulsegate.reconcile", shared=False)  # type: ignore[untyped-decorator]
    def reconcile(installation_id: int) -> None:
        _run("reconcile", installation_id, lambda: flows().reconcile.run)

    @celery.task(name="pulsegate.simulate", shared=False)  # type: ignore[untyped-decorator]
    def simulate(simulation_id: int) -> None:
        _run("simulate", simulation_id, lambda: flows().simulate.run)

    @celery.task(name="pulsegate.sweep", shared=False)  # type: ignore[untyped-decorator]
    def sweep() -> None:
        _run("sweep", None, lambda: flows().sweep.ring)

    @celery.task(name="pulsegate.redeliver", shared=False)  # type: ignore[untyped-decorator]
    def redeliver() -> None:
        _run("redeliver", None, lambda: flows().redeliver.run)

    @celery.task(name="pulsegate.reconcile_due", shared=False)  # type: ignore[untyped-decorator]
    def reconcile_due() -> None:
        _run("reconcile_due", None, lambda: flows().sweep.reconcile)

    @celery.task(name="pulsegate.report", shared=False)  # type: ignore[untyped-decorator]
    def report() -> None:
        _run("report", None, lambda: flows().sweep.report)

    @celery.task(name="pulsegate.forget", shared=False)  # type: ignore[untyped-decorator]
    def forget() -> None:
        _run("forget", None, lambda: flows().sweep.forget)


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
