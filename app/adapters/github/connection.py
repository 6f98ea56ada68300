"""One connection to GitHub: retries, redirects, pages, and errors in the flows' words."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import parse_qsl, quote, urlsplit

import httpx
from githubkit import GitHubCore, Response
from githubkit.auth import UnauthAuthStrategy
from githubkit.config import get_config
from githubkit.exception import RequestError, RequestFailed

from app.adapters.github.errors import UNNAMED, UNREADABLE, Answer, failure
from app.adapters.github.transport import Caches
from app.core.errors import Rejected, RetryLater

API_VERSION = "2022-11-28"
# Waits in seconds before the second and third attempt of a read that GitHub answered with 5xx.
WAITS = (0.2, 1.0)
MAX_PAGES = 1000
MAX_REDIRECTS = 3
# The request was not sent, so that it cannot have been carried out.
_UNSENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.LocalProtocolError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)


class Credential(Protocol):
    """What a request says of who asks."""

    def header(self) -> str | None:
        """The `Authorization` header, or None for an anonymous request."""

    def drop(self) -> bool:
        """Forget what GitHub refused; whether asking for a new one makes sense."""


def path(*parts: str | int) -> str:
    """A path of hostile names, each quoted: `repos`, owner, name, … ."""
    for part in parts:
        if part in {"", ".", ".."}:
            raise Rejected("GitHub has nothing by an empty or dotted name", status=422)
    return "/" + "/".join(quote(str(part), safe="", errors="replace") for part in parts)


class Core(GitHubCore[UnauthAuthStrategy]):
    """githubkit with one client that stays entered.

    githubkit keeps an entered client in a ContextVar, which other threads do not see: each of
    their requests would build a client (and a TLS context) of its own.
    """

    def __init__(self, base_url: str, transport: httpx.BaseTransport, caches: Caches) -> None:
        config = get_config(
            base_url=base_url,
            user_agent="pulsegate",
            follow_redirects=False,
            transport=transport,
            cache_strategy=caches,
            auto_retry=False,
        )
        super().__init__(config=config)
        self._stack = ExitStack()
        self._entered = self._stack.enter_context(super().get_sync_client())

    @contextmanager
    def get_sync_client(self) -> Iterator[httpx.Client]:
        """The one client."""
        yield self._entered

    def _check_rate_limit(self, response: Response[Any, Any]) -> None:
        """Nothing: `errors.failure` reads the limits; githubkit fails on odd headers."""


class Connection:
    """Requests in one name. Raises `RetryLater` and `Rejected` only."""

    def __init__(
        self,
        core: Core,
        credential: Credential,
        *,
        sleep: Callable[[float], None],
        now: Callable[[], datetime],
    ) -> None:
        self._core = core
        self._credential = credential
        self._sleep = sleep
        self._now = now

    def read(
        self, path: str, params: Mapping[str, str] | None = None, *, accept: tuple[int, ...] = ()
    ) -> Answer:
        """GET. Statuses in `accept` are answers and no errors. 5xx is tried three times."""
        return self.ask("GET", path, params=params, accept=accept)

    def ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        accept: tuple[int, ...] = (),
    ) -> Answer:
        """A request that may be repeated without harm: reads, and asking for a token."""
        for wait in (*WAITS, None):
            answer = self._once(method, path, params, json, write=False)
            if answer.status < 500 or wait is None or "retry-after" in answer.headers:
                break
            self._sleep(wait)
        return self._judged(answer, accept, write=False)

    def graphql(self, query: str, variables: Mapping[str, Any]) -> Answer:
        """A GraphQL query. Its own errors stand in the answer, beside what could be answered.

        `RetryLater` where GitHub says within the answer that a rate limit was met.
        """
        base = str(self._core.config.base_url).rstrip("/")
        # On an Enterprise Server it lies beside the REST API, which is at /api/v3.
        root = base.removesuffix("/v3") if base.endswith("/api/v3") else base
        answer = self.ask("POST", f"{root}/graphql", json={"query": query, "variables": variables})
        errors = answer.payload.get("errors") if isinstance(answer.payload, dict) else None
        listed = errors if isinstance(errors, list) else []
        if any(isinstance(e, dict) and e.get("type") == "RATE_LIMITED" for e in listed):
            raise RetryLater("GitHub asks to wait (GraphQL's rate limit)", after=UNNAMED)
        return answer

    def write(
        self, method: str, path: str, json: Any = None, *, accept: tuple[int, ...] = ()
    ) -> Answer:
        """A request that acts: never repeated here once it may have been carried out."""
        answer = self._once(method, path, None, json, write=True)
        return self._judged(answer, accept, write=True)

    def pages(self, path: str, params: Mapping[str, str] | None = None) -> Iterator[Answer]:
        """The pages of a list, 100 items each, as far as somebody reads on."""
        query = {**(params or {}), "per_page": "100"}
        for _ in range(MAX_PAGES):
            answer = self.read(path, query)
            yield answer
            following = answer.links.get("next")
            if following is None:
                return
            # Only the query of GitHub's link is used, never its host: a token goes with it.
            if following == query:
                break
            query = following
        raise RetryLater(f"{UNREADABLE} (a list without an end)")

    def _judged(self, answer: Answer, accept: tuple[int, ...], *, write: bool) -> Answer:
        if 200 <= answer.status < 300 or answer.status in accept:
            return answer
        raise failure(answer, write=write, now=self._now())

    def _once(
        self, method: str, url: str, params: Mapping[str, str] | None, json: Any, *, write: bool
    ) -> Answer:
        """One request: a refused credential is renewed once, redirects are followed."""
        renewed = False
        for _ in range(MAX_REDIRECTS + 2):
            response = self._send(method, url, params, json, write=write)
            if response.status_code == 401 and not renewed and self._credential.drop():
                renewed = True
                continue
            if not response.has_redirect_location:
                return _answer(response, write=write)
            # httpx would turn a POST into a GET, and a renamed repository's write into a read.
            url, params = self._redirected(response), None
        raise RetryLater(f"{UNREADABLE} (too many redirects)")

    def _redirected(self, response: httpx.Response) -> str:
        base = self._core.config.base_url
        try:
            target = response.url.join(response.headers["location"])
        except httpx.InvalidURL:
            raise RetryLater(f"{UNREADABLE} (a redirect to no address)") from None
        if (target.scheme, target.netloc) != (base.scheme, base.netloc):
            raise RetryLater(f"{UNREADABLE} (a redirect to another server)")
        return str(target)

    def _send(
        self, method: str, url: str, params: Mapping[str, str] | None, json: Any, *, write: bool
    ) -> httpx.Response:
        headers = {"X-GitHub-Api-Version": API_VERSION}
        authorization = self._credential.header()
        if authorization is not None:
            headers["Authorization"] = authorization
        try:
            response = self._core.request(
                method, url, params=dict(params or {}) or None, json=json, headers=headers
            )
        except RequestFailed as error:
            return error.response.raw_response
        except (RequestError, httpx.InvalidURL) as error:
            cause = error.exc if isinstance(error, RequestError) else error
            name = type(cause).__name__
            maybe_done = write and not isinstance(cause, _UNSENT)
            raise RetryLater(f"no answer from GitHub ({name})", maybe_done=maybe_done) from cause
        return response.raw_response


def _answer(response: httpx.Response, *, write: bool) -> Answer:
    try:
        payload = response.json() if response.content else None
        links = {
            rel: dict(parse_qsl(urlsplit(link["url"]).query))
            for rel, link in response.links.items()
            if rel is not None
        }
    except (ValueError, KeyError, RecursionError):
        if response.is_success:
            reason = f"{UNREADABLE} (no JSON)"
            raise RetryLater(reason, maybe_done=write) from None
        payload, links = None, {}
    return Answer(response.status_code, payload, links, response.headers)
