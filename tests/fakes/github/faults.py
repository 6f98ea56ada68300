"""Ways in which GitHub fails, and when."""

import re
import threading
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tests.fakes.github.routes import DOCS, Answer

Kind = Literal[
    "status",
    "primary_limit",
    "secondary_limit",
    "delay",
    "drop_before",
    "drop_after",
    "status_after",
]


@dataclass
class Fault:
    """One failure: of requests whose method, path and body (regular expressions, the last two
    searched) match.

    - `status`: answers `status` and carries nothing out; `message` is the body's.
    - `primary_limit`: 403 (or `status=429`) with no requests left until `seconds` from now.
    - `secondary_limit`: 403 (or `status=429`) with `retry-after: seconds`.
    - `delay`: waits `seconds` and then goes on as ever; longer than the caller waits = a time-out.
    - `drop_before`: closes the connection without carrying the request out.
    - `drop_after`: carries it out, then closes the connection without an answer.
    - `status_after`: carries it out, then answers `status`.

    The first `skip` matches are let through, then `times` of them fail (None: all of them).
    `hits` counts the failures.
    """

    kind: Kind
    method: str = ".*"
    path: str = ""
    body: str = ""
    skip: int = 0
    times: int | None = 1
    status: int = 0
    seconds: float = 0.0
    message: str = ""
    hits: int = 0
    seen: int = field(default=0, repr=False)

    def matches(self, method: str, path: str, body: str) -> bool:
        """Whether the fault is about this request."""
        return bool(
            re.fullmatch(self.method, method)
            and re.search(self.path, path)
            and re.search(self.body, body)
        )

    def answer(self, reset_at: int) -> Answer:
        """What to answer, for the kinds that answer."""
        if self.kind == "primary_limit":
            words = self.message or "API rate limit exceeded for installation ID 51000000."
            headers = {
                "X-RateLimit-Remaining": "0",
                "X-RateLimit-Reset": str(reset_at + int(self.seconds)),
            }
            return _refusal(self.status or 403, words, headers)
        if self.kind == "secondary_limit":
            words = self.message or "You have exceeded a secondary rate limit. Please wait."
            return _refusal(self.status or 403, words, {"Retry-After": str(int(self.seconds))})
        names = {403: "Forbidden", 404: "Not Found", 429: "Too Many Requests"}
        return _refusal(self.status, self.message or names.get(self.status, "Server Error"), {})

    def as_json(self) -> dict[str, Any]:
        """For `/_faults`."""
        return asdict(self)


def _refusal(status: int, message: str, headers: dict[str, str]) -> Answer:
    if status >= 500:
        # GitHub's load balancers answer with a page, not with JSON.
        page = f"<html><body>{status} {message}</body></html>".encode()
        return Answer(status, page, headers, "text/html; charset=utf-8")
    body = {"message": message, "documentation_url": DOCS, "status": str(status)}
    return Answer(status, body, headers)


class Faults:
    """The faults that are set; the first that matches a request counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[Fault] = []

    def add(self, fault: Fault) -> Fault:
        """Set a fault."""
        with self._lock:
            self._all.append(fault)
        return fault

    def clear(self) -> None:
        """No faults any more."""
        with self._lock:
            self._all.clear()

    def all(self) -> list[Fault]:
        """Those that are set, spent ones included."""
        with self._lock:
            return list(self._all)

    def take(self, method: str, path: str, body: str = "") -> Fault | None:
        """The fault that strikes this request, counted; None where none does."""
        with self._lock:
            for fault in self._all:
                if not fault.matches(method, path, body):
                    continue
                fault.seen += 1
                spent = fault.times is not None and fault.hits >= fault.times
                if fault.seen > fault.skip and not spent:
                    fault.hits += 1
                    return fault
        return None
