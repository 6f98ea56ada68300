"""How proof mails come in: `MAIL_INBOUND`."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, unquote, urlsplit

from app.core.errors import UserError

Kind = Literal["smtp", "lmtp", "hook"]
EXAMPLE = "smtp://127.0.0.1:2525?domain=verify.example.org"


@dataclass(frozen=True)
class Inbound:
    """`domain`: behind the @ of our addresses. `secret`: of the HTTP hook.

    `nameserver`: whom to ask for the keys of signatures, as (address, port); None: the machine's.
    """

    kind: Kind
    domain: str
    host: str
    port: int
    secret: str
    nameserver: tuple[str, int] | None = None

    def address(self, token: str) -> str:
        """The address that stands for a token."""
        return f"{token}@{self.domain}"

    def token(self, address: str) -> str | None:
        """The token of an address of ours; None for another."""
        local, _, domain = address.strip().strip("<>").rpartition("@")
        return local.lower() if local and domain.lower() == self.domain else None


def inbound(url: str) -> Inbound:
    """`smtp://HOST:PORT?domain=…`, `lmtp://HOST:PORT?domain=…` or `hook://SECRET?domain=…`."""
    split = urlsplit(url)
    domain = (parse_qs(split.query).get("domain") or [""])[0].lower()
    try:
        port = split.port or 2525
    except ValueError:
        port = 0
    named = split.scheme in {"smtp", "lmtp", "hook"} and "." in domain and split.netloc
    secret = unquote(split.netloc) if split.scheme == "hook" else ""
    if not named or not port or (split.scheme == "hook" and len(secret) < 16):
        raise UserError(
            "MAIL_INBOUND is not understood",
            hint=f"Write it like {EXAMPLE}, lmtp://…, or hook://SECRET?domain=… with a secret of 16 "
            "characters or more.",
        )
    asked = (parse_qs(split.query).get("dns") or [""])[0]
    address, _, dns_port = asked.partition(":")
    if dns_port and not dns_port.isdecimal():
        raise UserError(
            "MAIL_INBOUND names no name server", hint="Write dns=ADDRESS or dns=ADDRESS:PORT."
        )
    nameserver = (address, int(dns_port or 53)) if address else None
    kind: Kind = "hook" if split.scheme == "hook" else "lmtp" if split.scheme == "lmtp" else "smtp"
    return Inbound(kind, domain, split.hostname or "127.0.0.1", port, secret, nameserver)
