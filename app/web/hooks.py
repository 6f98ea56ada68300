"""Webhook deliveries: checked, committed, answered. Nothing else happens in the request."""

import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from threading import BoundedSemaphore
from typing import Annotated, Any

import anyio
import structlog
from fastapi import APIRouter, Depends, HTTPException, Request
from pydantic_core import from_json
from starlette.requests import ClientDisconnect

from app.adapters.github.webhook import verify, well_formed
from app.core.errors import RetryLater, UserError
from app.flows.intake import Incoming, accept
from app.metrics import DELIVERIES
from app.web.deadline import in_time
from app.web.parts import Parts
from app.wiring.web import WebParts

# GitHub's own limit for a payload.
LIMIT = 25 * 1024 * 1024
# Anybody may send a body, and whether it is signed is known at its end. So only a few at a time may
# grow large; nearly all of GitHub's stay under a megabyte and always find room.
_LARGE = 1024 * 1024
_LARGE_AT_ONCE = 8
_READ_SECONDS = 30
_RETRY_SECONDS = 5
_SAY_EVERY_SECONDS = 5.0

router = APIRouter()
_seats = BoundedSemaphore(_LARGE_AT_ONCE)
_said_at = float("-inf")
log = structlog.get_logger(__name__)


async def raw_body(request: Request) -> AsyncIterator[bytes]:
    """The body as it came, read in pieces, at most `LIMIT` bytes."""
    if not well_formed(request.headers.get("x-hub-signature-256")):
        raise _refused(401, "unsigned", "X-Hub-Signature-256 is missing or no sha256 signature")
    said = request.headers.get("content-length", "0")
    if not said.isdecimal() or int(said) > LIMIT:
        raise _refused(413, "too large", "a delivery has at most 25 MB")
    with ExitStack() as seat:
        yield await _read(request, seat)


async def _read(request: Request, seat: ExitStack) -> bytes:
    body = bytearray()
    seated = False
    try:
        with anyio.fail_after(_READ_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > LIMIT:
                    raise _refused(413, "too large", "a delivery has at most 25 MB")
                if len(body) > _LARGE and not seated:
                    _take_seat(seat)
                    seated = True
    except (TimeoutError, ClientDisconnect):
        raise _refused(408, "cut off", "the delivery did not come to its end") from None
    return bytes(body)


def _take_seat(seat: ExitStack) -> None:
    """Room for one large body until the request is over; 503 where there is none."""
    if not _seats.acquire(blocking=False):
        wait = {"Retry-After": str(_READ_SECONDS)}
        raise _refused(503, "put off", "too many large deliveries come in at once", wait)
    seat.callback(_seats.release)


@router.post("/webhooks/github", status_code=202)
async def github(
    request: Request,
    body: Annotated[bytes, Depends(raw_body)],
    parts: Parts,
) -> dict[str, Any]:
    """Takes a delivery in; see docs for the answers."""
    try:
        return await in_time(lambda: _take(request, body, parts))
    except RetryLater as error:
        # GitHub counts the delivery as failed, and the sweep has it delivered again.
        _say_why(error.reason)
        wait = str(int(error.after.total_seconds()) if error.after else _RETRY_SECONDS)
        raise _refused(503, "put off", error.reason, {"Retry-After": wait}) from error


def _take(request: Request, body: bytes, parts: WebParts) -> dict[str, Any]:
    event = request.headers.get("x-github-event", "")
    try:
        secrets = _secrets(parts)
        if not verify(body, request.headers.get("x-hub-signature-256"), secrets):
            raise _refused(401, "bad signature", "no webhook secret of ours made this signature")
        incoming = Incoming(
            event=event,
            guid=request.headers.get("x-github-delivery", ""),
            target=request.headers.get("x-github-hook-installation-target-id", ""),
            payload=_payload(request.headers.get("content-type", ""), body),
        )
        accepted = accept(parts.base.database, parts.doorbell, incoming, parts.clock())
    except UserError as error:
        raise _refused(400, "malformed", f"{error.message}. {error.hint}".strip()) from error
    outcome = "accepted" if accepted.inbox_id is not None else "seen before"
    DELIVERIES.labels(event[:40], outcome).inc()
    return {"status": outcome, "event": event[:80]}


def _say_why(reason: str) -> None:
    """One line in the log for many deliveries that are put off."""
    global _said_at  # noqa: PLW0603 - one for the process
    now = time.monotonic()
    if now - _said_at >= _SAY_EVERY_SECONDS:
        _said_at = now
        log.warning("deliveries are put off; GitHub is asked for them again", reason=reason)


def _secrets(parts: WebParts) -> tuple[str, ...]:
    try:
        found = parts.base.webhook_secrets()
    except UserError as error:
        raise _refused(503, "no secret", f"{error.message}. {error.hint}") from error
    if not found:
        detail = (
            "no webhook secret is set: make the GitHub App at /setup, or set GITHUB_WEBHOOK_SECRET"
        )
        raise _refused(503, "no secret", detail, {"Retry-After": "60"})
    return found


def _payload(content_type: str, body: bytes) -> object:
    if content_type.partition(";")[0].strip().lower() == "application/x-www-form-urlencoded":
        raise UserError(
            "the delivery is form-encoded",
            hint="Choose the content type application/json in the webhook's settings on GitHub.",
        )
    try:
        return from_json(body, allow_inf_nan=False)
    except (ValueError, RecursionError) as error:
        raise UserError(f"the body is not JSON: {str(error)[:200]}") from None


def _refused(
    status: int, outcome: str, detail: str, headers: dict[str, str] | None = None
) -> HTTPException:
    DELIVERIES.labels("", outcome).inc()
    return HTTPException(status, detail, headers)
