"""Mail in by IMAP: a mailbox of its own that is looked into now and then."""

import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from email.parser import BytesHeaderParser
from email.policy import compat32
from email.utils import getaddresses, parseaddr
from typing import Any

import structlog

from app.adapters.mail.inbound import Inbound, Mailbox
from app.adapters.mail.receiver import Take
from app.core.errors import RetryLater, UserError
from app.core.proofs.letters import MOST_BYTES

log = structlog.get_logger(__name__)

TIMEOUT = 30  # seconds for one answer of the server
MOST_AT_ONCE = 200
MOST_HEADERS = 200_000
# A wrong password is not tried every minute: servers shut out who does that.
LONGER = 10
LONGEST = 3600.0  # seconds until a mail that could not be taken is tried once more
STOPS_IN = 8.0  # seconds: less than the supervisor and Docker leave


class Poller:
    """Looks into a mailbox, on a thread of its own. A mail is marked only after it was taken.

    `read` is called each time that the mailbox was read, `refused` with the reason for what is not even
    fetched.
    """

    def __init__(
        self,
        box: Inbound,
        take: Take,
        read: Callable[[], None] = lambda: None,
        context: ssl.SSLContext | None = None,
        *,
        refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        assert box.mailbox is not None  # noqa: S101 - only such an address makes one
        self._box, self._mailbox, self._take, self._read = box, box.mailbox, take, read
        self._refused = refused
        self._context = context or ssl.create_default_context()
        # Mails that could not be taken, by uid: how often, and when they are due again.
        self._later: dict[int, tuple[int, float]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="imap", daemon=True)

    def start(self) -> None:
        """Looks into it from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Ends after the mail in hand; what was not taken by then stays as it is."""
        self._ended.set()
        self._thread.join(STOPS_IN)

    def poll(self) -> int:
        """Takes in what is unseen; answers how many. `RetryLater` where the server does not do its part.

        A mail that cannot be taken now stays unseen. `UserError` for what only a person can mend.
        """
        from imapclient.exceptions import IMAPClientError, LoginError

        try:
            with _connected(self._mailbox, self._context) as client:
                return self._all(client)
        except LoginError as error:
            raise UserError(
                f"{self._mailbox} does not let us in: {str(error)[:100]}",
                hint="Check user and password in MAIL_INBOUND.",
            ) from None
        except (IMAPClientError, OSError) as error:
            raise RetryLater(f"{self._mailbox}: {type(error).__name__}: {error}"[:300]) from None

    def _run(self) -> None:
        """Until told to stop. What goes wrong is logged, and tried again."""
        while not self._ended.is_set():
            wait = self._mailbox.every
            try:
                self.poll()
                self._read()
            except RetryLater as error:
                log.warning("the mailbox was not read", why=error.reason)
            except UserError as error:
                log.warning("the mailbox was not read", why=f"{error.message}. {error.hint}")
                wait *= LONGER
            except Exception:
                log.exception("a fault of ours; the mailbox is read again")
            self._ended.wait(wait)

    def _all(self, client: Any) -> int:
        client.select_folder(self._mailbox.folder)
        found = self._due(client.search("UNSEEN"))[:MOST_AT_ONCE]
        sizes = client.fetch(found, ["RFC822.SIZE"]) if found else {}
        taken = 0
        for uid in found:
            if self._ended.is_set():
                break
            size = sizes.get(uid, {}).get(b"RFC822.SIZE", 0)
            if size > MOST_BYTES:
                self._refused(f"it is larger than {MOST_BYTES:,} bytes")
            elif not self._handed_over(client.fetch([uid], ["BODY.PEEK[]"]).get(uid, {})):
                tries = self._later.get(uid, (0, 0.0))[0] + 1
                wait = min(self._mailbox.every * 2**tries, LONGEST)
                self._later[uid] = tries, time.monotonic() + wait
                continue
            self._done(client, uid)
            taken += 1
        return taken

    def _due(self, unseen: Sequence[int]) -> list[int]:
        """Those that are due, new ones first: mails whose keys nobody answers for hold up nobody's."""
        self._later = {uid: self._later[uid] for uid in unseen if uid in self._later}
        now = time.monotonic()
        due = [uid for uid in unseen if self._later.get(uid, (0, 0.0))[1] <= now]
        return sorted(due, key=lambda uid: (self._later.get(uid, (0, 0.0))[0], uid))

    def _handed_over(self, parts: Mapping[bytes, Any]) -> bool:
        """Whether it was taken; one that is gone by now needs no more."""
        raw = parts.get(b"BODY[]")
        if not isinstance(raw, bytes):
            return False
        recipients, envelope_from = envelope(raw, self._box.token)
        try:
            self._take(raw, recipients, envelope_from, "")
        except RetryLater as error:
            log.info("a mail is taken later", why=error.reason)
            return False
        except Exception:
            log.exception("a fault of ours; the mail is tried again")
            return False
        return True

    def _done(self, client: Any, uid: int) -> None:
        client.add_flags([uid], [rb"\Seen"], silent=True)
        if self._mailbox.after == "delete":
            client.delete_messages([uid], silent=True)
            if client.has_capability("UIDPLUS"):
                client.uid_expunge([uid])
            else:
                client.expunge()


def _connected(box: Mailbox, context: ssl.SSLContext) -> Any:
    """A client that is signed in; without TLS no password is sent."""
    from imapclient import IMAPClient

    client = IMAPClient(
        box.host, box.port, ssl=box.tls, ssl_context=context if box.tls else None, timeout=TIMEOUT
    )
    try:
        if not box.tls:
            client.starttls(context)  # raises where there is none
        client.login(box.user, box.password)
    except BaseException as error:
        _hung_up(client)
        raise error from None
    return client


def _hung_up(client: Any) -> None:
    """Where TLS failed its own socket is closed already, which would hide why."""
    with suppress(OSError):
        client.shutdown()


def envelope(raw: bytes, token_of: Callable[[str], str | None]) -> tuple[tuple[str, ...], str]:
    """Recipients of ours and the sender of the envelope, as far as a mailbox still tells.

    The recipients are those of To, which is what counts anyhow. The first Return-Path is the one that
    the server put on top; without one, From stands for it. Answers nothing for what cannot be read.
    """
    try:
        headers = BytesHeaderParser(policy=compat32).parsebytes(raw[:MOST_HEADERS])
        named = [a for _, a in getaddresses([str(v) for v in headers.get_all("to", [])])]
        path = headers.get_all("return-path", [])[:1] or headers.get_all("from", [])[:1]
        sender = parseaddr(str(path[0]))[1] if path else ""
    except Exception:  # noqa: BLE001
        # The standard library has crashed on broken headers in many ways; each tells nothing.
        return (), ""
    ours = [a for a in named if token_of(a) is not None]
    return tuple(dict.fromkeys(ours))[:5], sender
