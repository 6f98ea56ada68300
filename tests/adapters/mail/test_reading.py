"""Mails that people, machines and forgers send, with real signatures and a real DNS server."""

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import dkim
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.adapters.mail.dns import Records
from app.adapters.mail.lists import InstalledLists
from app.adapters.mail.reading import Unreadable, read
from app.core.errors import RetryLater
from app.core.proofs.letters import Accepted, Refused, judge
from tests.fakes.letters import SELECTOR, SHORT_KEY, key, signed, written
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
    lookup = Records(("127.0.0.1", names.port))

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
        (lambda: signed(b"To: token@gate.example\r\n" + written()), "more than one"),
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
    name = f"{SELECTOR}._domainkey.corp.example"
    pem, names.records[name] = key(3, 1024)
    assert isinstance(judged(signed(written(), pem=pem)), Accepted)
    names.records[name] = SHORT_KEY[1]
    assert "too small" in why(judged(signed(written(), pem=SHORT_KEY[0])))


def test_an_unsafe_algorithm_is_refused(judged: Any) -> None:
    raw = written()
    header = dkim.sign(
        raw, SELECTOR.encode(), b"corp.example", key()[0], signature_algorithm=b"rsa-sha1",
        include_headers=[b"from", b"to", b"date", b"subject"],
    )  # fmt: skip
    assert dkim.verify(header + raw, dnsfunc=lambda *_, **__: key()[1].encode())
    assert "rsa-sha1, which is not safe" in why(judged(header + raw))


def test_a_key_in_testing_proves_nothing(judged: Any, names: Names) -> None:
    names.records[f"{SELECTOR}._domainkey.corp.example"] = key()[1] + "; t = s : y"
    assert "cannot be used" in why(judged(signed(written())))
    names.records[f"{SELECTOR}._domainkey.corp.example"] = key()[1] + "; t=s"
    assert isinstance(judged(signed(written())), Accepted)


def test_a_mail_that_she_wrote_to_somebody_else_does_not_prove_that_he_is_her(judged: Any) -> None:
    """Mallory brings an ordinary mail of Alice's to the address that was shown to him."""
    for to in (
        "mallory@evil.example",
        '"token@gate.example" <mallory@evil.example>',
        "(token@gate.example) mallory@evil.example",
        "other@gate.example",
        "token@gate.example, other@gate.example",
    ):
        assert "its To does not name" in why(judged(signed(written(to=to)))), to
    several = "bob@corp.example, Gate <TOKEN@gate.example>"
    assert isinstance(judged(signed(written(to=several))), Accepted)


def test_a_reply_to_somebody_who_named_our_address_is_no_proof(judged: Any) -> None:
    assert "reply" in why(judged(signed(written(In_Reply_To="<1@evil.example>"))))
    assert "reply" in why(judged(signed(written(References="<1@evil.example>"))))


def test_whom_it_was_written_to_decides_and_not_what_the_header_says(judged: Any) -> None:
    raw = signed(written())
    assert "not written to" in why(judged(raw, ("else@other.example",)))
    assert "not written to" in why(judged(raw, ()))
    both = ("one@gate.example", "two@gate.example")
    assert "not written to" in why(judged(raw, both))
    assert "bounce" in why(judged(raw, envelope_from=""))


def test_a_wrong_key_is_no_proof_and_a_silent_name_server_is_asked_again(
    judged: Any, names: Names
) -> None:
    name = f"{SELECTOR}._domainkey.corp.example"
    names.records[name] = "v=DKIM1; p=notbase64"
    assert isinstance(judged(signed(written())), Refused)
    names.records[name] = "v=DKIM1; p="  # revoked
    assert isinstance(judged(signed(written())), Refused)
    names.records[name] = "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
    assert isinstance(judged(signed(written())), Refused)
    del names.records[name]
    assert isinstance(judged(signed(written())), Refused)
    names.failing.add(name)
    with pytest.raises(RetryLater, match="no name server"):
        judged(signed(written()))
    # What is refused anyway waits for nobody, nor does it for a signature of somebody else's.
    assert isinstance(judged(signed(written(), covers=(b"from",))), Refused)
    names.failing.add(f"{SELECTOR}._domainkey.evil.example")
    assert isinstance(judged(signed(written(), "evil.example")), Refused)
    names.failing.discard(name)
    names.records[name] = key()[1]
    assert isinstance(judged(signed(signed(written()), "evil.example")), Accepted)


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


