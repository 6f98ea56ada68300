"""What the web process and the workers share: built once from the settings, after any fork."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock

from pydantic import BaseModel, ConfigDict, Field

from app.adapters.crypto import Hasher, Signer, Vault
from app.adapters.github.client import AppCredentials, GitHub
from app.adapters.github.reader import GitHubReader
from app.adapters.github.setup import NewApp
from app.adapters.github.tokens import TokenStore
from app.adapters.queue import Broker
from app.core.errors import RetryLater, UserError
from app.db import setup
from app.db.engine import Database
from app.settings import Settings

_SETUP_TOKEN = "setup-token"  # noqa: S105 - a purpose, no token
# So long an App stored by another process may stay unknown to this one.
_CACHE_SECONDS = 5.0


class _App(BaseModel):
    """The App's credentials, also as the vault keeps them (as JSON). Empty: not known."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    app_id: int
    private_key: str = Field(default="", repr=False)
    webhook_secret: str = Field(default="", repr=False)
    client_id: str = ""
    client_secret: str = Field(default="", repr=False)
    slug: str = ""


@dataclass
class _Cached:
    value: _App | None = None
    read_at: float = float("-inf")
    lock: Lock = field(default_factory=Lock)


class Base:
    """Settings, database, keys and the GitHub App as it is configured now. Thread-safe."""

    def __init__(
        self,
        settings: Settings,
        *,
        pool_size: int = 5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if settings.database_url is None or settings.redis_url is None:
            raise UserError(
                "DATABASE_URL or REDIS_URL is not set",
                hint="Start everything at once with `pulsegate up`, or name both servers.",
            )
        keys = [key.get_secret_value() for key in settings.secret_keys()]
        self.settings = settings
        self.database_url = settings.database_url.get_secret_value()
        self.redis_url = settings.redis_url.get_secret_value()
        self.database = Database(self.database_url, pool_size=pool_size)
        self.broker = Broker(self.redis_url)
        self.vault = Vault(keys)
        self.hasher = Hasher(keys)
        self._keys = keys
        self._clock = clock
        self._stored = _Cached()
        self._github: GitHub | None = None
        self._github_lock = Lock()

    def signer(self, purpose: str) -> Signer:
        """Signs what travels through a browser for one purpose."""
        return Signer(self._keys, purpose)

    def app_credentials(self) -> AppCredentials | None:
        """The App in force: the environment's where it names one, else the one of `/setup`."""
        found = self._app()
        if found is None:
            return None
        if not found.private_key:
            raise UserError(
                "GITHUB_APP_ID is set, but no private key",
                hint="Set GITHUB_PRIVATE_KEY or GITHUB_PRIVATE_KEY_FILE as well.",
            )
        return AppCredentials(
            app_id=found.app_id,
            private_key=found.private_key,
            client_id=found.client_id,
            client_secret=found.client_secret,
            slug=found.slug,
        )

    def webhook_secrets(self) -> tuple[str, ...]:
        """Every secret that a delivery may be signed with; empty while none is set."""
        given = tuple(s.get_secret_value() for s in self.settings.github_webhook_secret)
        if given:
            return given
        found = self._app()
        return (found.webhook_secret,) if found and found.webhook_secret else ()

    def _app(self) -> _App | None:
        """The App, each part from the environment where that says something.

        An App that the environment names takes nothing from `/setup`, which made another one.
        """
        given = self.settings
        key, secret = given.github_private_key, given.github_client_secret
        own = {
            "app_id": given.github_app_id,
            "private_key": key.get_secret_value() if key else None,
            "client_id": given.github_client_id,
            "client_secret": secret.get_secret_value() if secret else None,
        }
        own = {name: value for name, value in own.items() if value}
        if given.github_app_id is not None:
            return _App.model_validate(own)
        found = self._setup()
        return found.model_copy(update=own) if found else None

    def github(self) -> GitHub | None:
        """The App's connections; None while there is no App. One for each process."""
        credentials = self.app_credentials()
        with self._github_lock:
            if credentials is None:
                return None
            if self._github is None or self._github.credentials != credentials:
                # An older one is left to whoever still uses it.
                self._github = GitHub(
                    credentials, self._tokens(), api_url=self.settings.github_api_url
                )
            return self._github

    def reader(self) -> GitHubReader:
        """Reads of repositories. A call raises `RetryLater` while there is no App."""
        return GitHubReader(lambda installation_id: self.connected().installation(installation_id))

    def connected(self) -> GitHub:
        """The App's connections, or `RetryLater` while there is no App."""
        found = self.github()
        if found is None:
            raise RetryLater("no GitHub App is configured")
        return found

    def _tokens(self) -> TokenStore:
        return TokenStore(
            self.broker.client,
            seal=lambda text: self.vault.seal(text.encode()).decode(),
            unseal=self._unseal,
        )

    def _unseal(self, text: str) -> str:
        try:
            return self.vault.open(text.encode()).decode()
        except UserError as error:
            raise ValueError(error.message) from None

    def keep_app(self, new: NewApp, now: datetime) -> bool:
        """Stores an App that `/setup` just made, sealed; False where one is stored already."""
        credentials = new.credentials
        sealed = self.vault.seal(
            _App(
                app_id=credentials.app_id,
                private_key=credentials.private_key,
                webhook_secret=new.webhook_secret,
                client_id=credentials.client_id,
                client_secret=credentials.client_secret,
                slug=credentials.slug,
            )
            .model_dump_json()
            .encode()
        )
        with self.database.begin() as tx:
            kept = setup.store(
                tx,
                sealed=sealed,
                app_id=credentials.app_id,
                slug=credentials.slug,
                html_url=new.html_url,
                now=now,
            )
        self._stored.read_at = float("-inf")
        return kept

    def _setup(self) -> _App | None:
        cached, now = self._stored, self._clock()
        if now - cached.read_at < _CACHE_SECONDS:
            return cached.value
        with cached.lock:
            if now - cached.read_at < _CACHE_SECONDS:
                return cached.value
            with self.database.begin() as tx:
                found = setup.get(tx)
            opened = self.vault.open(found.sealed) if found and found.sealed else None
            cached.value = _App.model_validate_json(opened) if opened else None
            cached.read_at = now
        return cached.value

    def setup_closed(self) -> bool:
        """Whether there is an App: then `/setup` is closed for good."""
        if self.settings.github_app_id is not None:
            return True
        with self.database.begin() as tx:
            found = setup.get(tx)
        return found is not None and found.done

    def app_page(self) -> str | None:
        """The page at GitHub of the App that `/setup` made, while that one is in force."""
        if self.settings.github_app_id is not None:
            return None
        with self.database.begin() as tx:
            found = setup.get(tx)
        return found.html_url if found else None

    def setup_token(self) -> str | None:
        """The token that opens `/setup`; None once that is closed. The same in every process."""
        if self.setup_closed():
            return None
        with self.database.begin() as tx:
            found = setup.begin(tx, secrets.token_urlsafe(32))
        return self.hasher.keyed_hash(_SETUP_TOKEN, found.nonce)

    def opens_setup(self, token: str) -> bool:
        """Whether the token is the one that the terminal printed."""
        with self.database.begin() as tx:
            found = setup.get(tx)
        return found is not None and self.hasher.matches(_SETUP_TOKEN, found.nonce, token)

    def close(self) -> None:
        """Closes every connection."""
        self.database.close()
        self.broker.close()
        if self._github is not None:
            self._github.close()


def setup_link(base: Base) -> str | None:
    """Where to make the GitHub App, for the terminal only; None once there is one."""
    token = base.setup_token()
    return None if token is None else f"{base.settings.public_url}/setup?token={token}"
