"""Tokens: for one person, one purpose, one use, and a time."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.proofs.tokens import (
    BYTES,
    LINK_LIVES,
    MOST_ATTEMPTS,
    Token,
    code_of,
    hashed,
    spell,
    why_not,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def token(**more: object) -> Token:
    given = {
        "account_id": 7, "purpose": "link", "address_hash": "x", "at": NOW,
        "expires_at": NOW + LINK_LIVES,
    }  # fmt: skip
    return Token(**{**given, **more})


@pytest.mark.parametrize(
    ("one", "account", "purpose", "later", "said"),
    [
        (token(), 7, "link", 0, None),
        (None, 7, "link", 0, "not one of ours"),
        (token(), 7, "letter", 0, "not one of ours"),
        (token(), 8, "link", 0, "somebody else's"),
        (token(used_at=NOW), 7, "link", 0, "used already"),
        (token(attempts=MOST_ATTEMPTS), 7, "link", 0, "too many"),
        (token(), 7, "link", 24, "time is over"),
        (token(), 7, "link", 23, None),
    ],
)
def test_why_it_counts_or_not(one, account, purpose, later, said) -> None:
    found = why_not(one, account, purpose, NOW + timedelta(hours=later))
    assert found is None if said is None else said in found


@given(st.binary(min_size=BYTES, max_size=BYTES))
def test_a_spelled_token_survives_mail_and_is_not_kept(random: bytes) -> None:
    spelled = spell(random)
    assert len(spelled) <= 64  # the longest part before an @ (RFC 5321)
    assert spelled.isalnum()
    assert spelled == spelled.lower()
    assert hashed(spelled.upper()) == hashed(spelled) != spelled
    assert len(code_of(spelled, b"k")) == 8
    assert code_of(spelled, b"k").isdecimal()
