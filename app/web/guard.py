"""Before and around every request: host, forged requests, headers, and how long it took."""

import time
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.metrics import REQUESTS

_SAFE = {"GET", "HEAD", "OPTIONS"}
# Asked by machines under whatever name they know us by; nothing there depends on the name.
_ANY_HOST = {"/healthz", "/readyz", "/metrics"}
# A configuration of 100,000 bytes in the spelling of forms, in which each may take three.
_FORM_BYTES = 320_000
_API_BYTES = 100_000
_YEAR = 365 * 24 * 3600
CONTENT_SECURITY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action {form}; "
    "base-uri 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Site:
    """Where the service is reached, from PUBLIC_URL."""

    scheme: str
    netloc: str
    host: str

    @classmethod
    def of(cls, public_url: str) -> "Site":
        """The parts of the address that matter."""
        split = urlsplit(public_url)
        return cls(split.scheme, split.netloc.lower(), (split.hostname or "").lower())

    @property
    def secure(self) -> bool:
        """Whether browsers come by https."""
        return self.scheme == "https"

    @property
    def loopback(self) -> bool:
        """Whether nobody but this machine can come."""
        return is_loopback(self.host)


PASSED_ON = (
    *("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"),
    *("x-forwarded-server", "x-real-ip", "cf-connecting-ip", "true-client-ip"),
)


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def named_host(headers: Headers) -> str:
    """The name in the Host header without port; empty where it is none."""
    try:
        return (urlsplit(f"//{headers.get('host', '')}").hostname or "").lower()
    except ValueError:
        return ""


def from_this_machine(scope: Scope) -> bool:
    """Whether a program on this machine, which may be a proxy, asked for it by its own name.

    The name counts as well: a page elsewhere can point its own name at 127.0.0.1 (DNS rebinding).
    """
    client = scope.get("client")
    return (
        client is not None
        and is_loopback(client[0])
        and is_loopback(named_host(Headers(scope=scope)))
    )


def is_local(scope: Scope, site: "Site") -> bool:
    """Whether it is a browser on this machine that asks, on a service for this machine alone.

    A proxy in front asks from this machine too, some of them by our own name. So nobody is local
    where the world is to come (PUBLIC_URL), nor is what says that it was passed on.
    """
    headers = Headers(scope=scope)
    passed_on = any(name in headers for name in PASSED_ON)
    return site.loopback and from_this_machine(scope) and not passed_on


def _too_large(path: str, headers: Headers) -> Response | None:
    """Refuses what nobody has reason to send, before anything reads it."""
    most = _API_BYTES if path.startswith("/api/") else _FORM_BYTES
    said = headers.get("content-length", "0")
    if said.isdecimal() and int(said) <= most and "transfer-encoding" not in headers:
        return None
    return PlainTextResponse(f"At most {most:,} bytes are taken here, with their length said.", 413)


class Guard:
    """Wraps the whole application, so that its error pages pass here as well."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, answered = time.perf_counter(), 500, False

        async def answer(message: Message) -> None:
            nonlocal status, answered
            if message["type"] == "http.response.start":
                status, answered = message["status"], True
                self._harden(scope["path"], MutableHeaders(scope=message))
            await send(message)

        refused = self._refused(scope)
        try:
            await (refused or self._app)(scope, receive, answer)
        except Exception:
            # Starlette raises again what `app.web.errors` has logged and answered already.
            if not answered:
                raise
        finally:
            route = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in {*_SAFE, "POST"} else "other"
            REQUESTS.labels(method, route, str(status)).observe(time.perf_counter() - started)

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._host_fits(scope, headers):
            return PlainTextResponse(
                f"This server is {self._site.scheme}://{self._site.netloc} and answers to no "
                "other name. Its operator sets the name with PUBLIC_URL.",
                421,
            )
        if scope["method"] not in _SAFE and not scope["path"].startswith("/webhooks/"):
            return _too_large(scope["path"], headers) or self._forged(scope, headers)
        return None

    def _host_fits(self, scope: Scope, headers: Headers) -> bool:
        if self._site.loopback or scope["path"] in _ANY_HOST:
            return True
        return named_host(headers) == self._site.host or from_this_machine(scope)

    def _forged(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuses what another site makes a visitor's browser send."""
        origin = headers.get("origin")
        own = {
            f"{self._site.scheme}://{self._site.netloc}",
            f"{scope['scheme']}://{headers.get('host', '').lower()}",
        }
        said = headers.get("sec-fetch-site")
        if said is not None:
            fine = said in {"same-origin", "none"}
        elif origin is not None:
            fine = origin.lower() in own
        else:
            # No browser; where it brings a cookie all the same, we cannot tell.
            fine = "cookie" not in headers
        if fine:
            return None
        return PlainTextResponse(
            "This request came from another site and was not carried out. "
            "Open the page on this server and try again there.",
            403,
        )

    def _harden(self, path: str, headers: MutableHeaders) -> None:
        static = path.startswith("/static/")
        headers.setdefault("content-security-policy", CONTENT_SECURITY.format(form="'self'"))
        headers.setdefault("referrer-policy", "same-origin")
        headers.setdefault("cache-control", "public, max-age=86400" if static else "no-store")
        headers["x-content-type-options"] = "nosniff"
        headers["x-frame-options"] = "DENY"
        headers["cross-origin-opener-policy"] = "same-origin"
        headers["permissions-policy"] = "camera=(), geolocation=(), microphone=()"
        if self._site.secure:
            headers["strict-transport-security"] = f"max-age={_YEAR}"
