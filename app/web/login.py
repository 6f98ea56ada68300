"""Sign-in with GitHub: who somebody is. What they may see: `app.flows.access`."""

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from app.adapters.github.oauth import SignIn
from app.core.audit import Entry, Place
from app.core.errors import RetryLater, UserError
from app.core.github import Account
from app.db import audit, sessions
from app.web.errors import problem
from app.web.parts import Parts
from app.web.viewer import (
    AnyViewer,
    cookie_name,
    drop_cookie,
    fresh,
    hashed,
    local_path,
    set_cookie,
)
from app.wiring.web import WebParts

_PURPOSE = "sign-in"
_MINUTES = 10
_AGAIN = "Start again with “Sign in”."

router = APIRouter()


@router.get("/login")
def login(request: Request, parts: Parts, next: str = "/") -> Response:
    """Sends the visitor to GitHub."""
    begun = _sign_in(parts).begin()
    response = RedirectResponse(begun.url, 303)
    value = {"state": begun.state, "verifier": begun.verifier, "next": local_path(next)}
    signed = parts.base.signer(_PURPOSE).sign(value)
    set_cookie(response, request.app.state.site, _PURPOSE, signed, _MINUTES * 60)
    return response


@router.get("/login/callback")
def callback(  # noqa: PLR0913 - what GitHub sends back
    request: Request,
    parts: Parts,
    viewer: AnyViewer,
    code: str = "",
    state: str = "",
    error: str = "",
) -> Response:
    """GitHub sent the visitor back: a new session, whatever cookie they came with."""
    site = request.app.state.site
    signed = request.cookies.get(cookie_name(site, _PURPOSE), "")
    begun = parts.base.signer(_PURPOSE).read(signed, _MINUTES * 60)
    response: Response
    if begun is None:
        what = "This sign-in was begun in another browser or too long ago"
        response = problem(request, 400, what, _AGAIN)
    elif error or not code:
        response = problem(request, 403, "GitHub did not sign you in", _AGAIN)
    else:
        response = _finish(request, parts, viewer.session, begun, code, state)
    drop_cookie(response, site, _PURPOSE)
    return response


def _finish(  # noqa: PLR0913 - one call
    request: Request,
    parts: WebParts,
    old: sessions.Session | None,
    begun: dict[str, str],
    code: str,
    state: str,
) -> Response:
    try:
        account = _sign_in(parts).finish(
            code=code, state=state, begun_state=begun["state"], verifier=begun["verifier"]
        )
    except UserError as error:
        return problem(request, 403, error.message, error.hint)
    except RetryLater as error:
        return problem(request, 503, f"Nobody was signed in: {error.reason}", _AGAIN)
    return _signed_in(request, parts, old, account, begun["next"])


def _signed_in(
    request: Request, parts: WebParts, old: sessions.Session | None, account: Account, to: str
) -> Response:
    value, now = fresh(), parts.clock()
    with parts.base.database.begin() as tx:
        if old is not None:
            sessions.end(tx, old.account_id, old.id_hash, now)
        sessions.create(tx, hashed(value), account, now)
        audit.note(tx, Place(), Entry(at=now, act="session.begun", by=account))
    response = RedirectResponse(local_path(to), 303)
    seconds = int(sessions.ABSOLUTE.total_seconds())
    set_cookie(response, request.app.state.site, "session", value, seconds)
    return response


@router.post("/logout")
def logout(request: Request, parts: Parts, viewer: AnyViewer) -> Response:
    """Ends the session on the server as well."""
    if viewer.session is not None:
        with parts.base.database.begin() as tx:
            sessions.end(tx, viewer.session.account_id, viewer.session.id_hash, parts.clock())
    response = RedirectResponse("/", 303)
    drop_cookie(response, request.app.state.site, "session")
    return response


def _sign_in(parts: WebParts) -> SignIn:
    """`UserError` where there is no App to sign in through."""
    credentials = parts.base.app_credentials()
    if credentials is None:
        raise UserError(
            "Nobody can sign in yet: no GitHub App is configured",
            hint="Open the /setup link that the terminal printed.",
        )
    if not credentials.client_id or not credentials.client_secret:
        raise UserError(
            "Nobody can sign in: the GitHub App's OAuth client is not configured",
            hint="Set GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET.",
        )
    settings = parts.settings
    return SignIn(
        credentials,
        api_url=settings.github_api_url,
        web_url=settings.github_web_url,
        redirect_uri=f"{settings.public_url}/login/callback",
    )
