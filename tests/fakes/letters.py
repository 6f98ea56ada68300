"""Mails as mail servers write and sign them."""

import base64
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from functools import cache

import dkim
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

SELECTOR = "s1"

# A key of 768 bits with its record: no library makes such a short one any more. It guards nothing.
SHORT_KEY = (
    b"""-----BEGIN RSA PRIVATE KEY-----
MIIBygIBAAJhALby5HHT9uTbSIRV9y2PARPGKqhYRalTx3BEg4CuHcQwnoRVPDNK
2a2Pjh/7BvFdHxtRNcHFylmtBH7dTvPO+PeZjDltwm6DdALtvPOdsXeTGDgOvA8E
IbYV5Cu79p9DrQIDAQABAmAsWKhDZ0v7oaPsYCIwau+p6WlBsVQBfYtkjVcLBCm2
+soR7c9P557oUVn0Kpc+PoH4uqEJCEo5wU8eZP14Xtq9enpAWvfAc8JDUeNZAQYg
5mF6IFIVpxI7jpbgdmahpgkCMQDkzA9vCfFFpZZq09j9yPLELP426uIVtucvpsk9
Nj89OnazoHpBILfT8GZSKN4SH18CMQDMs1asT5F+2HUTrkDK3OGdaF6Fqoyfpcxt
4Vp6e7NM/7xKvi7iyWf4wicinlvQVHMCMQDcPYpFyv5TmrgWkWL5uSvnp5/2YVfM
q0oT1qs0nzl0yQhmlP3aH5KVE36LbAeIzmUCMCzz1TzR3Gm2rz87LQ9fokwm91rz
MR5+En6u1me/coieQINJcJJtGGAQgvefPxpo8QIwM8rD6U+Flhb59D8ef4X42jRT
cOKuLsGVhVKjDBMhDXEXUpQD8j8/6g1+DuV4gOXf
-----END RSA PRIVATE KEY-----
""",
    "v=DKIM1; k=rsa; p=MHwwDQYJKoZIhvcNAQEBBQADawAwaAJhALby5HHT9uTbSIRV9y2PARPGKqhYRalTx3BEg4CuHcQwnoRVPDNK"
    "2a2Pjh/7BvFdHxtRNcHFylmtBH7dTvPO+PeZjDltwm6DdALtvPOdsXeTGDgOvA8EIbYV5Cu79p9DrQIDAQAB",
)


@cache
def key(which: int = 1, bits: int = 2048) -> tuple[bytes, str]:
    """A private key in PEM, and its record for DNS. `which` names another one of the same size."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=bits)
    pem = made.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    public = made.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return pem, f"v=DKIM1; k=rsa; p={base64.b64encode(public).decode()}"


def written(
    sender: str = "Alice <alice@corp.example>",
    to: str = "token@gate.example",
    *,
    at: datetime | None = None,
    subject: str = "Hello",
    body: str = "It is me.\n",
    **headers: str,
) -> bytes:
    """A plain mail; `headers` with `_` for `-`."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, to, subject
    message["Date"] = format_datetime(at or datetime.now(UTC))
    message["Message-ID"] = make_msgid(domain="corp.example")
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content(body)
    return message.as_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def signed(
    raw: bytes,
    domain: str = "corp.example",
    *,
    pem: bytes | None = None,
    covers: tuple[bytes, ...] = (b"from", b"to", b"date", b"subject"),
    length: bool = False,
) -> bytes:
    """The mail with a DKIM signature of the domain."""
    private = pem or key()[0]
    header = dkim.sign(
        raw,
        SELECTOR.encode(),
        domain.encode(),
        private,
        include_headers=list(covers),
        length=length,
    )
    return bytes(header + raw)


def bounce(
    to: str,
    *,
    action: str = "failed",
    status: str = "5.1.1",
    sent: str = "",
    report: str = "delivery-status",
    returned: str = "message/rfc822",
    more: str = "",
) -> bytes:
    """A delivery status notification (RFC 3464) as Postfix writes it. `sent`: our Message-ID."""
    return f"""From: MAILER-DAEMON@corp.example (Mail Delivery System)
To: {to}
Subject: Undelivered Mail Returned to Sender
Date: {format_datetime(datetime.now(UTC))}
Message-Id: {make_msgid(domain="corp.example")}
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type={report};
\tboundary="4F1A.1764576000/mx.corp.example"

This is a MIME-encapsulated message.

--4F1A.1764576000/mx.corp.example
Content-Description: Notification
Content-Type: text/plain; charset=us-ascii

I'm sorry to have to inform you that your message could not be delivered.

--4F1A.1764576000/mx.corp.example
Content-Description: Delivery report
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.corp.example
Arrival-Date: Tue,  1 Dec 2026 12:00:00 +0000 (UTC)

Final-Recipient: rfc822; alice@corp.example
Action: {action}
Status: {status}
Diagnostic-Code: smtp; 550 5.1.1 <alice@corp.example>: no such user

{more}--4F1A.1764576000/mx.corp.example
Content-Description: Undelivered Message
Content-Type: {returned}

From: gate@gate.example
To: alice@corp.example
Subject: Confirm that this address is yours
Message-ID: {sent or "<none@example.org>"}

Hello.

--4F1A.1764576000/mx.corp.example--
""".replace("\n", "\r\n").encode()
