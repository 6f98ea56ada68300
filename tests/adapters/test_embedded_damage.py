"""A state folder that is not as it was made: a sentence that names what is wrong, and soon."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.adapters.embedded import EmbeddedServers
from app.settings import Settings


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="pulsegate-damage-", dir="/tmp"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def _started_once(state: Path) -> None:
    servers = EmbeddedServers(state, valkey=False, durable=False)
    servers.start()
    servers.stop()


def test_a_database_whose_files_are_gone_is_said_soon(
    folder: Path, complains: Callable[..., str]
) -> None:
    state = folder / "state"
    _started_once(state)
    for database in (state / "postgresql" / "base").iterdir():
        shutil.rmtree(database)
    servers = EmbeddedServers(state, valkey=False, durable=False)
    begin = time.monotonic()
    said = complains(servers.start)
    assert time.monotonic() - begin < 30
    assert "PostgreSQL" in said
    assert "backup" in said
    servers.stop()


def test_a_lock_that_is_a_folder_is_named(folder: Path, complains: Callable[..., str]) -> None:
    state = folder / "state"
    (state / "lock").mkdir(parents=True)
    said = complains(EmbeddedServers(state, valkey=False).start)
    assert str(state / "lock") in said


def test_a_state_folder_that_is_a_dangling_link_is_said(
    folder: Path, complains: Callable[..., str]
) -> None:
    state = folder / "state"
    state.symlink_to(folder / "nowhere")
    said = complains(EmbeddedServers(state, valkey=False).start)
    assert "File exists" not in said
    assert str(state) in said


def test_a_secret_key_that_is_no_text_is_damaged(
    folder: Path, complains: Callable[..., str]
) -> None:
    (folder / "secret_key").write_bytes(b"\xff\xfe\x00" * 30)
    settings = Settings(_env_file=None, state_dir=folder)  # type: ignore[call-arg]
    assert "secret_key" in complains(settings.secret_keys)
