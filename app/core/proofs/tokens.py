"""Secrets that a person brings back: shown once, kept as a hash, for one use and a time."""

import base64
import hashlib
import hmac
from datetime import datetime, timedelta
from typing import Literal

from app.core.fact import Fact

BYTES = 32
SPELLED = 52  # characters of a token
LINK_LIVES = timedelta(hours=24)
LETTER_LIVES = timedelta(days=7)
# Wrong codes for one token before it is worth nothing.
MOST_ATTEMPTS = 5

Purpose = Literal["letter", "link"]


class Token(Fact):
    """One that was given out, as it is kept: for whom, for what, and until when."""

    account_id: int
    purpose: Purpose
    address_hash: str | None
    at: datetime
    expires_at: datetime
    used_at: datetime | None = None
    attempts: int = 0


def spell(random: bytes) -> str:
    """A token as a person or mail carries it: lower-case base32, which survives every mail server."""
    return base64.b32encode(random).decode().rstrip("=").lower()


def hashed(spelled: str) -> str:
    """What is kept of it."""
    return hashlib.sha256(spelled.strip().lower().encode()).hexdigest()


def code_of(spelled: str, key: bytes) -> str:
    """Eight digits that stand for the token where a link cannot be opened."""
    digest = hmac.new(key, f"code:{spelled}".encode(), hashlib.sha256).digest()
    return f"{int.from_bytes(digest[:8], 'big') % 10**8:08}"


def why_not(token: Token | None, account_id: int, purpose: Purpose, now: datetime) -> str | None:
    """Why a token is worth nothing here; None where it counts. The words tell no address."""
    if token is None or token.purpose != purpose:
        return "This link or address is not one of ours, or it was replaced by a newer one."
    if token.account_id != account_id:
        return "This is somebody else's. Sign in as who asked for it."
    if token.used_at is not None:
        return "This was used already."
    if token.attempts >= MOST_ATTEMPTS:
        return "There were too many wrong attempts. Ask for a new one."
    if token.expires_at <= now:
        return "Its time is over. Ask for a new one."
    return None
