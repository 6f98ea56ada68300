"""What many tests need: one real PostgreSQL and one real Valkey for each test process."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.adapters.embedded import EmbeddedServers
from app.core.errors import UserError

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.orm import Session

ROOT = Path(__file__).parent.parent

# The environment of whoever runs the tests must not reach them.
for _name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "STATE_DIR", "PORT", "HOST", "PUBLIC_URL"):
    os.environ.pop(_name, None)


@pytest.fixture(scope="session")
def state_folder() -> Iterator[Path]:
    """A folder for servers that every user may pass, also where the tests run as root."""
    folder = Path(tempfile.mkdtemp(prefix="pulsegate-test-", dir="/tmp"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def servers(state_folder: Path) -> Iterator[EmbeddedServers]:
    """The servers of this test process. Whoever kills one must `start_again` it."""
    running = EmbeddedServers(state_folder / "shared", durable=False)
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def database_url(servers: EmbeddedServers) -> str:
    """A database with all migrations."""
    from app.db.migrate import upgrade

    upgrade(servers.database_url)
    return servers.database_url


@pytest.fixture
def redis_url(servers: EmbeddedServers) -> Iterator[str]:
    """An empty Valkey, emptied again afterwards; `broker_url` is its address for Celery."""
    from redis import Redis

    yield servers.redis_url
    with Redis.from_url(servers.redis_url) as client:
        client.flushall()


@pytest.fixture
def broker_url(redis_url: str) -> str:
    from app.adapters.queue import broker_url

    return broker_url(redis_url)


@pytest.fixture(scope="session")
def _engine(database_url: str) -> Iterator["Engine"]:
    from sqlalchemy import create_engine

    engine = create_engine(database_url, pool_pre_ping=True)
    yield engine
    engine.dispose()


@pytest.fixture
def engine(_engine: "Engine") -> Iterator["Engine"]:
    """An engine on a migrated database without rows; what the test writes goes away after it."""
    yield _engine
    _empty(_engine)


@pytest.fixture
def db(engine: "Engine") -> Iterator["Session"]:
    """A session on that database; not committed unless the test does."""
    from sqlalchemy.orm import Session

    with Session(engine) as session:
        yield session


def _empty(engine: "Engine") -> None:
    from sqlalchemy import text

    with engine.begin() as connection:
        connection.execute(text("set local lock_timeout = '10s'"))
        # The audit log refuses it otherwise; only PostgreSQL's superuser can say so.
        connection.execute(text("set local session_replication_role = replica"))
        names = connection.scalars(
            text(
                "select quote_ident(tablename) from pg_tables "
                "where schemaname = 'public' and tablename <> 'alembic_version'"
            )
        ).all()
        query = " union all ".join(f"select '{n}' where exists (select from {n})" for n in names)
        full = connection.scalars(text(query)).all() if names else []
        if full:
            connection.execute(text(f"truncate {', '.join(full)} restart identity cascade"))


@pytest.fixture
def start_again() -> Callable[[EmbeddedServers], None]:
    """Poll servers of which some were killed until both answer."""

    def poll(servers: EmbeddedServers) -> None:
        def answers() -> bool:
            servers.poll()  # again and again: the first attempt may come too early
            return servers.running()

        wait_for(answers, "the servers answer again")

    return poll


def wait_for(condition: Callable[[], object], what: str, seconds: float = 20) -> None:
    """Until the condition is true; a failure that says what did not happen."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.01)


@pytest.fixture(name="wait_for")
def wait_for_fixture() -> Callable[..., None]:
    return wait_for


@pytest.fixture
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def chromium() -> str:
    """The machine's Chromium; without one the test is skipped, but never under CI=true."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("Chromium is missing, and CI skips nothing", pytrace=False)
    return found or pytest.skip("needs Chromium: apt-get install chromium")


@pytest.fixture
def complains() -> Callable[..., str]:
    """The message and hint of the UserError that a call raises."""

    def call(function: Callable[[], object]) -> str:
        with pytest.raises(UserError) as caught:
            function()
        assert caught.value.hint, "every UserError says what to do"
        return f"{caught.value.message}\n{caught.value.hint}"

    return call
