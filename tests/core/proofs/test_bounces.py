"""Which of our mails a report is about, and whether it says that it failed."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.proofs.bounces import PREFIX, Report, Result, Returned, named, reference, returned
from app.core.proofs.letters import Refused


def keyed(purpose: str, value: str) -> str:
    return sha256(f"{purpose}:{value}".encode()).hexdigest()


def token_of(address: str) -> str | None:
    local, _, domain = address.lower().partition("@")
    return local if domain == "gate.example" else None


OURS = reference(12, keyed)
TO = f"{PREFIX}{OURS}@gate.example"
FAILED = Result(action="failed", status="5.1.1")


def judged(
    *results: Result, to: tuple[str, ...] = (TO,), ids: tuple[str, ...] = ()
) -> Returned | Refused:
    report = Report(recipients=to, message_ids=ids, results=results)
    return returned(report, token_of, keyed)


@given(st.integers(1, 10**18))
def test_a_reference_names_its_mail_and_fits_into_an_address(mail_id: int) -> None:
    made = reference(mail_id, keyed)
    assert named(made.upper(), keyed) == mail_id
    assert len(PREFIX + made) <= 64
    assert named(made[:-1] + ("0" if made[-1] != "0" else "1"), keyed) is None
    assert named(f"{mail_id + 1}-{made.partition('-')[2]}", keyed) is None


@given(st.text(max_size=60))
def test_nothing_else_is_a_reference(text: str) -> None:
    assert named(text, keyed) is None


def test_a_mail_of_ours_is_known_by_the_envelope_or_by_its_message_id() -> None:
    assert judged(FAILED) == Returned(mail_id=12, status="5.1.1")
    ids = (f" <{OURS}@example.org>", "<other@example.org>")
    assert judged(FAILED, to=("x@gate.example",), ids=ids) == Returned(mail_id=12, status="5.1.1")
    assert judged(FAILED, ids=ids) == Returned(mail_id=12, status="5.1.1")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (judged(FAILED, to=("x@gate.example",)), "of no mail of ours"),
        (judged(FAILED, to=(f"{PREFIX}12-{'0' * 20}@gate.example",)), "of no mail of ours"),
        (judged(FAILED, to=(f"{PREFIX}{OURS}@else.example",)), "of no mail of ours"),
        (judged(FAILED, ids=(f"<{reference(13, keyed)}@a.example>",)), "of no mail of ours"),
        (judged(Result(action="delayed", status="4.4.1")), "not that it failed"),
        (judged(Result(action="delivered", status="2.0.0")), "not that it failed"),
        (judged(), "not that it failed"),
    ],
)
def test_all_others_say_nothing(found: object, said: str) -> None:
    assert isinstance(found, Refused)
    assert said in found.why


def test_a_status_that_is_none_is_not_repeated() -> None:
    assert judged(Result(action="failed", status="<b>5</b>")) == Returned(mail_id=12, status="")
