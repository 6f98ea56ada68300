"""Sketches by MinHash, with the library datasketch."""

import zlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

from app.core.likeness import Sketch, Traits

if TYPE_CHECKING:
    from datasketch import MinHash

# 128 values, of which the first 64 make 16 bands of 4: a pair with a likeness of 0.7 shares one with
# a probability of 1 - (1 - 0.7^4)^16 = 0.988, one of 0.3 with 0.12 (Leskovec, Rajaraman, Ullman,
# chapter 3.4). More bands would find little more, and each is an entry of the index.
VALUES = 128
_BANDED = 64
_ROWS = 4
_SEED = 1


class MinHashes:
    """`core.likeness.Sketcher`."""

    @cached_property
    def _empty(self) -> "MinHash":
        # It takes a second to import, and most processes never sketch anything.
        from datasketch import MinHash

        return MinHash(num_perm=VALUES, seed=_SEED)

    def sketch(self, traits: Traits) -> Sketch:
        """The sketch of some traits."""
        bands: list[int] = []
        found: list[bytes | None] = []
        for kind, shingles in enumerate((traits.words, traits.changes)):
            values = self._values(shingles) if shingles else None
            found.append(bytes(int(v) & 0xFF for v in values) if values is not None else None)
            if values is not None:
                bands += _bands(kind, values)
        return Sketch(words=found[0], changes=found[1], bands=tuple(bands))

    def _values(self, shingles: frozenset[str]) -> list[int]:
        made = self._empty.copy()
        made.update_batch([s.encode("utf-8", "replace") for s in sorted(shingles)])
        values: Any = made.hashvalues
        return [int(v) for v in values]


def _bands(kind: int, values: list[int]) -> list[int]:
    """Each band as a number of 32 bits with a sign, as PostgreSQL's integer has it."""
    made = []
    for first in range(0, _BANDED, _ROWS):
        rows = ",".join(str(v) for v in values[first : first + _ROWS])
        made.append(zlib.crc32(f"{kind}:{first}:{rows}".encode()) - 2**31)
    return made
