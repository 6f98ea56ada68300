"""Mail in: an SMTP or LMTP server for our own addresses, meant to stand behind any mail server.

Each mail is taken or refused within the session, with the same words whatever came of it: who
writes learns nothing, and nothing is ever sent back later.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import structlog
from aiosmtpd.controller import Controller
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session

from app.adapters.mail.inbound import Inbound
from app.core.errors import RetryLater
from app.core.proofs.letters import MOST_BYTES

log = structlog.get_logger(__name__)

MOST_RECIPIENTS = 5
TIMEOUT = 60  # seconds for a silent client

Take = Callable[[bytes, tuple[str, ...], str], None]
"""Takes a raw mail with its envelope's recipients and sender in; may raise `RetryLater`."""


class _Handler:
    def __init__(self, inbound: Inbound, take: Take) -> None:
        self._inbound = inbound
        self._take = take

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
        session: Session,  # noqa: ARG002
        envelope: Envelope,
    ) -> str:
        raw = envelope.content
        data = raw if isinstance(raw, bytes) else (raw or "").encode("utf-8", "replace")
        given = (data, tuple(envelope.rcpt_tos), envelope.mail_from or "")
        try:
            await asyncio.get_running_loop().run_in_executor(None, lambda: self._take(*given))
        except RetryLater:
            return "451 4.3.0 try again later"
        except Exception:
            log.exception("a fault of ours; the mail is to come again")
            return "451 4.3.0 try again later"
        return "250 2.0.0 OK"


class _Door(Controller):
    """aiosmtpd's controller, with the server that we want."""

    def __init__(self, handler: _Handler, inbound: Inbound, **more: Any) -> None:
        self._lmtp = inbound.kind == "lmtp"
        super().__init__(handler, hostname=inbound.host, port=inbound.port, **more)

    def factory(self) -> SMTP:
        """One session's protocol."""
        made = LMTP if self._lmtp else SMTP
        return made(
            self.handler,
            data_size_limit=MOST_BYTES,
            enable_SMTPUTF8=True,
            timeout=TIMEOUT,
            ident="Pulsegate",
        )


class Receiver:
    """A server on a thread of its own."""

    def __init__(self, inbound: Inbound, take: Take) -> None:
        self._door = _Door(_Handler(inbound, take), inbound, ready_timeout=10.0)

    def start(self) -> None:
        """Listens; answers once it does."""
        self._door.start()

    def stop(self) -> None:
        """Ends it, and every session."""
        self._door.stop()
