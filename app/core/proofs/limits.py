"""How often a mail may be asked for, and a wrong code typed: by person, address and network."""

from datetime import timedelta
from ipaddress import IPv6Address, ip_address, ip_network

from app.core.fact import Fact

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# What is counted is forgotten after the longest window.
KEPT = DAY
# A household has a /64 at least (RFC 6177), and any number of addresses in it.
_IPV6_PREFIX = 64


class Limit(Fact):
    """At most so many within any such time."""

    most: int
    within: timedelta


# A person tries twice or three times; a university has one address for all of its students.
LINKS_BY_ACCOUNT = (Limit(most=4, within=timedelta(minutes=10)), Limit(most=10, within=DAY))
LINKS_TO_ADDRESS = (Limit(most=3, within=HOUR), Limit(most=5, within=DAY))
LINKS_FROM_NETWORK = (Limit(most=20, within=HOUR), Limit(most=60, within=DAY))
# A code has eight digits and five attempts. With these, an account that asks for new ones all day has
# guessed one with a chance of 1 in 5,000,000, a network with all its accounts 1 in 1,000,000.
CODES_BY_ACCOUNT = (Limit(most=20, within=DAY),)
CODES_FROM_NETWORK = (Limit(most=100, within=DAY),)


def network_of(address: str) -> str | None:
    """What is counted as one network: an IPv4 address, the /64 of an IPv6 one; None for neither."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    if isinstance(found, IPv6Address):
        return str(ip_network((found, _IPV6_PREFIX), strict=False))
    return str(found)
