"""Mail out and in: the sender, and `pulsegate mail`, the receiver as a process of its own."""

import hashlib
import secrets
import signal
import threading
from collections.abc import Callable
from datetime import UTC, datetime

import structlog

from app.adapters.catalogues import words
from app.adapters.mail.bounces import reported
from app.adapters.mail.dns import Records
from app.adapters.mail.imap import Poller
from app.adapters.mail.inbound import HINT, Inbound, inbound
from app.adapters.mail.keys import TxtLookup
from app.adapters.mail.lists import InstalledLists
from app.adapters.mail.reading import Unreadable, read
from app.adapters.mail.receiver import Receiver, behind_others, by_records
from app.adapters.mail.sender import Sender
from app.adapters.queue import CeleryDoorbell
from app.core.errors import UserError
from app.core.ports import Doorbell
from app.db import bookmarks
from app.flows.bouncing import Bouncing
from app.flows.fairness import Rings
from app.flows.proving import Proving
from app.settings import Settings, address_and_port
from app.wiring.base import Base

log = structlog.get_logger(__name__)

_DNS = 53


def sender(settings: Settings) -> Sender | None:
    """The mail server that is configured, if any."""
    if settings.smtp_url is None or settings.mail_from is None:
        return None
    box = inbound_of(settings)
    return Sender(
        settings.smtp_url.get_secret_value(), settings.mail_from, box.address if box else None
    )


def inbound_of(settings: Settings) -> Inbound | None:
    """How mails come in, if they do. `UserError` where it is not understood."""
    if settings.mail_inbound is None:
        return None
    return inbound(settings.mail_inbound.get_secret_value())


def names(settings: Settings) -> Records:
    """Whom everything about mail asks for records of DNS."""
    server = settings.name_server
    return Records(address_and_port(server, _DNS) if server else None)


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
        takes_mail=names(base.settings).takes_mail if base.settings.mail_check_domain else None,
    )


class Letterbox:
    """Takes raw mails in, whichever way they came; thread-safe."""

    def __init__(self, flows: Proving, box: Inbound, doorbell: Doorbell, lookup: TxtLookup) -> None:
        self._flows = flows
        self._box = box
        self._doorbell = doorbell
        self._lookup = lookup
        self._bouncing = Bouncing(flows.database, flows.keyed, flows.clock)

    def take(
        self, raw: bytes, recipients: tuple[str, ...], envelope_from: str, spf: str = ""
    ) -> None:
        """What came of it is recorded; nobody is told. Raises `RetryLater` without a database."""
        digest = hashlib.sha256(raw).hexdigest()
        rings: Rings = []
        try:
            report = reported(raw, recipients)
            if report is not None:
                outcome = self._bouncing.take(report, digest, self._box.token)
            else:
                outcome, rings = self._read(raw, recipients, envelope_from, spf, digest)
        except Unreadable as error:
            outcome = self._bouncing.refused(digest, str(error))
        log.info("a mail came in", outcome=outcome)
        for task, id_ in rings:
            self._doorbell.ring(task, id_)

    def refused(self, why: str) -> None:
        """A mail was refused before all of it was there; recorded like all others."""
        log.info("a mail was refused", why=why)
        self._bouncing.refused(f"unread:{secrets.token_hex(16)}", why)

    def _read(
        self, raw: bytes, recipients: tuple[str, ...], envelope_from: str, spf: str, digest: str
    ) -> tuple[str, Rings]:
        letter = read(
            raw,
            recipients,
            envelope_from,
            self._lookup,
            spf=spf,
            behind=self._box.behind,
            with_arc=bool(self._box.sealers),
        )
        return self._flows.take_letter(letter, digest, self._box.token, self._box.sealers)


def receive(settings: Settings) -> None:
    """Takes mails in until SIGTERM or Ctrl-C. `UserError` where it cannot listen."""
    box = inbound_of(settings)
    if box is None or box.kind == "hook":
        raise UserError(
            "MAIL_INBOUND names nothing that this command serves",
            hint=HINT,
        )
    base = Base(settings, pool_size=3)
    flows = proving(base, _now)
    letterbox = Letterbox(flows, box, CeleryDoorbell(base.redis_url), names(settings))
    receiver = _receiver(settings, box, letterbox, base)
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


def _receiver(
    settings: Settings, box: Inbound, letterbox: Letterbox, base: Base
) -> Receiver | Poller:
    """A server of ours, or who looks into a mailbox."""
    if box.kind == "imap":

        def read() -> None:
            with base.database.begin() as tx:
                bookmarks.put(tx, bookmarks.MAILBOX, _now())

        return Poller(box, letterbox.take, read, refused=letterbox.refused)
    # Behind another server, only that one knows who brought a mail: it is to say so by itself.
    alone = box.kind == "smtp" and not box.behind
    spf = by_records(names(settings)) if alone else behind_others
    return Receiver(box, letterbox.take, spf, refused=letterbox.refused)


def _now() -> datetime:
    return datetime.now(UTC)
