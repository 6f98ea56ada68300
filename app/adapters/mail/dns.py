"""TXT records by dnspython, from the machine's name servers or given ones."""

from collections.abc import Sequence

import dns.exception
import dns.name
import dns.resolver

from app.core.errors import RetryLater


def records(nameserver: tuple[str, int] | None) -> "TxtRecords":
    """From one name server, or from the machine's."""
    return TxtRecords([nameserver[0]], nameserver[1]) if nameserver else TxtRecords()


class TxtRecords:
    """`reading.TxtLookup`. `nameservers` and `port` are for tests and for operators who need others."""

    def __init__(self, nameservers: Sequence[str] = (), port: int = 53) -> None:
        self._resolver = dns.resolver.Resolver(configure=not nameservers)
        if nameservers:
            self._resolver.nameservers = list(nameservers)
            self._resolver.port = port

    def __call__(self, name: str, timeout: float) -> bytes | None:
        """The first record's text; None where there is none. `RetryLater` where nobody answers."""
        try:
            asked = dns.name.from_text(name)
        except (dns.exception.DNSException, ValueError):
            return None  # no name at all
        try:
            answer = self._resolver.resolve(asked, "TXT", lifetime=min(timeout, 5), search=False)
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return None
        except dns.exception.DNSException as error:
            raise RetryLater(f"name servers: {type(error).__name__}") from None
        for record in answer:
            return b"".join(record.strings)
        return None
