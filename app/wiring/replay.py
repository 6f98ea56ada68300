"""Recordings: `pulsegate replay`."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from app.adapters.policy_file import parse_policy
from app.core.change import Change
from app.core.errors import UserError
from app.core.recording import LINE_LIMIT
from app.flows.replay import Replay, Rings, Step
from app.settings import Settings
from app.wiring.worker import WorkerParts


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A recording, plain or gzip. UserError where it cannot be read."""
    try:
        with path.open("rb") as plain:
            packed = plain.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if packed else path.open("rb") as lines:
            yield lines  # type: ignore[misc]
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}",
            hint="Name a file of JSON lines, plain or packed with gzip.",
        ) from None


def replay(settings: Settings, path: Path) -> Iterator[Step]:
    """Every delivery of a recording through the pipeline, in observe mode."""
    rings = Rings()
    parts = WorkerParts(settings, doorbell=rings)
    try:
        # Also where an App is configured, it has nothing to do with what was recorded elsewhere.
        changes: dict[tuple[int, int], Change] = {}
        triage = parts.without_github(changes).triage
        with opened(path) as file:
            # Never more of a line than is looked at: a packed one may have no end.
            lines = iter(lambda: file.readline(LINE_LIMIT + 1), b"")
            yield from Replay(parts.base.database, triage, rings, parse_policy, changes).run(lines)
    finally:
        parts.close()
