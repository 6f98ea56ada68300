"""GitHub stand-ins, and the adapter pointed at them."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from app.adapters.github.app_api import GitHubAppApi
from app.adapters.github.client import AppCredentials, GitHub
from app.adapters.github.reader import GitHubReader
from app.adapters.github.tokens import TokenStore
from app.adapters.github.writer import GitHubWriter
from app.core.facts import RepositoryRef
from tests.adapters.github.scripted import Scripted

APP_ID = 4242
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()


@pytest.fixture
def credentials(private_key: str) -> AppCredentials:
    return AppCredentials(APP_ID, private_key, "Iv1.client", "client-secret", "pulsegate")


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    server = Scripted()
    yield server
    server.stop()


@pytest.fixture
def cipher() -> Fernet:
    return Fernet(Fernet.generate_key())


@pytest.fixture
def store(cipher: Fernet) -> Callable[..., TokenStore]:
    """A token store as wiring builds it; without an argument only in memory."""

    def build(shared: Any = None, **more: Any) -> TokenStore:
        return TokenStore(
            shared,
            seal=lambda text: cipher.encrypt(text.encode()).decode(),
            unseal=lambda text: cipher.decrypt(text.encode()).decode(),
            **more,
        )

    return build


@pytest.fixture
def connect(
    credentials: AppCredentials, store: Callable[..., TokenStore]
) -> Iterator[Callable[..., GitHub]]:
    """Builds the adapter against an address. It waits for nothing between attempts."""
    built = []

    def build(api_url: str, **more: Any) -> GitHub:
        options = {"timeout": 5.0, "sleep": lambda _: None, "tokens": store(), **more}
        github = GitHub(options.pop("credentials", credentials), api_url=api_url, **options)
        built.append(github)
        return github

    yield build
    for github in built:
        github.close()


@pytest.fixture
def github(connect: Callable[..., GitHub], scripted: Scripted) -> GitHub:
    """The adapter against the scripted GitHub."""
    return connect(scripted.url)


@pytest.fixture
def reader(github: GitHub) -> GitHubReader:
    return GitHubReader(github.installation)


@pytest.fixture
def writer(github: GitHub) -> GitHubWriter:
    return writer_of(github)


@pytest.fixture
def app_api(github: GitHub) -> GitHubAppApi:
    return GitHubAppApi(github)


def writer_of(github: GitHub) -> GitHubWriter:
    return GitHubWriter(
        github.installation,
        app_id=github.credentials.app_id,
        bot_login=github.credentials.bot_login,
    )


@pytest.fixture
def repository() -> RepositoryRef:
    return RepositoryRef(id=1, installation_id=7, owner="acme", name="widgets")
