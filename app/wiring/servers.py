"""Which PostgreSQL and Valkey a command uses: the configured ones, else the embedded ones."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from app.adapters.embedded import EmbeddedServers, ensure
from app.settings import Settings, load
from app.wiring.schema import require

log = structlog.get_logger(__name__)


def missing(settings: Settings) -> dict[str, bool]:
    """Which of the two servers are ours to run, as the arguments of `EmbeddedServers`."""
    return {"postgres": settings.database_url is None, "valkey": settings.redis_url is None}


def environment(settings: Settings, servers: EmbeddedServers | None) -> dict[str, str]:
    """What a child process is to find in its environment, so that it runs on the same servers.

    Makes the secret key on first use where the database is embedded.
    """
    found = {
        "HOST": settings.host,
        "PORT": str(settings.port),
        "PUBLIC_URL": settings.public_url,
        "STATE_DIR": str(settings.state_dir),
        "SECRET_KEY": ",".join(key.get_secret_value() for key in settings.secret_keys()),
    }
    if servers:
        found |= {"DATABASE_URL": servers.database_url, "REDIS_URL": servers.redis_url}
    if settings.database_url:
        found["DATABASE_URL"] = settings.database_url.get_secret_value()
    if settings.redis_url:
        found["REDIS_URL"] = settings.redis_url.get_secret_value()
    return found


@contextmanager
def connected(settings: Settings) -> Iterator[dict[str, str]]:
    """The environment for a single command: another Pulsegate's servers, or own for the block."""
    if not settings.embedded:
        yield environment(settings, None)
        return
    with ensure(settings.state_dir, **missing(settings), say=log.info) as servers:
        yield environment(settings, servers)


@contextmanager
def connected_here(settings: Settings) -> Iterator[Settings]:
    """The settings of this very process on those servers, whose schema is the newest."""
    with connected(settings) as env:
        os.environ.update(env)
        require(env["DATABASE_URL"])
        yield load()
