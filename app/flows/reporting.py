"""The shadow report: on demand, and once a week as a comment on an issue."""

from datetime import datetime, timedelta

from app.core.due_process import WEEKDAYS
from app.core.effects import Announce
from app.core.facts import RepositoryRef
from app.core.modes import Mode
from app.core.report import Report, as_markdown, report
from app.db import installations, outbox, outcomes
from app.db.engine import Database, Tx

WEEK = timedelta(days=7)
MOST_LATE = 2  # days


def report_on(tx: Tx, where: RepositoryRef, mode: Mode, since: datetime, until: datetime) -> Report:
    """The report on one repository."""
    return report(
        where.full_name,
        since,
        until,
        mode,
        outcomes.opened(tx, where.id, since, until),
        outcomes.of(tx, where.id, since, until),
    )


def weekly(database: Database, site: str, now: datetime) -> list[int]:
    """Plans the reports that are due; answers the effects' ids. Once for each week.

    One whose day we slept through is made up for within two days.
    """
    made: list[int] = []
    with database.begin() as tx:
        wanted = installations.reporting(tx)
    for standing in wanted:
        where = standing.repository
        late = (now.weekday() - WEEKDAYS.index(standing.policy.report.weekday)) % 7
        if late > MOST_LATE:
            continue
        until = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=late)
        with database.begin() as tx:
            key = f"report:{where.id}:{until:%Y-%m-%d}"
            if outbox.has(tx, key):
                continue
            found = report_on(tx, where, standing.policy.mode, until - WEEK, until)
            body = as_markdown(found, f"{site}/reports/{where.full_name}")
            effect = Announce(
                issue=standing.policy.report.issue, title="Pulsegate's weekly report", body=body
            )
            id_ = outbox.add_loose(tx, key=key, repository=where, effect=effect, sha="", now=now)
            made += [id_] if id_ is not None else []
    return made
