"""Making the GitHub App: from a manifest, once, by whoever sees the terminal."""

import hmac
import json
import re
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.adapters.github.setup import PERMISSIONS, NewApp, convert, form_target, manifest
from app.core.errors import RetryLater, UserError
from app.web.errors import problem
from app.web.guard import CONTENT_SECURITY, Site
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.viewer import cookie_name, drop_cookie, fresh, hashed, set_cookie
from app.wiring.web import WebParts

_PURPOSE = "setup"
_MINUTES = 60
_ORGANISATION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_AGAIN = "Open the /setup link of the terminal again."
_WHY = {
    "pull_requests": "set the label, close, and reopen",
    "issues": "write the comments (GitHub counts them as an issue's)",
    "checks": "show the evidence as a check run that never blocks",
    "contents": "read .github/pulsegate.yml on the default branch",
    "metadata": "know the repositories; every App has it",
    "members": "tell the team from strangers, before any rule runs",
}

router = APIRouter()


@dataclass(frozen=True)
class Permission:
    """One permission that the App asks for."""

    name: str
    level: str
    why: str


@dataclass(frozen=True)
class SetupPage(Page):
    """`setup.html`. `target` is None where GitHub could not reach us or the form is wrong."""

    token: str
    public_url: str
    permissions: tuple[Permission, ...]
    events: tuple[str, ...]
    organisation: str
    organisation_wrong: bool
    target: str | None
    manifest: str


@dataclass(frozen=True)
class DonePage(Page):
    """`setup_done.html`."""

    slug: str
    owner: str
    install_url: str
    app_url: str


@router.get("/setup")
def setup(request: Request, parts: Parts, token: str = "", organisation: str = "") -> Response:
    """What will be made, and the button that makes it."""
    if parts.base.setup_closed():
        return _closed(request)
    if not token or not parts.base.opens_setup(token):
        what = "This page opens only with the one-time link that the terminal printed"
        hint = (
            "Look for “/setup?token=…” in the output of pulsegate up (or of pulsegate web). "
            "Whoever sees the terminal may make the App; nobody else may."
        )
        return problem(request, 403, what, hint)
    organisation = organisation.strip()
    wrong = bool(organisation) and not _ORGANISATION.fullmatch(organisation)
    value = fresh()
    state = parts.base.signer(_PURPOSE).sign({"browser": hashed(value)})
    page = _page(parts, token, organisation, wrong=wrong, state=state)
    web = urlsplit(parts.settings.github_web_url)
    headers = {
        "Content-Security-Policy": CONTENT_SECURITY.format(
            form=f"'self' {web.scheme}://{web.netloc}"
        ),
        # GitHub may look at where the form comes from; the address itself holds the token.
        "Referrer-Policy": "strict-origin-when-cross-origin",
    }
    response = render(request, "setup.html", page, headers=headers)
    set_cookie(response, request.app.state.site, _PURPOSE, value, _MINUTES * 60)
    return response


def _page(parts: WebParts, token: str, organisation: str, *, wrong: bool, state: str) -> SetupPage:
    url, web_url = parts.settings.public_url, parts.settings.github_web_url
    target: str | None = None
    wanted: dict[str, object] = {}
    try:
        wanted = manifest(
            name=f"Pulsegate {urlsplit(url).hostname or ''}",
            url=url,
            hook_url=f"{url}/webhooks/github",
            redirect_url=f"{url}/setup/callback",
            callback_url=f"{url}/login/callback",
            setup_url=f"{url}/",
            web_url=web_url,
        )
        if not wrong:
            target = form_target(web_url, state, organisation or None)
    except UserError:
        wrong = False  # the page says instead that GitHub cannot reach this address
    events = wanted.get("default_events", [])
    return SetupPage(
        title="Set up",
        token=token,
        public_url=url,
        permissions=tuple(
            Permission(n, level, _WHY.get(n, "")) for n, level in PERMISSIONS.items()
        ),
        events=tuple(str(e) for e in events) if isinstance(events, list) else (),
        organisation=organisation,
        organisation_wrong=wrong,
        target=target,
        manifest=json.dumps(wanted),
    )


@router.get("/setup/callback")
def callback(request: Request, parts: Parts, code: str = "", state: str = "") -> Response:
    """GitHub made the App and sent the browser back with a code for its credentials."""
    if parts.base.setup_closed():
        return _closed(request)
    if not _begun_here(request, parts, state):
        what = "This set-up was begun in another browser or too long ago"
        return problem(request, 403, what, f"Nothing was stored. {_AGAIN}")
    if not code:
        return problem(request, 400, "GitHub sent no code", f"Nothing was stored. {_AGAIN}")
    try:
        new = convert(parts.settings.github_api_url, code)
    except UserError as error:
        what, hint = error.message, error.hint
        return problem(request, 400, what, f"{hint} Nothing was stored. {_AGAIN}")
    except RetryLater as error:
        hint = (
            "Nothing was stored. Reload this page: the code may still work. If it does not, delete "
            f"the new App in GitHub's settings, then: {_AGAIN}"
        )
        return problem(request, 503, f"The App's credentials did not arrive: {error.reason}", hint)
    return _keep(request, parts, new)


def _begun_here(request: Request, parts: WebParts, state: str) -> bool:
    site: Site = request.app.state.site
    signed = parts.base.signer(_PURPOSE).read(state, _MINUTES * 60)
    cookie = request.cookies.get(cookie_name(site, _PURPOSE), "")
    return signed is not None and hmac.compare_digest(signed.get("browser", ""), hashed(cookie))


def _keep(request: Request, parts: WebParts, new: NewApp) -> Response:
    """Stores the credentials; they come only once, so that a hiccup is waited out."""
    attempts = 3
    for attempt in range(attempts):
        try:
            kept = parts.base.keep_app(new, parts.clock())
            break
        except RetryLater as error:
            if attempt == attempts - 1:
                hint = f"Delete the App at {new.html_url} (Advanced), then: {_AGAIN}"
                return problem(request, 503, f"The App could not be stored: {error.reason}", hint)
            time.sleep(1)
    if not kept:
        hint = f"It stays in force. Delete the second one at {new.html_url} (Advanced)."
        return problem(request, 409, "Another App was set up at the same time", hint)
    page = DonePage(
        title="Set up",
        slug=new.credentials.slug,
        owner=new.owner,
        install_url=f"{new.html_url}/installations/new",
        app_url=new.html_url,
    )
    response = render(request, "setup_done.html", page)
    drop_cookie(response, request.app.state.site, _PURPOSE)
    return response


def _closed(request: Request) -> Response:
    what = "The GitHub App is set up; this page is closed for good"
    hint = (
        "To change it, edit the App in GitHub's settings, or set GITHUB_APP_ID and its credentials."
    )
    return problem(request, 410, what, hint)
