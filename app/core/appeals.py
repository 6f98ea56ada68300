"""Appeals: who is asked to answer one, and by when."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from app.core.due_process import Appeals
from app.core.facts import Appeal

_NEVER = datetime.min.replace(tzinfo=UTC)


def opened(config: Appeals, named: str | None, now: datetime) -> Appeal:
    """A new appeal, for `named` to answer by the deadline."""
    return Appeal(at=now, deadline_at=now + timedelta(hours=config.hours), named=named)


def in_turn(
    maintainers: Sequence[str], last_named: Mapping[str, datetime], author: str
) -> list[str]:
    """Whoever was not asked for the longest time first, else in the order of the list.

    `last_named`: when each was last asked. Nobody answers an appeal of their own.
    """
    others = [m for m in maintainers if m.casefold() != author.casefold()]
    return sorted(others, key=lambda m: last_named.get(m, _NEVER))
