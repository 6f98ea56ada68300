"""Errors as answers: a page for people, JSON for machines, never what is inside."""

from http import HTTPStatus

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from app.core.errors import Rejected, RetryLater, UserError
from app.web.pages import ErrorPage, render

_MACHINES = ("/webhooks/", "/healthz", "/readyz", "/metrics", "/static/", "/api/", "/schema/")
_HINTS = {
    401: "Sign in and try again.",
    403: "Ask a maintainer of the repository for access.",
    404: "Either it does not exist, or it is not for you to see. Signing in may help.",
    405: "Follow a link or button of this server instead.",
    500: "It was logged. Try again; if it comes back, the operator finds the reason in the log.",
}

log = structlog.get_logger(__name__)


def install(app: FastAPI) -> None:
    """Answers every error."""
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UserError, _user)
    app.add_exception_handler(RetryLater, _later)
    app.add_exception_handler(Rejected, _later)
    app.add_exception_handler(Exception, _ours)


def problem(
    request: Request,
    status: int,
    what: str,
    hint: str = "",
    headers: dict[str, str] | None = None,
) -> Response:
    """An error page, or JSON where a machine asked."""
    if request.url.path.startswith(_MACHINES):
        return JSONResponse({"detail": f"{what}. {hint}" if hint else what}, status, headers)
    page = ErrorPage(title=HTTPStatus(status).phrase, status=status, what=what, hint=hint)
    return render(request, "error.html", page, status=status, headers=headers)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - Starlette dispatches by type
    machine = request.url.path.startswith(_MACHINES)
    hint = "" if machine else _HINTS.get(error.status_code, "")
    return problem(request, error.status_code, error.detail, hint, dict(error.headers or {}))


def _invalid(request: Request, _error: Exception) -> Response:
    what = "The address or form is not one that this server gives out"
    return problem(request, 400, what, "Go back and follow a link or button.")


def _user(request: Request, error: Exception) -> Response:
    assert isinstance(error, UserError)  # noqa: S101
    return problem(request, 400, error.message, error.hint)


def _later(request: Request, error: Exception) -> Response:
    reason = error.reason if isinstance(error, RetryLater | Rejected) else ""
    what = f"This page cannot be shown just now: {reason}"
    return problem(
        request, 503, what, "Nothing was lost. Try again in a minute.", {"Retry-After": "10"}
    )


def _ours(request: Request, error: Exception) -> Response:
    log.error("a request failed", path=request.url.path, error=type(error).__name__, exc_info=error)
    return problem(request, 500, "Something went wrong on this server", _HINTS[500])
