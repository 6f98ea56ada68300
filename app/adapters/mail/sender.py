"""Mail out: SMTP with TLS and a password where the server wants one."""

import smtplib
import ssl
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from urllib.parse import unquote, urlsplit

from app.core.errors import Rejected, RetryLater
from app.core.proofs.mails import Mail

TIMEOUT = 20  # seconds
_SMTP, _SMTPS = 587, 465


@dataclass(frozen=True)
class Sender:
    """Sends by one server: `smtp://user:password@host:587` (TLS where it offers it) or `smtps://`.

    With a password TLS is a must: it never goes over the line in clear.
    """

    url: str
    sender: str
    tls: ssl.SSLContext | None = None

    def send(self, mail: Mail, now: datetime) -> None:
        """Hands it over. `Rejected` where the server will never take it, else `RetryLater`."""
        message = _message(mail, self.sender, now)
        try:
            with self._connected() as server:
                server.send_message(message, from_addr=self.sender, to_addrs=[mail.to])
        except smtplib.SMTPResponseException as error:
            raise self._refusal(error.smtp_code, error.smtp_error) from None
        except smtplib.SMTPRecipientsRefused as error:
            code, words = next(iter(error.recipients.values()))
            raise self._refusal(code, words) from None
        except (smtplib.SMTPException, OSError) as error:
            raise RetryLater(f"the mail server did not take it: {type(error).__name__}") from None

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


def _message(mail: Mail, sender: str, now: datetime) -> EmailMessage:
    """Plain text and HTML, no pictures, nothing that is counted when it is opened."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, mail.to, mail.subject
    message["Date"] = format_datetime(now)
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2] or None)
    # RFC 3834: no automatic answers to this, please.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    message.add_alternative(mail.html, subtype="html")
    return message
