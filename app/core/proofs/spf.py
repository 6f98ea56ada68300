"""SPF (RFC 7208): whether a server may send mail for a domain. Evidence beside a signature, no proof.

No library that is kept does it with a resolver that is passed in. `check` is pure: names are looked
up by a function, and it is judged by the openspf.org test suite for the RFC.
"""

from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal, get_args

from app.core.errors import RetryLater
from app.core.proofs.spf_record import (
    Mechanism,
    Record,
    Sender,
    SyntaxFault,
    expand,
    is_domain,
    parse,
)

Result = Literal["none", "neutral", "pass", "fail", "softfail", "temperror", "permerror"]
RESULTS: frozenset[str] = frozenset(get_args(Result))
Kind = Literal["A", "AAAA", "MX", "PTR", "TXT"]
Lookup = Callable[[str, Kind], tuple[str, ...]]
"""A name's records as text (of MX the hosts, in their order); () for none, `RetryLater` for no answer."""

MOST_LOOKUPS, MOST_VOID, MOST_NAMES = 10, 2, 10  # RFC 7208, 4.6.4
_BY_SIGN: dict[str, Result] = {"+": "pass", "-": "fail", "~": "softfail", "?": "neutral"}


class _Permanent(Exception):
    """The domain's own records are wrong."""


def check(ip: str, helo: str, mail_from: str, lookup: Lookup) -> Result:
    """What the domain of the envelope's sender says of the server at `ip`; of HELO for a bounce."""
    try:
        address = ip_address(ip)
    except ValueError:
        return "none"
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    local, _, domain = (mail_from or f"postmaster@{helo}").rpartition("@")
    sender = Sender(local or "postmaster", domain, address, helo)
    if not is_domain(domain):
        return "none"
    try:
        return _Check(sender, lookup).host(domain)
    except (_Permanent, SyntaxFault):
        return "permerror"
    except RetryLater:
        return "temperror"


class _Check:
    """One check, with its budget of look-ups."""

    def __init__(self, sender: Sender, lookup: Lookup) -> None:
        self._sender = sender
        self._lookup = lookup
        self._left = MOST_LOOKUPS
        self._void = MOST_VOID

    def host(self, domain: str) -> Result:
        """RFC 7208, 4: `check_host()` for the sender's address and a domain."""
        record = self._record(domain)
        if record is None:
            return "none"
        for one in record.mechanisms:
            if self._matches(one, domain):
                return _BY_SIGN[one.sign]
        if record.redirect is None:
            return "neutral"
        self._spend()
        target = self._expanded(record.redirect, domain)
        found: Result = self.host(target) if is_domain(target) else "none"
        if found == "none":
            raise _Permanent
        return found

    def _record(self, domain: str) -> Record | None:
        texts = [t for t in self._lookup(domain, "TXT") if f"{t} ".lower().startswith("v=spf1 ")]
        if len(texts) > 1:
            raise _Permanent
        return parse(texts[0]) if texts else None

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _Permanent

    def _asked(self, name: str, kind: Kind) -> tuple[str, ...]:
        """A look-up that counts as void where nothing is found."""
        found = self._lookup(name, kind) if is_domain(name, single=True) else ()
        if not found:
            self._void -= 1
            if self._void < 0:
                raise _Permanent
        return found

    def _expanded(self, spec: str, domain: str) -> str:
        return expand(spec, self._sender, domain, lambda: self._validated(domain))

    def _matches(self, one: Mechanism, domain: str) -> bool:
        if one.name == "all":
            return True
        if one.network is not None:
            ours = ip_network(one.network, strict=False)
            return self._sender.ip.version == ours.version and self._sender.ip in ours
        self._spend()
        target = self._expanded(one.spec, domain) if one.spec else domain
        match one.name:
            case "include":
                found = self.host(target) if is_domain(target) else "none"
                if found in {"none", "permerror"}:
                    raise _Permanent
                return found == "pass"
            case "exists":
                return bool(self._asked(target, "A"))
            case "a":
                return self._is_at(self._asked(target, self._kind()), one)
            case "mx":
                return self._is_mail_host(target, one)
            case _:
                end = f".{target.lower().rstrip('.')}"
                return any(f".{name}".endswith(end) for name in self._reverse())

    def _kind(self) -> Kind:
        return "A" if isinstance(self._sender.ip, IPv4Address) else "AAAA"

    def _is_at(self, addresses: tuple[str, ...], one: Mechanism) -> bool:
        bits = one.bits4 if isinstance(self._sender.ip, IPv4Address) else one.bits6
        return any(self._sender.ip in ip_network(f"{a}/{bits}", strict=False) for a in addresses)

    def _is_mail_host(self, target: str, one: Mechanism) -> bool:
        hosts = [h for h in self._asked(target, "MX") if h.strip(".")]
        if len(hosts) > MOST_NAMES:
            raise _Permanent
        return any(self._is_at(self._asked(host, self._kind()), one) for host in hosts)

    def _reverse(self) -> Iterator[str]:
        """The names of the address that lead back to it; an error is as good as none."""
        try:
            names = self._lookup(self._sender.ip.reverse_pointer, "PTR")[:MOST_NAMES]
        except RetryLater:
            return
        for name in names:
            try:
                found = self._lookup(name, self._kind()) if is_domain(name) else ()
            except RetryLater:
                continue
            if any(ip_address(a) == self._sender.ip for a in found):
                yield name.lower().rstrip(".")

    def _validated(self, domain: str) -> str:
        """The macro `p`: the name itself, else one below it, else any, else "unknown"."""
        names, end = list(self._reverse()), domain.lower().rstrip(".")
        below = [name for name in names if name.endswith(f".{end}")]
        return next(iter([n for n in names if n == end] + below + names), "unknown")
