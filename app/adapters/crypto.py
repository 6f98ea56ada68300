"""Keys, seals, signatures and hashes, all derived from SECRET_KEY.

Each use has a key of its own (HKDF with the use as its context), so that what leaks in one place
opens nothing in another. Several keys: the newest makes, all of them open.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from itsdangerous import BadData, URLSafeTimedSerializer

from app.core.errors import UserError

_SALT = b"pulsegate-1"


def derive(key: str, use: str) -> bytes:
    """32 bytes for one use of a key."""
    return HKDF(SHA256(), length=32, salt=_SALT, info=use.encode()).derive(key.encode())


class Vault:
    """Encryption at rest. `keys` are newest first, at least one."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._fernet = MultiFernet(
            [Fernet(urlsafe_b64encode(derive(k, "encryption"))) for k in keys]
        )

    def seal(self, plain: bytes) -> bytes:
        """The bytes as only we can read them."""
        return self._fernet.encrypt(plain)

    def open(self, sealed: bytes) -> bytes:
        """The bytes that were sealed, also under an older key. `UserError` if no key opens them."""
        try:
            return self._fernet.decrypt(sealed)
        except InvalidToken:
            raise UserError(
                "what is stored encrypted cannot be opened with SECRET_KEY",
                hint="Put the SECRET_KEY of before behind the new one, with a comma between.",
            ) from None


class Signer:
    """Values that travel through a browser and come back unchanged and in time.

    The purpose is part of the signature: what was signed for one opens nowhere else.
    """

    def __init__(self, keys: Sequence[str], purpose: str) -> None:
        # itsdangerous takes the newest key last.
        derived = [derive(k, "sessions") for k in reversed(keys)]
        self._serializer = URLSafeTimedSerializer(
            derived, salt=purpose, signer_kwargs={"digest_method": hashlib.sha256}
        )

    def sign(self, value: dict[str, str]) -> str:
        """The value as text that fits into an address or a cookie."""
        return str(self._serializer.dumps(value))

    def read(self, text: str, max_age: int) -> dict[str, str] | None:
        """What was signed at most `max_age` seconds ago, or None."""
        try:
            value: Any = self._serializer.loads(text, max_age=max_age)
        except (BadData, ValueError):  # a text that no header carries is a ValueError
            return None
        return value if isinstance(value, dict) else None


class Hasher:
    """Keyed hashes: nobody without the key can guess what was hashed, or make a token."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = [derive(k, "hashes") for k in keys]

    def keyed_hash(self, purpose: str, value: str) -> str:
        """64 hexadecimal digits, by the newest key."""
        return _mac(self._keys[0], purpose, value)

    def matches(self, purpose: str, value: str, digest: str) -> bool:
        """Whether `digest` is the hash of `value` by any of the keys, in constant time."""
        given = digest.encode("utf-8", "replace")
        found = [hmac.compare_digest(_mac(k, purpose, value).encode(), given) for k in self._keys]
        return any(found)


def _mac(key: bytes, purpose: str, value: str) -> str:
    return hmac.new(key, f"{purpose}\0{value}".encode(), hashlib.sha256).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two texts are equal, in a time that tells nothing."""
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))
