"""GitHub's refusals as the three cases that a flow knows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from app.core.errors import Rejected, RetryLater
from app.core.text import one_line

UNREADABLE = "GitHub answered something we cannot read"
SUSPENDED = "the installation is suspended; its owner can lift that in GitHub's settings"
SHORTEST = timedelta(seconds=1)
LONGEST = timedelta(hours=1)
# GitHub asks for at least a minute where it names no time.
UNNAMED = timedelta(minutes=1)

# A 403 is for good only where its message says so. All others (SSO, allow lists, limits that do
# not name themselves) may pass, and an error is never guilt.
_FOR_GOOD = re.compile(
    r"resource not accessible|\blocked\b|was archived|must have (admin|push|write)"
)
# 4xx answers that say nothing about the request itself.
_PASSING = {408, 409, 425}

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Answer:
    """What GitHub answered: status, JSON body (None where there is none), `Link` as queries."""

    status: int
    payload: Any = None
    links: Mapping[str, dict[str, str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """GitHub's own words on a refusal, on one line; empty where it gave none."""
        if not isinstance(self.payload, dict):
            return ""
        parts = [self.payload.get("message")]
        errors = self.payload.get("errors")
        listed = errors[:5] if isinstance(errors, list) else []
        parts += [_words(error) if isinstance(error, dict) else error for error in listed]
        return one_line("; ".join(p for p in parts if isinstance(p, str) and p), 300)


def _words(error: Mapping[str, Any]) -> str:
    message = error.get("message")
    if isinstance(message, str):
        return message
    return " ".join(str(error[k]) for k in ("resource", "field", "code") if k in error)


def narrow(model: type[Model], payload: object, *, maybe_done: bool = False) -> Model:
    """The payload as a narrow type; `RetryLater` where it does not fit."""
    try:
        return model.model_validate(payload)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        spot = ".".join(str(part) for part in first["loc"])
        reason = one_line(f"{UNREADABLE} ({spot}: {first['msg']})")
        raise RetryLater(reason, maybe_done=maybe_done) from None


def failure(answer: Answer, *, write: bool, now: datetime) -> RetryLater | Rejected:
    """The error that an answer other than 2xx means. `write` is whether it may have acted."""
    status, said = answer.status, answer.message
    reason = f"GitHub answered {status}" + (f": {said}" if said else "")
    limited = _limit(answer, now)
    if limited is not None:
        return RetryLater(f"GitHub asks to wait ({reason})", after=limited)
    if status == 401:
        return RetryLater(f"GitHub does not accept the App's credentials ({reason})")
    if status == 403:
        return _forbidden(answer, reason)
    if status >= 500:
        return RetryLater(reason, after=_retry_after(answer, now), maybe_done=write)
    if status in _PASSING or status < 400:
        return RetryLater(reason)
    return Rejected(reason, status=status)


def _forbidden(answer: Answer, reason: str) -> RetryLater | Rejected:
    said = answer.message.lower()
    if "suspended" in said:
        return RetryLater(SUSPENDED)
    if _FOR_GOOD.search(said):
        needed = one_line(answer.headers.get("x-accepted-github-permissions"), 100)
        return Rejected(reason + (f" (needs {needed})" if needed else ""), status=403)
    return RetryLater(reason)


def _limit(answer: Answer, now: datetime) -> timedelta | None:
    """How long to wait where the answer is a rate limit; None where it is none."""
    said = answer.message.lower()
    if answer.status == 422 and "submitted too quickly" in said:
        return UNNAMED
    if answer.status not in {403, 429}:
        return None
    named = _retry_after(answer, now)
    if named is not None:
        return named
    if "secondary rate" in said or "abuse" in said:
        return UNNAMED
    if answer.headers.get("x-ratelimit-remaining") == "0":
        return _until_reset(answer.headers.get("x-ratelimit-reset"), now)
    return UNNAMED if answer.status == 429 or "rate limit" in said else None


def _until_reset(value: str | None, now: datetime) -> timedelta:
    try:
        reset = datetime.fromtimestamp(int(value or ""), UTC)
    except (ValueError, OverflowError, OSError):
        return UNNAMED
    return _bounded(reset - now + SHORTEST)


def _retry_after(answer: Answer, now: datetime) -> timedelta | None:
    """`Retry-After` in seconds or as a date; a minute where it cannot be read."""
    value = answer.headers.get("retry-after")
    if value is None:
        return None
    try:
        return _bounded(timedelta(seconds=int(value)))
    except (ValueError, OverflowError):
        pass
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return UNNAMED
    return _bounded((at if at.tzinfo else at.replace(tzinfo=UTC)) - now)


def _bounded(wait: timedelta) -> timedelta:
    return min(max(wait, SHORTEST), LONGEST)
