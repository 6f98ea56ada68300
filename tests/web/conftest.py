"""A server of its own for each test that asks for one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from app.settings import Settings
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
        yield lambda **more: stack.enter_context(Server(settings(**more)).running(wait_for))


@pytest.fixture
def server(serve: Callable[..., Server]) -> Server:
    return serve()
