"""Appeals: who is asked to answer one, and by when."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from app.core.due_process import Appeals
from app.core.facts import Appeal

_NEVER = datetime.min.replace(tzinfo=UTC)


def opened(
    config: Appeals, last_named: Mapping[str, datetime], author: str, now: datetime
) -> Appeal:
    """A new appeal: the maintainer whose turn it is, and the deadline.

    `last_named`: when each was last asked. Nobody answers an appeal of their own.
    """
    named = turn([m for m in config.maintainers if m.casefold() != author.casefold()], last_named)
    return Appeal(at=now, deadline_at=now + timedelta(hours=config.hours), named=named)


def turn(maintainers: Sequence[str], last_named: Mapping[str, datetime]) -> str | None:
    """Whoever was not asked for the longest time, in the order of the list; None for nobody."""
    return min(maintainers, key=lambda m: last_named.get(m, _NEVER), default=None)
