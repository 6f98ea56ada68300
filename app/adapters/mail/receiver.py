"""Mail in: an SMTP or LMTP server for our own addresses, meant to stand behind any mail server.

Each mail is taken or refused within the session, with the same words whatever came of it: who
writes learns nothing, and nothing is ever sent back later.
"""

import asyncio
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

import structlog
from aiosmtpd.controller import Controller
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session

from app.adapters.mail.dns import Records
from app.adapters.mail.inbound import Inbound
from app.core.errors import RetryLater
from app.core.proofs.letters import MOST_BYTES
from app.core.proofs.spf import check

log = structlog.get_logger(__name__)

MOST_RECIPIENTS = 5
TIMEOUT = 60  # seconds for a silent client

Take = Callable[[bytes, tuple[str, ...], str, str], None]
"""Takes a raw mail in, with its envelope's recipients and sender, and what SPF says of the server that
brought it ("" for unknown). May raise `RetryLater`."""

Spf = Callable[[str, str, str], str]
"""What SPF says of a server: its address, the name it gave itself, and the envelope's sender."""


def behind_others(ip: str, helo: str, sender: str) -> str:  # noqa: ARG001 - `Spf`
    """For a receiver that stands behind the operator's own server: who brought it there is not known."""
    return ""


def by_records(names: Records) -> Spf:
    """Asks the sender's domain, for servers that come from the internet themselves."""

    def spf(ip: str, helo: str, sender: str) -> str:
        try:
            theirs = ip_address(ip).is_global
        except ValueError:  # a socket that is no address
            return ""
        return check(ip, helo, sender, names.for_spf()) if theirs else ""

    return spf


class _Handler:
    def __init__(
        self, inbound: Inbound, take: Take, spf: Spf, refused: Callable[[str], None]
    ) -> None:
        self._inbound = inbound
        self._take = take
        self._spf = spf
        self.refused = refused

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self,
        server: SMTP,  # noqa: ARG002 - aiosmtpd's signature, here and below
        session: Session,  # noqa: ARG002
        envelope: Envelope,
        address: str,
        options: list[str],  # noqa: ARG002
    ) -> str:
        if self._inbound.token(address) is None:
            return "550 5.1.1 no such mailbox here"
        if len(envelope.rcpt_tos) >= MOST_RECIPIENTS:
            return "452 4.5.3 too many recipients"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,
        envelope: Envelope,
    ) -> str:
        raw = envelope.content
        data = raw if isinstance(raw, bytes) else (raw or "").encode("utf-8", "replace")
        recipients, sender = tuple(envelope.rcpt_tos), envelope.mail_from or ""
        peer, helo = str((session.peer or ("",))[0]), session.host_name or ""

        def work() -> None:
            self._take(data, recipients, sender, self._spf(peer, helo, sender))

        try:
            await asyncio.get_running_loop().run_in_executor(None, work)
        except RetryLater:
            return "451 4.3.0 try again later"
        except Exception:
            log.exception("a fault of ours; the mail is to come again")
            return "451 4.3.0 try again later"
        return "250 2.0.0 OK"


class _Noting(SMTP):
    """Notes what is refused for its size, of which aiosmtpd tells no handler."""

    async def push(self, status: Any) -> None:
        """Answers the client."""
        if isinstance(status, str) and status.startswith("552"):
            why = f"it is larger than {MOST_BYTES:,} bytes"
            try:
                await asyncio.get_running_loop().run_in_executor(
                    None, self.event_handler.refused, why
                )
            except RetryLater as error:
                log.info("a mail was refused", why=why, not_recorded=error.reason)
        await super().push(status)


class _NotingLmtp(_Noting, LMTP):
    """The same by LMTP."""


class _Door(Controller):
    """aiosmtpd's controller, with the server that we want."""

    def __init__(self, handler: _Handler, inbound: Inbound, **more: Any) -> None:
        self._lmtp = inbound.kind == "lmtp"
        super().__init__(handler, hostname=inbound.host, port=inbound.port, **more)

    def factory(self) -> SMTP:
        """One session's protocol."""
        made = _NotingLmtp if self._lmtp else _Noting
        return made(
            self.handler,
            data_size_limit=MOST_BYTES,
            enable_SMTPUTF8=True,
            timeout=TIMEOUT,
            ident="Pulsegate",
        )


class Receiver:
    """A server on a thread of its own. `refused` is told why a mail was not even taken whole."""

    def __init__(
        self,
        inbound: Inbound,
        take: Take,
        spf: Spf = behind_others,
        *,
        refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._door = _Door(_Handler(inbound, take, spf, refused), inbound, ready_timeout=10.0)

    def start(self) -> None:
        """Listens; answers once it does."""
        self._door.start()

    def stop(self) -> None:
        """Ends it, and every session."""
        self._door.stop()
