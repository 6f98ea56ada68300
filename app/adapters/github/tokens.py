"""Installation tokens, shared by all workers and sealed at rest.

githubkit's own token flow is not used: it parses the answer into its full models, refuses dates
with milliseconds, names no API version, and stores tokens in clear.
"""

import re
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Protocol

import redis
from githubkit.cache import BaseCache

# After a fault Redis is left alone for so long (seconds), so that its own time-out is not paid
# again by every request.
PAUSE = 30.0
_PRINTABLE = re.compile(r"[\x21-\x7e]{1,4096}")


class KeyValue(Protocol):
    """What is needed of a Redis client, which should have short socket time-outs (a second)."""

    def get(self, name: str) -> Any:
        """The value, or None."""

    def set(self, name: str, value: str, ex: timedelta) -> Any:
        """Keep the value for `ex`."""

    def delete(self, *names: str) -> Any:
        """Forget the values."""


class Memory(BaseCache):
    """Texts of this process until they expire. `clock` is monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[str, float]] = {}

    def get(self, key: str) -> str | None:
        value, until = self._kept.get(key, ("", float("-inf")))
        return value if self._clock() < until else None

    def set(self, key: str, value: str, ex: timedelta) -> None:
        now = self._clock()
        kept = {k: v for k, v in self._kept.items() if now < v[1]}
        self._kept = {**kept, key: (value, now + ex.total_seconds())}

    def drop(self, key: str) -> None:
        """Forget one."""
        self._kept.pop(key, None)


class TokenStore:
    """Tokens by key until they expire. A fault of Redis never fails a call: memory takes over.

    `seal` and `unseal` encrypt and decrypt text (Fernet, say); whatever `unseal` refuses counts as
    absent, so that a changed key only costs a new token. `clock` is monotonic seconds.
    """

    def __init__(
        self,
        shared: KeyValue | None,
        *,
        seal: Callable[[str], str],
        unseal: Callable[[str], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shared = shared
        self._seal = seal
        self._unseal = unseal
        self._clock = clock
        self._memory = Memory(clock)
        self._paused_until = float("-inf")

    def get(self, key: str) -> str | None:
        """The token, or None where there is none that can be used."""
        sealed = self._ask(lambda shared: shared.get(key))
        text = sealed.decode("ascii", "replace") if isinstance(sealed, bytes) else sealed
        if not isinstance(text, str):
            return self._memory.get(key)
        try:
            token = self._unseal(text)
        except Exception:  # noqa: BLE001 - each cipher has its own error; all of them mean "absent"
            return None
        return token if is_token(token) else None

    def put(self, key: str, token: str, keep: timedelta) -> None:
        """Keep a token for so long; one that lives less than a minute more is not worth it."""
        if keep < timedelta(minutes=1):
            return
        if self._ask(lambda shared: shared.set(key, self._seal(token), ex=keep)) is None:
            self._memory.set(key, token, keep)

    def drop(self, key: str) -> None:
        """Forget a token everywhere."""
        self._memory.drop(key)
        self._ask(lambda shared: shared.delete(key))

    def _ask(self, question: Callable[[KeyValue], Any]) -> Any:
        """Redis's answer, or None where it is absent or does not work."""
        if self._shared is None or self._clock() < self._paused_until:
            return None
        try:
            return question(self._shared)
        except (redis.RedisError, OSError):
            self._paused_until = self._clock() + PAUSE
            return None


def is_token(text: object) -> bool:
    """Whether the text can stand in a header; what cannot is no token of GitHub."""
    return isinstance(text, str) and _PRINTABLE.fullmatch(text) is not None
