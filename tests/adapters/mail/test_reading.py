"""Mails that people, machines and forgers send, with real signatures and a real DNS server."""

import dataclasses
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.adapters.mail.dns import TxtRecords
from app.adapters.mail.lists import InstalledLists
from app.adapters.mail.reading import Unreadable, read
from app.core.proofs.letters import Accepted, Refused, judge
from tests.fakes.letters import SELECTOR, key, signed, written
from tests.fakes.names import Names

NOW = datetime.now(UTC)
LISTS = InstalledLists()


@pytest.fixture
def names() -> Iterator[Names]:
    with Names({f"{SELECTOR}._domainkey.corp.example": key()[1]}) as names:
        yield names


def token_of(address: str) -> str | None:
    local, _, domain = address.lower().partition("@")
    return local if domain == "gate.example" else None


@pytest.fixture
def judged(names: Names) -> Callable[..., Accepted | Refused]:
    lookup = TxtRecords(["127.0.0.1"], names.port)

    def judge_it(
        raw: bytes,
        recipients: tuple[str, ...] = ("token@gate.example",),
        envelope_from: str = "alice@corp.example",
    ) -> Accepted | Refused:
        letter = read(raw, recipients, envelope_from, lookup)
        return judge(letter, NOW, token_of, LISTS.registrable)

    return judge_it


def why(found: Accepted | Refused) -> str:
    assert isinstance(found, Refused)
    return found.why


def test_a_mail_that_its_domain_signed_counts(judged: Any) -> None:
    found = judged(signed(written()))
    assert found == Accepted(sender="alice@corp.example", token="token", signed_by="corp.example")


def test_a_subdomain_of_the_same_owner_may_sign(judged: Any, names: Names) -> None:
    names.records[f"{SELECTOR}._domainkey.mail.corp.example"] = key()[1]
    assert isinstance(judged(signed(written(), "mail.corp.example")), Accepted)


def test_a_forged_from_does_not(judged: Any, names: Names) -> None:
    names.records[f"{SELECTOR}._domainkey.evil.example"] = key()[1]
    assert "is not the sender's domain" in why(judged(signed(written(), "evil.example")))
    assert "no DKIM signature" in why(judged(written()))


def test_what_was_changed_on_the_way_does_not(judged: Any) -> None:
    raw = signed(written())
    assert "body hash" in why(judged(raw.replace(b"It is me", b"It is I!")))
    assert isinstance(judged(raw.replace(b"Subject: Hello", b"Subject: Hollo")), Refused)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: signed(written(), length=True), "only a part"),
        (lambda: signed(written(), covers=(b"from", b"date")), "did not sign subject, to"),
        (lambda: signed(written(), pem=key(2)[0]), "does not fit"),
        (lambda: signed(written(at=NOW - timedelta(days=9))), "date"),
        (lambda: signed(written(at=NOW + timedelta(days=2))), "date"),
        (lambda: signed(written(sender="a@corp.example, b@corp.example")), "exactly one"),
        (lambda: signed(written(sender='"boss@bank.example" <alice@corp.example>')), None),
        (lambda: signed(written(sender="boss@bank.example)alice@corp.example")), "exactly one"),
        (lambda: signed(written(List_Id="<all.corp.example>")), "mailing list"),
        (lambda: signed(written(Auto_Submitted="auto-replied")), "automatic"),
        (lambda: signed(written(Auto_Submitted="no")), None),
        (lambda: signed(written(X_Auto_Response_Suppress="All")), "automatic"),
        (lambda: signed(written(Precedence="bulk")), "bulk"),
        (lambda: signed(written(sender="MAILER-DAEMON@corp.example")), "bounce"),
        (lambda: signed(b"From: mallory@corp.example\r\n" + written()), "more than one"),
    ],
)  # fmt: skip
def test_what_else_is_refused(judged: Any, make: Any, said: str | None) -> None:
    found = judged(make())
    if said is None:
        assert isinstance(found, Accepted)
    else:
        assert said in why(found)


def test_a_second_header_put_before_a_signed_one_is_refused(judged: Any) -> None:
    raw = b"Subject: another\r\n" + signed(written())
    assert "more than one header subject" in why(judged(raw))


def test_a_short_key_is_refused(judged: Any, names: Names) -> None:
    pem, record = key(3, 1024)
    names.records[f"{SELECTOR}._domainkey.corp.example"] = record
    assert isinstance(judged(signed(written(), pem=pem)), Accepted)
    # 512 bits are below what any library signs with today, so the limit itself is asked.
    from app.adapters.mail import reading

    kept, reading.LEAST_KEY_BITS = reading.LEAST_KEY_BITS, 2048
    try:
        assert isinstance(judged(signed(written(), pem=pem)), Refused)
    finally:
        reading.LEAST_KEY_BITS = kept


def test_whom_it_was_written_to_decides_and_not_what_the_header_says(judged: Any) -> None:
    raw = signed(written())
    assert "not written to" in why(judged(raw, ("else@other.example",)))
    assert "not written to" in why(judged(raw, ()))
    both = ("one@gate.example", "two@gate.example")
    assert "not written to" in why(judged(raw, both))
    assert "bounce" in why(judged(raw, envelope_from=""))


def test_a_name_server_that_is_silent_or_wrong_is_no_proof(judged: Any, names: Names) -> None:
    name = f"{SELECTOR}._domainkey.corp.example"
    names.records[name] = "v=DKIM1; p=notbase64"
    assert isinstance(judged(signed(written())), Refused)
    names.records[name] = "v=DKIM1; p="  # revoked
    assert isinstance(judged(signed(written())), Refused)
    del names.records[name]
    assert isinstance(judged(signed(written())), Refused)


def test_what_is_nested_in_the_body_is_never_parsed(judged: Any) -> None:
    bomb = "".join(
        f"--b{n}\r\nContent-Type: multipart/mixed; boundary=b{n + 1}\r\n\r\n" for n in range(9000)
    )
    assert isinstance(judged(signed(written(body=bomb))), Accepted)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x00\xff" * 1000,
        b"From: =?utf-9?B?//8=?= <a@b.example>\r\n\r\n",
        b"From: a@b.example\r\nDate: yesterday at noon\r\n\r\n",
        b"DKIM-Signature: v=1; a=; d=\xff; h=:::; b=!\r\nFrom: a@b.example\r\n\r\n",
        b"From: " + b"a@b.example," * 20_000 + b"\r\n\r\n",
        b"x" * 100_000,
    ],
)
def test_broken_ones_are_refused_and_crash_nothing(judged: Any, raw: bytes) -> None:
    try:
        found = judged(raw)
    except Unreadable:
        return
    assert isinstance(found, Refused)


def test_a_mail_of_thirty_megabytes_is_not_even_read(judged: Any) -> None:
    with pytest.raises(Unreadable, match="larger"):
        judged(written() + b"x" * 30_000_000)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400), st.binary(max_size=200))
def test_any_bytes_are_read(judged: Any, head: bytes, tail: bytes) -> None:
    raw = signed(written())
    for mail in (
        head,
        head + raw,
        raw.replace(b"DKIM-Signature: ", b"DKIM-Signature: " + head, 1) + tail,
    ):
        try:
            judged(mail)
        except Unreadable:
            continue


def test_a_letter_holds_no_body(names: Names) -> None:
    letter = read(signed(written(body="a secret\n")), (), "", TxtRecords(["127.0.0.1"], names.port))
    assert "a secret" not in repr(letter.model_dump())
    assert not dataclasses.is_dataclass(letter)
