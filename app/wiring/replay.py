"""Recordings: `pulsegate replay`, and the recorded day that a first start shows."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pydantic import SecretStr

from app.adapters.policy_file import parse_policy
from app.core.errors import UserError
from app.flows.replay import Replay, Rings, Step
from app.settings import Settings
from app.wiring.base import Base, setup_link
from app.wiring.up import OnReady, Ready
from app.wiring.worker import WorkerParts

RECORDED_DAY = Path(__file__).parent.parent / "demo" / "day.jsonl"


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
        triage = parts.without_github().triage
        with opened(path) as lines:
            yield from Replay(parts.base.database, triage, rings, parse_policy).run(lines)
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
        base = Base(here)
        try:
            link = setup_link(base) if base.app_credentials() is None else None
        finally:
            base.close()
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
