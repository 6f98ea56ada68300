"""What counts as one network, and how much may be guessed."""

from datetime import timedelta
from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.proofs import limits
from app.core.proofs.limits import network_of


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", None),
        ("unknown", None),
        ("192.0.2.7, 192.0.2.8", None),
    ],
)
def test_a_network_is_an_address_or_a_household_of_them(address: str, network: str | None) -> None:
    assert network_of(address) == network


@given(st.integers(1, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_all_addresses_of_a_household_count_as_one(house: int, one: int, other: int) -> None:
    first, second = (str(IPv6Address(house << 64 | host)) for host in (one, other))
    assert network_of(first) == network_of(second)
    assert network_of(first) != network_of(str(IPv6Address((house ^ 1) << 64 | one)))


def test_codes_cannot_be_guessed() -> None:
    """Whatever anybody asks for and types within the life of a code, and for a year of days."""
    codes = 10**8
    for most, chance in ((limits.CODES_BY_ACCOUNT, 1e-4), (limits.CODES_FROM_NETWORK, 5e-4)):
        a_day = min(one.most for one in most if one.within >= timedelta(days=1))
        assert a_day * 365 / codes < chance
    assert all(
        one.within <= limits.KEPT
        for name in ("LINKS_BY_ACCOUNT", "LINKS_TO_ADDRESS", "LINKS_FROM_NETWORK")
        for one in getattr(limits, name)
    )
