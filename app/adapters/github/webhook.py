"""The signature of a webhook delivery."""

import re
from collections.abc import Sequence

from githubkit.webhooks import verify as _verify

# githubkit also takes sha1, which GitHub sends beside it for receivers of ten years ago.
_SHA256 = re.compile(r"sha256=[0-9a-f]{64}")


def well_formed(signature: str | None) -> bool:
    """Whether the header can be a signature at all; worth knowing before reading the body."""
    return signature is not None and _SHA256.fullmatch(signature) is not None


def verify(body: bytes, signature: str | None, secrets: Sequence[str]) -> bool:
    """Whether one of the secrets signed the raw body (`X-Hub-Signature-256`), in constant time."""
    if signature is None or not well_formed(signature):
        return False
    found = [_verify(secret, body, signature) for secret in secrets if secret]
    return any(found)
