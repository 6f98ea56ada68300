"""Reports of mails that could not be delivered, as servers write them and as forgers do."""

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.mail.bounces import reported
from app.adapters.mail.reading import Unreadable
from app.core.proofs.bounces import Report, Result
from tests.fakes.letters import bounce, written

TO = ("bounce-1-aa@gate.example",)


def test_a_report_says_what_became_of_it_and_names_the_mail() -> None:
    found = reported(bounce(TO[0], sent="<1-aa@example.org>"), TO)
    assert found == Report(
        recipients=TO,
        message_ids=("<1-aa@example.org>",),
        results=(Result(action="failed", status="5.1.1"),),
    )


def test_headers_alone_may_come_back_and_lines_may_end_in_any_way() -> None:
    raw = bounce(TO[0], sent="<1-aa@example.org>", returned="text/rfc822-headers")
    for made in (raw, raw.replace(b"\r\n", b"\n")):
        found = reported(made, TO)
        assert found is not None
        assert found.message_ids == ("<1-aa@example.org>",)
        assert found.results == (Result(action="failed", status="5.1.1"),)


def test_words_beside_the_status_are_left_out() -> None:
    found = reported(bounce(TO[0], action="Failed (for good)", status="5.2.2 (full)"), TO)
    assert found is not None
    assert found.results == (Result(action="failed", status="5.2.2"),)


def test_what_else_comes_is_no_report() -> None:
    assert reported(written(), TO) is None
    assert reported(bounce(TO[0], report="disposition-notification"), TO) is None
    assert reported(bounce(TO[0]).replace(b"multipart/report", b"multipart/mixed"), TO) is None
    no_boundary = bounce(TO[0]).replace(b"boundary=", b"border=")
    assert reported(no_boundary, TO) is None


def test_what_is_nested_is_not_followed() -> None:
    """The report within the mail that is sent back is whatever its writer put there."""
    inner = bounce(TO[0], sent="<2-bb@example.org>").decode()
    raw = bounce(TO[0]).replace(b"Hello.", inner.replace("4F1A", "4F1B").encode())
    found = reported(raw, TO)
    assert found is not None
    assert found.message_ids == ("<none@example.org>",)
    assert len(found.results) == 1


@pytest.mark.parametrize(
    "raw",
    [
        bounce(TO[0], more="".join(f"Action: failed\r\nX-{n}: y\r\n\r\n" for n in range(50_000))),
        bounce(TO[0], more="--4F1A.1764576000/mx.corp.example\r\n\r\n" * 50_000),
        bounce(TO[0], more="\r\n" * 2_000_000),
        bounce(TO[0], more="Action: " + "(" * 100_000 + "\r\n\r\n"),
        bounce(TO[0], more=" " * 4_000_000),
        bounce(TO[0], more="".join(
            f"--4F1A.1764576000/mx.corp.example\r\nContent-Type: multipart/report; boundary=b{n}\r\n\r\n--b{n}\r\n"
            for n in range(9_000)
        )),
        b"Content-Type: multipart/report; report-type=delivery-status; boundary=" + b'"\\' * 90_000,
    ],
)  # fmt: skip
def test_bombs_are_read_within_bounds(raw: bytes) -> None:
    began = time.process_time()
    try:
        found = reported(raw, TO)
    except Unreadable:
        found = None
    assert time.process_time() - began < 2
    assert found is None or len(found.results) <= 20


@given(st.binary(max_size=300), st.integers(0, 1500), st.integers(0, 1500))
def test_any_bytes_are_read(junk: bytes, start: int, length: int) -> None:
    raw = bounce(TO[0])
    for made in (junk, junk + raw, raw[:start] + junk + raw[start + length :]):
        try:
            found = reported(made, TO)
        except Unreadable:
            continue
        assert found is None or isinstance(found, Report)


@given(
    st.sampled_from(["Action", "Status", "Content-Type", "Message-ID"]),
    st.text(max_size=80).map(lambda s: s.encode("utf-8", "surrogatepass")),
)
def test_any_field_is_read(name: str, value: bytes) -> None:
    raw = bounce(TO[0], sent="<1-aa@example.org>")
    lines = [
        name.encode() + b": " + value if line.startswith(name.encode()) else line
        for line in raw.split(b"\r\n")
    ]
    with suppress(Unreadable):
        reported(b"\r\n".join(lines), TO)
