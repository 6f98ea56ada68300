"""DNS records by dnspython, from the machine's name servers or given ones."""

import time
from functools import cached_property
from typing import Any

import dns.exception
import dns.name
import dns.resolver

from app.core.errors import RetryLater
from app.core.proofs.spf import Kind, Lookup

SPF_SECONDS = 20  # for all look-ups of one check: RFC 7208, 4.6.4
MAIL_SECONDS = 3  # while somebody waits for a page
_EACH_SECONDS = 5


class Records:
    """`keys.TxtLookup`, look-ups for SPF, and whether a domain takes mail.

    `server`: one to ask, as (address, port); without one, the machine's.
    """

    def __init__(self, server: tuple[str, int] | None = None) -> None:
        self._server = server

    @cached_property
    def _resolver(self) -> dns.resolver.Resolver:
        made = dns.resolver.Resolver(configure=self._server is None)
        if self._server:
            made.nameservers, made.port = [self._server[0]], self._server[1]
        return made

    def __call__(self, name: str, timeout: float) -> bytes | None:
        """The first TXT record; None where there is none. `RetryLater` where nobody answers."""
        for record in self._answers(name, "TXT", timeout):
            return b"".join(record.strings)
        return None

    def for_spf(self, seconds: float = SPF_SECONDS) -> Lookup:
        """Look-ups for one check, which together may take so long."""
        ends = time.monotonic() + seconds

        def lookup(name: str, kind: Kind) -> tuple[str, ...]:
            found = self._answers(name, kind, ends - time.monotonic())
            if kind == "MX":
                return tuple(
                    r.exchange.to_text() for r in sorted(found, key=lambda r: r.preference)
                )
            if kind == "PTR":
                return tuple(r.target.to_text() for r in found)
            if kind == "TXT":
                return tuple(b"".join(r.strings).decode("ascii", "replace") for r in found)
            return tuple(r.address for r in found)

        return lookup

    def takes_mail(self, domain: str, seconds: float = MAIL_SECONDS) -> bool:
        """Whether a domain names a server for mail, by RFC 5321, 5.1, and RFC 7505."""
        ends = time.monotonic() + seconds
        hosts = self._answers(domain, "MX", seconds)
        if hosts:
            return any(host.exchange != dns.name.root for host in hosts)
        return any(self._answers(domain, k, ends - time.monotonic()) for k in ("A", "AAAA"))

    def _answers(self, name: str, kind: str, timeout: float) -> list[Any]:
        """All records; [] for none. `RetryLater` where nobody answers, or the time is up."""
        if timeout <= 0:
            raise RetryLater("name servers: the time is up")
        try:
            asked = dns.name.from_text(name)
        except (dns.exception.DNSException, ValueError):
            return []  # no name at all
        seconds = min(timeout, _EACH_SECONDS)
        try:
            return list(self._resolver.resolve(asked, kind, lifetime=seconds, search=False))
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return []
        except dns.exception.DNSException as error:
            raise RetryLater(f"name servers: {type(error).__name__}") from None
