"""Recordings: `pulsegate replay`."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from app.adapters.policy_file import parse_policy
from app.core.errors import UserError
from app.core.ports import Task
from app.flows.replay import Replay, Step
from app.settings import Settings
from app.wiring.worker import WorkerParts


class _NoBell:
    """A replay decides by itself, and what it decides is never carried out."""

    def ring(self, task: Task, id: int) -> None:
        """Nobody needs to wake up."""


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A recording, plain or gzip. UserError where it cannot be read."""
    try:
        with path.open("rb") as plain:
            packed = plain.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if packed else path.open("rb") as lines:
            yield lines  # type: ignore[misc]
    except (OSError, EOFError) as error:
        raise UserError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}",
            hint="Name a file of JSON lines, plain or packed with gzip.",
        ) from None


def replay(settings: Settings, path: Path) -> Iterator[Step]:
    """Every delivery of a recording through the pipeline, in observe mode."""
    parts = WorkerParts(settings, doorbell=_NoBell())
    try:
        flows = parts.flows()
        with opened(path) as lines:
            yield from Replay(parts.base.database, flows.triage, parse_policy).run(lines)
    finally:
        parts.close()
