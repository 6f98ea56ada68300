"""How proof mails come in: `MAIL_INBOUND`."""

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from app.core.errors import UserError
from app.core.proofs.tokens import SPELLED

Kind = Literal["smtp", "lmtp", "hook", "imap"]
After = Literal["seen", "delete"]
EXAMPLE = "smtp://127.0.0.1:2525?domain=verify.example.org"
HINT = (
    f"Write it like {EXAMPLE}, lmtp://…, imaps://USER:PASSWORD@HOST/INBOX?domain=…, or "
    "hook://SECRET?domain=… with a secret of 16 characters or more."
)

_KINDS: dict[str, Kind] = {
    "smtp": "smtp", "lmtp": "lmtp", "hook": "hook", "imap": "imap", "imaps": "imap",
}  # fmt: skip
_PORTS = {"imap": 143, "imaps": 993}
_OURS = 2525
_OPTIONS = frozenset({"domain", "address", "sealers", "behind"})
_OF_IMAP = frozenset({"after", "every"})
_MOST_LOCAL = 64  # RFC 5321, 4.5.3.1.1
_LEAST_SECRET = 16


@dataclass(frozen=True)
class Mailbox:
    """A mailbox that is looked into every so many seconds. `after`: what becomes of a mail."""

    host: str
    port: int
    tls: bool
    user: str
    password: str = field(repr=False)
    folder: str = "INBOX"
    after: After = "seen"
    every: int = 60

    def __str__(self) -> str:
        return f"{self.folder} of {self.user} at {self.host}:{self.port}"


@dataclass(frozen=True)
class Inbound:
    """`domain`: behind the @ of our addresses; `prefix`: what stands before their tokens.

    `secret`: of the HTTP hook. `sealers`: domains whose ARC seals are trusted. `behind`: the name by
    which the mail server in front signs its Authentication-Results; "" where none is believed.
    """

    kind: Kind
    domain: str
    host: str
    port: int
    secret: str = field(default="", repr=False)
    prefix: str = ""
    sealers: frozenset[str] = frozenset()
    behind: str = ""
    mailbox: Mailbox | None = None

    def address(self, token: str) -> str:
        """The address that stands for a token."""
        return f"{self.prefix}{token}@{self.domain}"

    def token(self, address: str) -> str | None:
        """The token of an address of ours; None for another."""
        local, _, domain = address.strip().strip("<>").rpartition("@")
        bare = local.lower()
        if domain.lower() != self.domain or not bare.startswith(self.prefix):
            return None
        return bare.removeprefix(self.prefix) or None


def inbound(url: str) -> Inbound:
    """`smtp://HOST:PORT`, `lmtp://HOST:PORT`, `hook://SECRET` or `imaps://USER:PASSWORD@HOST/FOLDER`.

    Each with `?domain=…`, or with `?address=…` for a mailbox that takes mail for NAME+anything as well.
    """
    split = urlsplit(url)
    options = dict(parse_qsl(split.query, keep_blank_values=True))
    kind = _KINDS.get(split.scheme)
    secret = unquote(split.netloc) if kind == "hook" else ""
    # A secret may look like a port that is none.
    port = _OURS if kind == "hook" else _port(split)
    if kind is None or not split.netloc or (kind == "hook" and len(secret) < _LEAST_SECRET):
        raise UserError("MAIL_INBOUND is not understood", hint=HINT)
    known = _OPTIONS | (_OF_IMAP if kind == "imap" else frozenset())
    if unknown := sorted(set(options) - known):
        raise UserError(
            f"MAIL_INBOUND has an option that is unknown: {unknown[0]}",
            hint=f"These are known: {', '.join(sorted(known))}.",
        )
    prefix, domain = _ours(options)
    return Inbound(
        kind=kind,
        domain=domain,
        host=split.hostname or "127.0.0.1",
        port=port,
        secret=secret,
        prefix=prefix,
        sealers=frozenset(
            filter(None, map(str.strip, options.get("sealers", "").lower().split(",")))
        ),
        behind=options.get("behind", "").strip().lower(),
        mailbox=_mailbox(split, port, options) if kind == "imap" else None,
    )


def _port(split: SplitResult) -> int:
    try:
        port = split.port
    except ValueError:
        port = 0
    if port == 0:
        raise UserError("MAIL_INBOUND names no port", hint=HINT)
    return port or _PORTS.get(split.scheme, _OURS)


def _ours(options: dict[str, str]) -> tuple[str, str]:
    """What stands before a token in our addresses, and the domain behind it."""
    local, at, domain = options.get("address", "").lower().rpartition("@")
    prefix = f"{local}+" if at else ""
    domain = domain if at else options.get("domain", "").lower()
    if (
        "." not in domain
        or ("address" in options) != bool(local)
        or {"address", "domain"} <= set(options)
    ):
        raise UserError("MAIL_INBOUND is not understood", hint=HINT)
    if len(prefix) + SPELLED > _MOST_LOCAL:
        raise UserError(
            f"MAIL_INBOUND: the name before the @ of {local}@{domain} is too long",
            hint=f"{_MOST_LOCAL - SPELLED - 1} characters are left beside the token.",
        )
    return prefix, domain


def _mailbox(split: SplitResult, port: int, options: dict[str, str]) -> Mailbox:
    if not split.hostname:
        raise UserError("MAIL_INBOUND is not understood", hint=HINT)
    if not split.username or not split.password:
        raise UserError("MAIL_INBOUND has no user or no password", hint=HINT)
    after, every = options.get("after", "seen"), options.get("every", "60")
    if after not in {"seen", "delete"}:
        raise UserError(f"MAIL_INBOUND: after={after}", hint="Write after=seen or after=delete.")
    if not every.isdecimal() or not 1 <= int(every) <= 3600:
        raise UserError(f"MAIL_INBOUND: every={every}", hint="Write seconds, from 1 to 3600.")
    return Mailbox(
        host=split.hostname,
        port=port,
        tls=split.scheme == "imaps",
        user=unquote(split.username),
        password=unquote(split.password),
        folder=unquote(split.path.strip("/")) or "INBOX",
        after="delete" if after == "delete" else "seen",
        every=int(every),
    )
