"""`pulsegate audit`: the audit log on the command line."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from app.core.errors import UserError
from app.db import audit, reports
from app.settings import Settings
from app.wiring.base import Base


def export(settings: Settings, since: str, repository: str) -> Iterator[dict[str, Any]]:
    """All entries, in order. `UserError` for a date or repository that is none."""
    began = _date(since) if since else None
    base = Base(settings, pool_size=1)
    try:
        where = _repository(base, repository) if repository else None
        yield from audit.pages(base.database.begin, since=began, repository_id=where)
    finally:
        base.close()


def erase(settings: Settings, who: str) -> int:
    """Forgets whom a pseudonym means; answers how many were known."""
    base = Base(settings, pool_size=1)
    try:
        with base.database.begin() as tx:
            return audit.erase(tx, who)
    finally:
        base.close()


def _date(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(f"{text!r} is no date", hint="Write it as 2026-12-01.") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _repository(base: Base, full_name: str) -> int:
    owner, _, name = full_name.partition("/")
    with base.database.begin() as tx:
        found = reports.place_named(tx, owner, name, live_first=True)
    if found is None:
        raise UserError(f"{full_name} is no repository of this Pulsegate", hint="Write owner/name.")
    return found.id
