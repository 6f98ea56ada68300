"""The parts of the web process. It loads no model and starts no worker."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from app.adapters.catalogues import words
from app.adapters.mail.inbound import Inbound
from app.adapters.policy_file import PolicyFiles
from app.adapters.queue import CeleryDoorbell
from app.core.ports import Doorbell, Policies
from app.core.said import Catalogues
from app.flows.access import READS, Access
from app.flows.proving import Proving
from app.settings import Settings
from app.wiring.base import Base
from app.wiring.mail import Letterbox, inbound_of, names, proving

# Requests in work at once, each of which may hold a connection to the database.
THREADS = 24


@dataclass(frozen=True)
class WebParts:
    """What the endpoints use. `clock` gives the time in UTC."""

    base: Base
    doorbell: Doorbell
    access: Access
    policies: Policies
    catalogues: Catalogues
    proving: Proving
    letterbox: Letterbox | None
    inbound: Inbound | None
    clock: Callable[[], datetime]

    @property
    def settings(self) -> Settings:
        """The settings."""
        return self.base.settings

    def close(self) -> None:
        """Closes every connection."""
        self.access.close()
        self.base.close()


def build(settings: Settings) -> WebParts:
    """All parts of one web process."""
    # As many connections as threads (half of them kept), so that none waits for one.
    base = Base(settings, pool_size=(THREADS + READS) // 2)
    doorbell, flows, box = CeleryDoorbell(base.redis_url), proving(base, _now), inbound_of(settings)
    hook = Letterbox(flows, box, doorbell, names(settings)) if box and box.kind == "hook" else None
    return WebParts(
        base=base,
        doorbell=doorbell,
        policies=PolicyFiles(),
        catalogues=words,
        proving=flows,
        letterbox=hook,
        inbound=box,
        access=Access(base.database, base.reader(), _now),
        clock=_now,
    )


def _now() -> datetime:
    return datetime.now(UTC)
