"""The App's connections to GitHub: who asks, and with which token.

Build one `GitHub` for each process, after the fork. It may be used by several threads.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from threading import Lock
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from githubkit.auth.app import AppAuth
from pydantic import AwareDatetime

from app.adapters.github.connection import Connection, Core, Credential, path
from app.adapters.github.errors import UNREADABLE, narrow
from app.adapters.github.tokens import TokenStore, is_token
from app.adapters.github.transport import BoundedTransport, Caches
from app.core.errors import RetryLater, UserError
from app.core.github import Narrow

TIMEOUT = 10.0
# A token is given up so long before it expires, for clocks that differ and requests on their way.
MARGIN = timedelta(minutes=2)
MAX_CLIENTS = 32


@dataclass(frozen=True)
class AppCredentials:
    """What `/setup` or the environment knows of the App. Secrets do not show in its repr."""

    app_id: int
    private_key: str = field(repr=False)
    client_id: str
    client_secret: str = field(repr=False)
    slug: str

    @property
    def bot_login(self) -> str:
        """The login under which the App writes."""
        return f"{self.slug}[bot]"


class _Fixed:
    """A token that does not change, or none."""

    def __init__(self, token: str | None) -> None:
        self._header = f"Bearer {token}" if token else None

    def header(self) -> str | None:
        return self._header

    def drop(self) -> bool:
        return False


@lru_cache(maxsize=4)
def _signing_key(pem: str) -> RSAPrivateKey:
    """The App's key, parsed once: that takes 60 ms, and signing with it half a millisecond."""
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPrivateKey):
        raise UserError(
            "The GitHub App's private key is not a PEM file that we can read.",
            hint="Set GITHUB_PRIVATE_KEY (or GITHUB_PRIVATE_KEY_FILE) to the .pem file that "
            "GitHub gave you when the key was made.",
        )
    return key


class _Jwt:
    """The App in its own name: a JWT for a few minutes."""

    def __init__(self, core: Core, caches: Caches, credentials: AppCredentials) -> None:
        self._caches = caches
        key = _signing_key(credentials.private_key)
        # githubkit hands the key to PyJWT, which takes a parsed one as well.
        self._auth = AppAuth(core, credentials.app_id, key)  # type: ignore[arg-type]

    def header(self) -> str | None:
        return f"Bearer {self._auth.get_jwt()}"

    def drop(self) -> bool:
        self._caches.drop_jwt()
        return True


class _NewToken(Narrow):
    token: str
    expires_at: AwareDatetime


class _Installation:
    """An installation's token: kept until shortly before it expires, shared by all workers."""

    def __init__(
        self,
        installation_id: int,
        key: str,
        tokens: TokenStore,
        app: Connection,
        now: Callable[[], datetime],
    ) -> None:
        self._path = path("app", "installations", installation_id, "access_tokens")
        self._key = key
        self._tokens = tokens
        self._app = app
        self._now = now

    def header(self) -> str | None:
        token = self._tokens.get(self._key)
        if token is None:
            token = self._fetch()
        return f"Bearer {token}"

    def drop(self) -> bool:
        self._tokens.drop(self._key)
        return True

    def _fetch(self) -> str:
        new = narrow(_NewToken, self._app.ask("POST", self._path, json={}).payload)
        if not is_token(new.token):
            raise RetryLater(f"{UNREADABLE} (a token that is none)")
        self._tokens.put(self._key, new.token, new.expires_at - self._now() - MARGIN)
        return new.token


class GitHub:
    """The App's connections to one GitHub: its own, and one for each installation.

    `api_url` is `https://api.github.com` or `https://HOST/api/v3`; `timeout` is seconds for a
    whole request. The rest is for tests. `UserError` where the private key is none.
    """

    def __init__(  # noqa: PLR0913 - who, with what, where; and time for the tests
        self,
        credentials: AppCredentials,
        tokens: TokenStore,
        *,
        api_url: str = "https://api.github.com",
        timeout: float = TIMEOUT,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.credentials = credentials
        self._tokens = tokens
        self._api_url = api_url
        self._sleep = sleep
        self._now = now
        self._transport = BoundedTransport(api_url, timeout)
        self._installations: OrderedDict[int, Connection] = OrderedDict()
        self._lock = Lock()
        caches = Caches()
        core = Core(api_url, self._transport, caches)
        self._app = self._connection(core, _Jwt(core, caches, credentials))

    def app(self) -> Connection:
        """The App in its own name."""
        return self._app

    def installation(self, installation_id: int) -> Connection:
        """The App in the name of an installation. Asks for a token at the first request only."""
        with self._lock:
            found = self._installations.get(installation_id)
            if found is None:
                found = self._open(installation_id)
                self._installations[installation_id] = found
            self._installations.move_to_end(installation_id)
            # Connections own no socket (the transport does), so dropping one is enough.
            while len(self._installations) > MAX_CLIENTS:
                self._installations.popitem(last=False)
            return found

    def forget(self, installation_id: int) -> None:
        """Drop an installation's token (for all workers), client and cache."""
        with self._lock:
            self._installations.pop(installation_id, None)
        self._tokens.drop(self._key(installation_id))

    def close(self) -> None:
        """Close all connections."""
        self._transport.shutdown()

    def _key(self, installation_id: int) -> str:
        host = urlsplit(self._api_url).netloc
        return f"pulsegate:github:{host}:{self.credentials.app_id}:{installation_id}:token"

    def _open(self, installation_id: int) -> Connection:
        credential = _Installation(
            installation_id, self._key(installation_id), self._tokens, self._app, self._now
        )
        return self._connection(Core(self._api_url, self._transport, Caches()), credential)

    def _connection(self, core: Core, credential: Credential) -> Connection:
        return Connection(core, credential, sleep=self._sleep, now=self._now)


@contextmanager
def public(
    api_url: str, token: str | None = None, *, timeout: float = TIMEOUT
) -> Iterator[Connection]:
    """A connection without an App: anonymous, or with a person's token (`GITHUB_TOKEN`)."""
    transport = BoundedTransport(api_url, timeout)
    try:
        yield Connection(
            Core(api_url, transport, Caches()),
            _Fixed(token),
            sleep=time.sleep,
            now=lambda: datetime.now(UTC),
        )
    finally:
        transport.shutdown()
