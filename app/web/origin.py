"""Where a visitor comes from, as far as the proxies in front can be believed."""

from collections.abc import Collection, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import Scope

from app.core.proofs.limits import network_of
from app.web.guard import PASSED_ON, Site

_MOST_HOPS = 20


def network(scope: Scope, site: Site, proxies: Collection[str]) -> str:
    """The visitor's network as limits count it; "" where nobody knows.

    `proxies` are TRUSTED_PROXIES. Where none is named and the connection comes from an address that
    nobody on the internet has, it is a proxy's: all visitors at once, who must not share one limit.
    """
    client = scope.get("client")
    peer = _address(client[0]) if client else None
    if peer is None:
        return ""
    headers = Headers(scope=scope)
    if not proxies:
        passed_on = any(name in headers for name in PASSED_ON)
        hidden = not peer.is_global and (passed_on or not site.loopback)
        return "" if hidden else network_of(str(peer)) or ""
    for one in (peer, *_forwarded(headers)):
        if one is None:
            return ""  # what a trusted proxy wrote there is no address
        if not _within(one, proxies):
            return network_of(str(one)) or ""
    return ""


def _forwarded(headers: Headers) -> Iterator[IPv4Address | IPv6Address | None]:
    """The addresses of X-Forwarded-For, from the nearest: each was written by the one before it."""
    listed = ",".join(headers.getlist("x-forwarded-for")).split(",")
    for one in list(reversed(listed))[:_MOST_HOPS]:
        yield _address(one.strip())


def _address(text: str) -> IPv4Address | IPv6Address | None:
    plain = text.partition("%")[0]
    if plain.startswith("["):
        plain = plain[1:].partition("]")[0]
    elif plain.count(":") == 1:  # some proxies write the port as well
        plain = plain.partition(":")[0]
    try:
        found = ip_address(plain)
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return mapped or found


def _within(one: IPv4Address | IPv6Address, proxies: Collection[str]) -> bool:
    return any(one in ip_network(named) for named in proxies)
