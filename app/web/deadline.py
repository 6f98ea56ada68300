"""An answer in time, also where what it waits for hangs."""

from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread

from app.core.errors import RetryLater

T = TypeVar("T")

# GitHub gives a delivery up after ten seconds, and a load balancer a check after less.
SECONDS = 8.0


async def in_time(work: Callable[[], T], seconds: float = SECONDS) -> T:
    """Does blocking work in a thread; raises `RetryLater` where it is not done after so long.

    The thread is left to itself: a commit that still succeeds is found as seen before. Waiting for
    a free thread counts as well, so that those behind a hanging database have their answer too.
    """
    with anyio.move_on_after(seconds):
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    raise RetryLater(f"no answer from the database or broker within {seconds:g} seconds")
