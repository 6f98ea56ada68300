"""ARC: a server that changed a mail says under its own seal that the signature verified before."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import dkim
import pytest

from app.adapters.mail.arc import MOST_SETS
from app.adapters.mail.dns import Records
from app.adapters.mail.lists import InstalledLists
from app.adapters.mail.reading import read
from app.core.errors import RetryLater
from app.core.proofs.letters import Accepted, Refused, judge
from tests.adapters.mail.test_reading import token_of, why
from tests.fakes.letters import SELECTOR, SHORT_KEY, key, signed, written
from tests.fakes.names import Names

LISTS = InstalledLists()
SIGNED = (b"from", b"to", b"date", b"subject", b"dkim-signature")
PASSED = "dkim=pass header.d=corp.example"
LIST, OTHER = "list.example", "other.example"


@pytest.fixture
def names() -> Iterator[Names]:
    known = {f"{SELECTOR}._domainkey.{d}": key()[1] for d in ("corp.example", LIST, OTHER)}
    with Names(known) as names:
        yield names


@pytest.fixture
def judged(names: Names) -> Callable[..., Accepted | Refused]:
    lookup = Records(("127.0.0.1", names.port))

    def judge_it(raw: bytes, *sealers: str) -> Accepted | Refused:
        to = ("token@gate.example",)
        letter = read(raw, to, "alice@corp.example", lookup, with_arc=bool(sealers))
        return judge(letter, datetime.now(UTC), token_of, LISTS.registrable, sealers)

    return judge_it


def changed(raw: bytes) -> bytes:
    """What a list does: a mark in the subject, which breaks the signature."""
    return raw.replace(b"Subject: Hello", b"Subject: [list] Hello")


def sealed(
    raw: bytes,
    results: str = PASSED,
    domain: str = LIST,
    *,
    covers: tuple[bytes, ...] = SIGNED,
    pem: bytes | None = None,
) -> bytes:
    """The mail with the set of a server that found this out, which stays beside it."""
    found = f"Authentication-Results: mx.{domain}; {results}\r\n".encode()
    signer = dkim.ARC(found + raw)
    signer.should_not_sign -= {b"dkim-signature"}  # RFC 8617, 4.1.2 wants it covered
    lines = signer.sign(
        SELECTOR.encode(), domain.encode(), pem or key()[0], f"mx.{domain}".encode(), covers
    )
    assert lines
    return b"".join(lines) + raw


def test_a_listed_sealer_stands_for_the_signature_that_it_saw(judged: Any) -> None:
    found = judged(sealed(changed(signed(written()))), LIST)
    assert (found.sender, found.signed_by, found.sealed_by) == (
        "alice@corp.example", "corp.example", LIST,
    )  # fmt: skip


def test_a_signature_that_still_verifies_needs_no_sealer(judged: Any) -> None:
    found = judged(sealed(signed(written())), LIST)
    assert (found.signed_by, found.sealed_by) == ("corp.example", "")


def test_nobody_is_believed_who_was_not_listed(judged: Any) -> None:
    raw = sealed(changed(signed(written())))
    assert "corp.example:" in why(judged(raw))
    assert "which the operator did not list" in why(judged(raw, OTHER))


@pytest.mark.parametrize(
    ("results", "raw", "said"),
    [
        ("dkim=fail header.d=corp.example", signed(written()), "saw a signature"),
        ("dkim=pass header.d=else.example", signed(written()), "saw a signature"),
        ("spf=pass smtp.mailfrom=corp.example", signed(written()), "saw a signature"),
        # It says so of a mail that carries no such signature at all.
        (PASSED, written(), "saw a signature"),
        # One that would not have done without it.
        (PASSED, signed(written(), length=True), "saw a signature"),
        (PASSED, signed(written(), covers=(b"from", b"date", b"subject")), "saw a signature"),
    ],
)
def test_it_has_to_have_seen_a_signature_that_would_do(
    judged: Any, results: str, raw: bytes, said: str
) -> None:
    assert said in why(judged(sealed(changed(raw), results), LIST))


def test_what_was_changed_after_the_seal_does_not_count(judged: Any) -> None:
    raw = sealed(changed(signed(written())))
    for old, new in (
        (b"[list] Hello", b"[list] Hallo"),
        (b"It is me", b"It is I!"),
        (b"dkim=pass", b"dkim=fail"),
        (b"cv=none", b"cv=pass"),
        (b"To: token@", b"To: other@"),
    ):
        assert old in raw
        assert isinstance(judged(raw.replace(old, new, 1), LIST), Refused)


@pytest.mark.parametrize("left_out", SIGNED[1:])
def test_a_seal_that_leaves_something_open_does_not_count(judged: Any, left_out: bytes) -> None:
    covers = tuple(name for name in SIGNED if name != left_out)
    found = judged(sealed(changed(signed(written())), covers=covers), LIST)
    assert f"did not sign {left_out.decode()}" in why(found)


def test_each_sealer_on_the_way_back_has_to_be_listed(judged: Any) -> None:
    raw = sealed(changed(signed(written())))
    twice = sealed(
        raw.replace(b"[list]", b"[two]"), "arc=pass; dkim=fail header.d=corp.example", OTHER
    )
    assert judged(twice, LIST, OTHER).sealed_by == LIST
    assert "list.example sealed it" in why(judged(twice, OTHER))
    assert "other.example sealed it" in why(judged(twice, LIST))
    failed = sealed(raw, f"arc=fail; {PASSED}", OTHER)
    assert "ARC chain" in why(judged(failed, LIST, OTHER))


def test_a_chain_that_is_odd_proves_nothing(judged: Any, names: Names) -> None:
    once = changed(signed(written()))
    raw = sealed(once)
    for n in range(MOST_SETS):
        raw = sealed(raw, f"arc=pass; {PASSED}", LIST if n % 2 else OTHER)
    assert "too many" in why(judged(raw, LIST, OTHER))
    lines = sealed(once).split(b"\r\nARC-", 1)
    assert "not complete" in why(judged(b"ARC-" + lines[1], LIST))
    names.records[f"{SELECTOR}._domainkey.short.example"] = SHORT_KEY[1]
    short = sealed(once, domain="short.example", pem=SHORT_KEY[0])
    assert "ARC chain" in why(judged(short, "short.example"))
    for broken in (b"i=x", b"i=99999999999", b"d=\xff", b"h=", b""):
        assert isinstance(judged(sealed(once).replace(b"i=1", broken), LIST), Refused)


def test_a_silent_name_server_is_asked_again_for_a_listed_chain_alone(
    judged: Any, names: Names
) -> None:
    raw = sealed(changed(signed(written())))
    names.failing.add(f"{SELECTOR}._domainkey.{LIST}")
    with pytest.raises(RetryLater):
        judged(raw, LIST)
    assert isinstance(judged(raw), Refused)
