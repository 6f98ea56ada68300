"""Who looks at a page: somebody signed in, somebody at this machine, or nobody we know."""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote, urlsplit

from fastapi import Depends, HTTPException, Request
from starlette.responses import Response

from app.core.github import Account
from app.db import sessions
from app.db.sessions import Session
from app.web.guard import Site, is_local
from app.web.parts import Parts

_BYTES = 32


@dataclass(frozen=True)
class Viewer:
    """`demo`: may see recorded data, since the browser is on this machine.

    `session` is None for everybody who is not signed in; they see nothing else.
    """

    demo: bool
    session: Session | None

    @property
    def account(self) -> Account | None:
        """Who is signed in."""
        if self.session is None:
            return None
        return Account(id=self.session.account_id, login=self.session.login)


def viewer(request: Request, parts: Parts) -> Viewer:
    """The viewer of this request, as a FastAPI dependency."""
    value = request.cookies.get(session_cookie(request.app.state.site))
    found = None
    if value:
        with parts.base.database.begin() as tx:
            found = sessions.find(tx, hashed(value), parts.clock())
    request.state.login = found.login if found else None
    return Viewer(demo=is_local(request.scope, request.app.state.site), session=found)


def signed_in(request: Request, viewer: Annotated[Viewer, Depends(viewer)]) -> Session:
    """The session; whoever has none is sent to sign in first."""
    if viewer.session is None:
        where = {"Location": f"/login?next={quote(request.url.path, safe='/')}"}
        raise HTTPException(303, "Sign in first", where)
    return viewer.session


AnyViewer = Annotated[Viewer, Depends(viewer)]
SignedIn = Annotated[Session, Depends(signed_in)]


def hashed(cookie: str) -> str:
    """What is stored of a session's cookie."""
    return hashlib.sha256(cookie.encode("utf-8", "replace")).hexdigest()


def fresh() -> str:
    """A value for a cookie that nobody can guess."""
    return secrets.token_urlsafe(_BYTES)


def session_cookie(site: Site) -> str:
    """The name of the session's cookie."""
    return cookie_name(site, "session")


def cookie_name(site: Site, use: str) -> str:
    """With `__Host-`, which browsers take only over https, no other host can set it for us."""
    return f"{'__Host-' if site.secure else ''}pulsegate-{use}"


def set_cookie(response: Response, site: Site, use: str, value: str, seconds: int) -> None:
    """A cookie that scripts do not see and other sites' forms do not send."""
    response.set_cookie(
        cookie_name(site, use),
        value,
        max_age=seconds,
        path="/",
        secure=site.secure,
        httponly=True,
        samesite="lax",
    )


def drop_cookie(response: Response, site: Site, use: str) -> None:
    """Makes the browser forget it."""
    response.delete_cookie(
        cookie_name(site, use), path="/", secure=site.secure, httponly=True, samesite="lax"
    )


def local_path(wanted: str) -> str:
    """Where to go next on this server; `/` for anything that could lead elsewhere."""
    plain = wanted.isascii() and wanted.isprintable() and "\\" not in wanted
    if not plain or len(wanted) > 1000 or not wanted.startswith("/") or wanted.startswith("//"):
        return "/"
    try:
        split = urlsplit(wanted)
    except ValueError:
        return "/"
    return "/" if split.scheme or split.netloc else wanted
