"""How long to wait before the same work is tried again."""

from datetime import timedelta

_FIRST = timedelta(seconds=5)
_MOST = timedelta(hours=1)


def backoff(attempts: int, asked: timedelta | None = None) -> timedelta:
    """The wait after so many failures: doubling from 5 s to an hour, never under what was asked."""
    doublings = min(max(attempts - 1, 0), 12)
    wait = min(_FIRST * (1 << doublings), _MOST)
    return max(wait, asked) if asked is not None else wait
