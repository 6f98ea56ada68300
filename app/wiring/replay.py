"""Recordings: `pulsegate replay`, and the recorded day that a first start shows."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pydantic import SecretStr

from app.adapters.policy_file import parse_policy
from app.core.errors import UserError
from app.core.ports import Task
from app.flows.replay import Replay, Step
from app.settings import Settings
from app.wiring.base import setup_link
from app.wiring.up import OnReady, Ready
from app.wiring.worker import WorkerParts

RECORDED_DAY = Path(__file__).parent.parent / "demo" / "day.jsonl"


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


def welcome(settings: Settings) -> OnReady:
    """What `pulsegate up` does once it stands: without an App, say so and show a recorded day."""

    def on_ready(ready: Ready) -> None:
        here = settings.model_copy(
            update={
                "database_url": SecretStr(ready.database_url),
                "redis_url": SecretStr(ready.redis_url),
                "secret_key": settings.secret_keys(),
            }
        )
        parts = WorkerParts(here, doorbell=_NoBell())
        try:
            link = setup_link(parts.base) if parts.base.app_credentials() is None else None
        finally:
            parts.close()
        if link is None:
            return
        ready.say("No GitHub App is configured. To make one, open this link (it is for you alone):")
        ready.say(f"  {link}")
        new = 0
        for step in replay(here, RECORDED_DAY):
            new += step.new
            if ready.stopping():
                return
        if new:
            ready.say(f"Until then you see a recorded day: {new} deliveries were replayed.")
        ready.say(f"The decisions and their reasons: {ready.address}/")

    return on_ready
