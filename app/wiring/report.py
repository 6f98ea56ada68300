"""`pulsegate report`: the shadow report on the command line."""

from datetime import UTC, datetime, timedelta

from app.core.errors import UserError
from app.core.report import Report
from app.db import installations, reports
from app.flows.reporting import report_on
from app.settings import Settings
from app.wiring.base import Base


def report(settings: Settings, full_name: str, days: int) -> Report:
    """What each rule did or would have done in the last days, and what became of it."""
    base = Base(settings, pool_size=1)
    try:
        with base.database.begin() as tx:
            owner, _, name = full_name.partition("/")
            where = reports.place_named(tx, owner, name, live_first=True)
            standing = installations.standing(tx, where.id) if where else None
            if where is None or standing is None:
                raise UserError(
                    f"{full_name} is no repository of this Pulsegate", hint="Write owner/name."
                )
            newest = reports.newest(tx, where.id) if where.recorded else None
            until = newest + timedelta(seconds=1) if newest else datetime.now(UTC)
            since = until - timedelta(days=days)
            return report_on(tx, where, standing.policy.mode, since, until)
    finally:
        base.close()
