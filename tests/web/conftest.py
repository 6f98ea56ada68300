"""A server of its own for each test that asks for one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from app.adapters.embedded import EmbeddedServers
from app.db.engine import Database
from app.settings import Settings
from tests.conftest import wait_for
from tests.fakes.github import GitHub
from tests.web.deciding import Decided
from tests.web.serving import KEY, SECRET, Server


@pytest.fixture
def settings(database_url: str, redis_url: str, engine: object) -> Callable[..., Settings]:
    """Settings that take nothing from the environment; `engine` empties the tables afterwards."""

    def make(**more: Any) -> Settings:
        values = {
            "database_url": database_url,
            "redis_url": redis_url,
            "secret_key": KEY,
            "github_webhook_secret": SECRET,
            **more,
        }
        return Settings(_env_file=None, **values)

    return make


@pytest.fixture
def serve(
    settings: Callable[..., Settings], wait_for: Callable[..., None]
) -> Iterator[Callable[..., Server]]:
    """Starts a server with these settings; ends it after the test."""
    with ExitStack() as stack:
        yield lambda **more: stack.enter_context(Server(settings, **more).running(wait_for))


@pytest.fixture(scope="session")
def _shared(database_url: str, servers: EmbeddedServers) -> Iterator[Server]:
    made = Server(
        lambda **more: Settings(
            _env_file=None,
            database_url=database_url,
            redis_url=servers.redis_url,
            secret_key=KEY,
            github_webhook_secret=SECRET,
            **more,
        )
    )
    with made.running(wait_for):
        yield made


@pytest.fixture
def server(_shared: Server, engine: object, redis_url: str) -> Server:
    """One server without an App for all tests that need no other; its data goes after each."""
    return _shared


@pytest.fixture
def github() -> Iterator[GitHub]:
    """GitHub's stand-in: `acme/widgets` with olivia, mark, wendy and tom, who have rights there."""
    with GitHub(judge=False) as github:
        github.world.hooks.stop()
        yield github


@pytest.fixture
def gate(serve: Callable[..., Server], github: GitHub) -> Callable[..., Server]:
    """Starts a server that has the stand-in's App."""

    def start(**more: Any) -> Server:
        app = github.world.app
        given = {
            "github_app_id": app.id,
            "github_private_key": app.private_key_pem,
            "github_client_id": app.client_id,
            "github_client_secret": app.client_secret,
            "github_api_url": github.api_url,
            "github_web_url": github.web_url,
            "mail_check_domain": False,  # no name server of the world is asked
        }
        return serve(**{**given, **more})

    return start


@pytest.fixture
def decided(engine: object, database_url: str) -> Iterator[Decided]:
    """Stores pull requests with their decisions."""
    database = Database(database_url)
    yield Decided(database)
    database.close()
