"""Mail out: SMTP with TLS and a password where the server wants one."""

import smtplib
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from urllib.parse import unquote, urlsplit

from app.core.errors import Rejected, RetryLater
from app.core.proofs.bounces import PREFIX
from app.core.proofs.mails import Mail
from app.core.text import one_line

TIMEOUT = 20  # seconds
_SMTP, _SMTPS = 587, 465
_NO_MAIL = _NO_UTF8 = 553  # as a server would say it (RFC 6531, 3.5)


@dataclass(frozen=True)
class Sender:
    """Sends by one server: `smtp://user:password@host:587` (TLS where it offers it) or `smtps://`.

    With a password TLS is a must: it never goes over the line in clear. What comes back goes to the
    address of ours that `bounces` makes of a name, or to the sender where there is none.
    """

    url: str
    sender: str
    bounces: Callable[[str], str] | None = None
    tls: ssl.SSLContext | None = None

    def send(self, mail: Mail, now: datetime, reference: str) -> None:
        """Hands it over. `Rejected` where the server will never take it for that address.

        Everything else is `RetryLater`: a wrong password is no fault of the address.
        """
        try:
            message = built(mail, self.sender, now, reference)
        except ValueError:  # the standard library sees a line's end or the like in the address
            raise Rejected("no mail can be written to that address", status=_NO_MAIL) from None
        try:
            with self._connected() as server:
                self._hand_over(server, message, mail.to, reference)
        except smtplib.SMTPRecipientsRefused as error:
            code, words = next(iter(error.recipients.values()))
            raise self._refusal(code, words) from None
        except smtplib.SMTPDataError as error:
            raise self._refusal(error.smtp_code, error.smtp_error) from None
        except smtplib.SMTPResponseException as error:
            said = self._refusal(error.smtp_code, error.smtp_error).reason
            raise RetryLater(f"{said} ({type(error).__name__})") from None
        except (smtplib.SMTPException, OSError) as error:
            raise RetryLater(f"the mail server did not take it: {type(error).__name__}") from None

    def _hand_over(
        self, server: smtplib.SMTP, message: EmailMessage, to: str, reference: str
    ) -> None:
        try:
            if self.bounces is not None:
                own = self.bounces(f"{PREFIX}{reference}")
                with suppress(smtplib.SMTPSenderRefused):
                    server.send_message(message, from_addr=own, to_addrs=[to])
                    return
                # Some servers take their users' own addresses only; what comes back then is known
                # by its Message-ID, if it reaches us.
            server.send_message(message, from_addr=self.sender, to_addrs=[to])
        except smtplib.SMTPNotSupportedError:
            why = "the mail server takes no addresses in other scripts (SMTPUTF8)"
            raise Rejected(why, status=_NO_UTF8) from None

    def _connected(self) -> smtplib.SMTP:
        split = urlsplit(self.url)
        host = split.hostname or "127.0.0.1"
        context = self.tls or ssl.create_default_context()
        if split.scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                host, split.port or _SMTPS, timeout=TIMEOUT, context=context
            )
        else:
            server = smtplib.SMTP(host, split.port or _SMTP, timeout=TIMEOUT)
            server.ehlo()
            if server.has_extn("starttls"):
                server.starttls(context=context)
                server.ehlo()
            elif split.username:
                server.close()
                raise RetryLater(
                    "the mail server offers no TLS, and the password is not sent in clear"
                )
        if split.username:
            server.login(unquote(split.username), unquote(split.password or ""))
        return server

    @staticmethod
    def _refusal(code: int, words: bytes | str) -> Rejected | RetryLater:
        said = words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)
        what = f"the mail server said {code} {said[:100]}"
        return Rejected(what, status=code) if code >= 500 else RetryLater(what)


def built(mail: Mail, sender: str, now: datetime, reference: str) -> EmailMessage:
    """Plain text and HTML, no pictures, nothing that is counted when it is opened."""
    message = EmailMessage()
    message["From"], message["To"] = sender, mail.to
    message["Subject"] = one_line(mail.subject, 200)
    message["Date"] = format_datetime(now)
    message["Message-ID"] = f"<{reference}@{sender.rpartition('@')[2]}>"
    # RFC 3834: no automatic answers to this, please.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    message.add_alternative(mail.html, subtype="html")
    return message
