"""Every look-up about mail against a real DNS server on loopback."""

import time
from collections.abc import Iterator
from unittest.mock import patch

import dns.resolver
import pytest

from app.adapters.mail.dns import Records
from app.adapters.mail.receiver import behind_others, by_records
from app.core.errors import RetryLater
from tests.fakes.names import Names

OURS, OTHERS = "8.8.8.8", "9.9.9.9"


@pytest.fixture
def names() -> Iterator[Names]:
    known = {
        ("corp.example", "MX"): ["20 mx2.corp.example.", "10 mx.corp.example."],
        ("mx.corp.example", "A"): [OURS],
        ("null.example", "MX"): ["0 ."],
        ("null.example", "A"): [OURS],
        ("old.example", "A"): [OURS],
        ("six.example", "AAAA"): ["2001:db8::1"],
    }
    with Names({"corp.example": "v=spf1 mx -all", "text.example": "hello"}, known) as made:
        yield made


@pytest.fixture
def records(names: Names) -> Records:
    return Records(("127.0.0.1", names.port))


@pytest.mark.parametrize(
    ("domain", "takes"),
    [
        ("corp.example", True),
        ("old.example", True),  # RFC 5321, 5.1: an address stands for an MX
        ("six.example", True),
        ("null.example", False),  # RFC 7505: it says that it takes none
        ("text.example", False),
        ("nowhere.example", False),
        ("a..b", False),
        ("x" * 64 + ".example", False),
    ],
)
def test_whether_a_domain_takes_mail(records: Records, domain: str, takes: bool) -> None:
    assert records.takes_mail(domain) is takes


def test_who_does_not_answer_says_nothing(names: Names, records: Records) -> None:
    names.failing.add("corp.example")
    with pytest.raises(RetryLater):
        records.takes_mail("corp.example")
    names.silent.add("old.example")
    began = time.monotonic()
    with pytest.raises(RetryLater):
        records.takes_mail("old.example", 0.3)
    assert time.monotonic() - began < 1
    with pytest.raises(RetryLater, match="time is up"):
        records.takes_mail("old.example", 0)


def test_a_machine_that_knows_no_name_server_says_nothing() -> None:
    with (
        patch.object(dns.resolver.Resolver, "read_resolv_conf", side_effect=dns.resolver.NoResolverConfiguration),
        pytest.raises(RetryLater),
    ):  # fmt: skip
        Records().takes_mail("corp.example")


@pytest.mark.parametrize(
    ("ip", "sender", "said"),
    [
        (OURS, "alice@corp.example", "pass"),
        (OTHERS, "alice@corp.example", "fail"),
        (OTHERS, "alice@nowhere.example", "none"),
        (OTHERS, "", "fail"),  # a bounce: HELO's
        ("127.0.0.1", "alice@corp.example", ""),  # behind a server of the operator's
        ("10.0.0.7", "alice@corp.example", ""),
        ("::1", "alice@corp.example", ""),
        ("", "alice@corp.example", ""),
    ],
)
def test_spf_is_asked_for_servers_from_the_internet(
    records: Records, ip: str, sender: str, said: str
) -> None:
    assert by_records(records)(ip, "corp.example", sender) == said
    assert behind_others(ip, "corp.example", sender) == ""


def test_spf_of_a_silent_domain_is_unknown(names: Names, records: Records) -> None:
    names.failing.add("corp.example")
    assert by_records(records)(OURS, "x", "alice@corp.example") == "temperror"
