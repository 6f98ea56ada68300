"""Mail out and in: the sender, and `pulsegate mail`, the receiver as a process of its own."""

import hashlib
import secrets
import signal
import threading
from collections.abc import Callable
from datetime import UTC, datetime

import structlog

from app.adapters.catalogues import words
from app.adapters.mail.dns import records
from app.adapters.mail.inbound import Inbound, inbound
from app.adapters.mail.keys import TxtLookup
from app.adapters.mail.lists import InstalledLists
from app.adapters.mail.reading import Unreadable, read
from app.adapters.mail.receiver import Receiver
from app.adapters.mail.sender import Sender
from app.adapters.queue import CeleryDoorbell
from app.core.errors import UserError
from app.core.ports import Doorbell
from app.flows.proving import Proving
from app.settings import Settings
from app.wiring.base import Base

log = structlog.get_logger(__name__)


def sender(settings: Settings) -> Sender | None:
    """The mail server that is configured, if any."""
    if settings.smtp_url is None or settings.mail_from is None:
        return None
    return Sender(settings.smtp_url.get_secret_value(), settings.mail_from)


def inbound_of(settings: Settings) -> Inbound | None:
    """How mails come in, if they do. `UserError` where it is not understood."""
    if settings.mail_inbound is None:
        return None
    return inbound(settings.mail_inbound.get_secret_value())


def proving(base: Base, clock: Callable[[], datetime]) -> Proving:
    """The flows of proofs."""
    return Proving(
        database=base.database,
        lists=InstalledLists(),
        keyed=base.hasher.keyed_hash,
        seal=base.vault.seal,
        random=secrets.token_bytes,
        catalogues=words,
        site=base.settings.public_url.rstrip("/"),
        clock=clock,
    )


class Letterbox:
    """Takes raw mails in, whichever way they came; thread-safe."""

    def __init__(self, flows: Proving, box: Inbound, doorbell: Doorbell, lookup: TxtLookup) -> None:
        self._flows = flows
        self._box = box
        self._doorbell = doorbell
        self._lookup = lookup

    def take(self, raw: bytes, recipients: tuple[str, ...], envelope_from: str) -> None:
        """What came of it is recorded; nobody is told. Raises `RetryLater` without a database."""
        digest = hashlib.sha256(raw).hexdigest()
        try:
            letter = read(raw, recipients, envelope_from, self._lookup)
        except Unreadable as error:
            log.info("a mail was refused", why=str(error))
            return
        outcome, rings = self._flows.take_letter(letter, digest, self._box.token)
        log.info("a mail came in", outcome=outcome)
        for task, id_ in rings:
            self._doorbell.ring(task, id_)


def receive(settings: Settings) -> None:
    """Runs the receiver until SIGTERM or Ctrl-C. `UserError` where it cannot listen."""
    box = inbound_of(settings)
    if box is None or box.kind == "hook":
        raise UserError(
            "MAIL_INBOUND names no server of ours",
            hint="Set it like smtp://127.0.0.1:2525?domain=verify.example.org.",
        )
    base = Base(settings, pool_size=3)
    flows = proving(base, lambda: datetime.now(UTC))
    letterbox = Letterbox(flows, box, CeleryDoorbell(base.redis_url), records(box.nameserver))
    receiver = Receiver(box, letterbox.take)
    ended = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: ended.set())
    try:
        try:
            receiver.start()
        except OSError as error:
            raise UserError(
                f"{box.host}:{box.port} cannot be listened on: {error.strerror or error}",
                hint="Choose another port in MAIL_INBOUND.",
            ) from None
        log.info("mail is taken", host=box.host, port=box.port, domain=box.domain, kind=box.kind)
        ended.wait()
        receiver.stop()
    finally:
        base.close()
