"""What an address is worth, in whatever spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.mail.lists import InstalledLists
from app.core.proofs.addresses import Address, NoAddress, classify, too_many
from tests.core.strategies import hostile

LISTS = InstalledLists()


@pytest.mark.parametrize(
    ("typed", "tier", "normal"),
    [
        ("alice@mit.edu", "academic", "alice@mit.edu"),
        ("alice@mails.tsinghua.edu.cn", "academic", "alice@mails.tsinghua.edu.cn"),
        ("alice@cs.ox.ac.uk", "academic", "alice@cs.ox.ac.uk"),
        ("Alice@Amd.COM", "own", "alice@amd.com"),
        ("alice@some-small-domain.dev", "own", "alice@some-small-domain.dev"),
        ("a.l.i.c.e+x@gmail.com", "free", "alice@gmail.com"),
        ("a.lice@googlemail.com", "free", "alice@gmail.com"),
        ("123456@qq.com", "free", "123456@qq.com"),
        ("x@privaterelay.appleid.com", "relay", "x@privaterelay.appleid.com"),
        ("me@duck.com", "relay", "me@duck.com"),
        ("me@b\u00fccher.example", "own", "me@xn--bcher-kva.example"),
    ],
)
def test_tiers(typed: str, tier: str, normal: str) -> None:
    found = classify(typed, LISTS)
    assert isinstance(found, Address)
    assert (found.tier, found.normal) == (tier, normal)


def test_maintainers_name_companies() -> None:
    found = classify("alice@eu.amd.com", LISTS, ["amd.com"])
    assert isinstance(found, Address)
    assert found.tier == "company"


@pytest.mark.parametrize(
    "typed",
    [
        "", "alice", "@mit.edu", "alice@", "a b@mit.edu", "alice@com", "alice@localhost",
        "alice@mailinator.com", "1+alice@users.noreply.github.com", "<alice@mit.edu>",
        "alice@mit.edu\r\nBcc: all@mit.edu", "a" * 300 + "@mit.edu", "a@b@mit.edu, c@mit.edu",
        "alice@\u202emit.edu",
    ],
)  # fmt: skip
def test_what_is_no_address_that_counts(typed: str) -> None:
    assert isinstance(classify(typed, LISTS), NoAddress)


@given(hostile)
def test_any_text_is_read(typed: str) -> None:
    found = classify(typed, LISTS)
    if isinstance(found, Address):
        assert "\n" not in found.normal
        assert found.domain.isascii()


@given(st.emails())
def test_a_normal_form_is_its_own(typed: str) -> None:
    found = classify(typed, LISTS)
    if isinstance(found, Address):
        again = classify(found.normal, LISTS)
        assert isinstance(again, Address)
        assert again.normal == found.normal


def test_limits_count_small_domains_and_no_large_ones() -> None:
    most = {"per_address": 1, "per_domain": 3}
    assert too_many("free", 0, 10_000, **most) is None
    assert too_many("academic", 0, 500, **most) is None
    assert too_many("own", 0, 2, **most) is None
    assert "domain" in (too_many("own", 0, 3, **most) or "")
    assert "address" in (too_many("academic", 1, 0, **most) or "")
