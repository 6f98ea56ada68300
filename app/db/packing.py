"""Payloads packed for the inbox: deflate with a dictionary of what every delivery repeats.

Most of a delivery is the same in all: GitHub's field names, and addresses made of a few names. The
addresses say nothing that the names and ids beside them do not, so that they are left out; a
dictionary makes the rest small. A payload takes a quarter of what it would take otherwise.
"""

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import to_json

# Payloads are unpacked with what they were packed with, so that this file never changes: a better
# one would come beside it. zlib writes the dictionary's checksum into the stream and knows by it
# whether one was used at all.
_DICTIONARY = Path(__file__).with_name("packing.dictionary").read_bytes()
_LEVEL = 6


_LEFT_OUT = {"node_id", "_links", "url", "gravatar_id"}


def pack(payload: object) -> bytes:
    """A payload as it is kept: no addresses, no second ids, and deflated."""
    return deflate(to_json(_trimmed(payload), inf_nan_mode="null"))


def _trimmed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: _trimmed(inner)
            for key, inner in value.items()
            if not (key in _LEFT_OUT or key.endswith("_url"))
        }
    return [_trimmed(inner) for inner in value] if isinstance(value, list) else value


def deflate(body: bytes) -> bytes:
    """What `unpack` reads."""
    packer = zlib.compressobj(_LEVEL, zdict=_DICTIONARY)
    return packer.compress(body) + packer.flush()


def unpack(packed: bytes) -> bytes:
    """JSON that `pack` made; also what was deflated without a dictionary."""
    unpacker = zlib.decompressobj(zdict=_DICTIONARY)
    return unpacker.decompress(packed) + unpacker.flush()