@pytest.mark.parametrize(
    "make",
    [
        # What dkimpy and the standard library take a time for that grows with the square.
        lambda: _relaxed() + b" " * 4_000_000 + b"x\r\n",
        lambda: _relaxed() + (b"\t" * 900 + b"x") * 5_000,
        lambda: b'From: "' + b'\\"' * 90_000 + b"\r\n\r\n",
        lambda: (b'From: "' + b'\\"' * 9_900 + b"\r\n") * 9 + b"\r\n",
        lambda: b"From: " + b"(" * 90_000 + b"\r\n\r\n",
        lambda: b"From: a@b.example\r\nTo: " + b"=?utf-8?q?=41?= " * 10_000 + b"\r\n\r\n",
        lambda: b"From: a@b.example\r\nDate: " + b"9" * 90_000 + b"\r\n\r\n",
        lambda: signed(written()).replace(b"h=from", b"h=from" + b":from" * 30_000, 1),
        lambda: b"DKIM-Signature: v=1\r\n" * 5_000 + written(),
    ],
)
def test_what_is_made_to_take_long_does_not(judged: Any, make: Callable[[], bytes]) -> None:
    raw, began = make(), time.process_time()
    with suppress(Unreadable):
        assert isinstance(judged(raw), Refused)
    assert time.process_time() - began < 2


def _relaxed() -> bytes:
    """A signature over the relaxed form of the body; whether it fits is seen after that was made."""
    return signed(written()).replace(b"c=relaxed/simple", b"c=relaxed/relaxed")


def test_an_ordinary_mail_with_deep_indents_is_read(judged: Any) -> None:
    body = "".join(f"{' ' * (n % 80)}<td>\n" for n in range(9_000))
    assert isinstance(judged(signed(written(body=body))), Accepted)


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


_NAMES = st.sampled_from(
    [
        *(
            "From",
            "To",
            "Date",
            "Subject",
            "Message-ID",
            "Content-Type",
            "Auto-Submitted",
            "Sender",
        ),
        *("DKIM-Signature", "ARC-Seal", "List-Id", "Precedence", "In-Reply-To", "X-\xff", " ", ""),
    ]
)
_VALUES = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            *(
                "alice@corp.example",
                "token@gate.example",
                "<>",
                "()",
                '"',
                "=?utf-8?q?=00=0D?=",
                "@",
            ),
            *(
                "=?unknown?b?////?=",
                "a@b, c@d",
                "group: a@b.example;",
                "Thu, 99 Foo 2026 99:99 +9999",
            ),
            *(
                "v=1; a=rsa-sha256; b=; bh=; d=corp.example; h=from; s=s1",
                "multipart/report",
                "\r\n ",
            ),
        ]
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(_NAMES, _VALUES), max_size=8), st.booleans())
def test_any_headers_are_read_and_none_that_were_put_before_a_mail_make_it_anothers(
    judged: Any, fields: list[tuple[str, str]], before: bool
) -> None:
    made = "".join(f"{name}: {value}\r\n" for name, value in fields)
    head = made.encode("utf-8", "surrogatepass")
    raw = signed(written())
    try:
        found = judged(head + raw if before else head + b"\r\n" + raw)
    except (Unreadable, RetryLater):
        return
    assert isinstance(found, Refused) or found.sender == "alice@corp.example"
    assert isinstance(found, Refused) or before


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(0, 1200), st.binary(max_size=12), st.integers(0, 40))
def test_a_mail_with_some_bytes_replaced_proves_nobody_else(
    judged: Any, at: int, junk: bytes, gone: int
) -> None:
    raw = signed(written())
    try:
        found = judged(raw[:at] + junk + raw[at + gone :])
    except (Unreadable, RetryLater):
        return
    if isinstance(found, Accepted):
        assert (found.sender, found.token) == ("alice@corp.example", "token")


def test_a_letter_holds_no_body(names: Names) -> None:
    letter = read(signed(written(body="a secret\n")), (), "", Records(("127.0.0.1", names.port)))
    assert "a secret" not in repr(letter.model_dump())
    assert not dataclasses.is_dataclass(letter)
