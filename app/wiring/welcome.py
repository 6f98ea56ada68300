"""What a person is told who starts Pulsegate: where the App is made, and a recorded day until then."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import SecretStr

from app.core.errors import RetryLater
from app.settings import Settings
from app.wiring.base import Base, setup_link
from app.wiring.replay import replay
from app.wiring.up import OnReady, Ready

RECORDED_DAY = Path(__file__).parent.parent / "demo" / "day.jsonl"


def setup_lines(settings: Settings) -> Sequence[str]:
    """The link to `/setup`, in words; nothing once there is an App."""
    base = Base(settings, pool_size=1)
    try:
        link = setup_link(base) if base.app_credentials() is None else None
    except RetryLater as error:
        return (f"Whether there is a GitHub App is not known: {error.reason}.",)
    finally:
        base.close()
    if link is None:
        return ()
    return (
        "No GitHub App is configured. To make one, open this link (it is for you alone):",
        f"  {link}",
    )


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
        lines = setup_lines(here)
        for line in lines:
            ready.say(line)
        if not lines:
            return
        if settings.public_url != ready.address:
            # The recorded day is shown to nobody who may come from elsewhere.
            ready.say("Its decisions are then shown to who signs in.")
            return
        new = 0
        for step in replay(here, RECORDED_DAY):
            new += step.new
            if ready.stopping():
                return
        if new:
            ready.say(f"Until then you see a recorded day: {new} deliveries were replayed.")
        ready.say(f"The decisions and their reasons: {ready.address}/")

    return on_ready
