"""Keys of signatures: looked up by an injected function, and what of them may be used."""

import logging
import re
from collections.abc import Callable

from app.core.errors import RetryLater

# dkimpy logs what each sender wrote, line by line; what came of a mail is recorded by ourselves.
SILENT = logging.getLogger("pulsegate.dkim")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False

TxtLookup = Callable[[str, float], bytes | None]
"""A name's TXT record as one string, or None where there is none; seconds to wait for it.

`RetryLater` where nobody answers. `core` code never asks the network itself.
"""


class Keys:
    """Looks keys up for dkimpy, and remembers whether somebody did not answer."""

    def __init__(self, lookup: TxtLookup) -> None:
        self._lookup = lookup
        self.unanswered = False

    def __call__(self, name: bytes | str, timeout: float = 5) -> bytes | None:
        """The record of a key that may be used."""
        asked = name.decode("ascii", "replace") if isinstance(name, bytes) else name
        try:
            return usable(self._lookup(asked.rstrip("."), timeout))
        except RetryLater:
            self.unanswered = True
            return None


def usable(record: bytes | None) -> bytes | None:
    """A key's record; None for one in testing (RFC 6376, 3.6.1: as if the mail was not signed)."""
    if record is None:
        return None
    tags = re.sub(rb"\s+", b"", record).lower().split(b";")
    flags = [tag[2:].split(b":") for tag in tags if tag.startswith(b"t=")]
    return None if any(b"y" in found for found in flags) else record
