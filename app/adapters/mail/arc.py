"""ARC (RFC 8617): what servers on the way found out, under their own seals."""

import re
from collections.abc import Mapping, Sequence

from app.adapters.mail.keys import SILENT, Keys, TxtLookup
from app.core.proofs.letters import LEAST_KEY_BITS, Chain, Seal
from app.core.proofs.results import parse
from app.core.text import one_line

# RFC 8617, 4.2.1 allows 50 sets, each of which costs two keys; a mail has passed one or two hands.
MOST_SETS = 5
_SEAL, _SIGNATURE = "arc-seal", "arc-message-signature"
_SET = (_SEAL, _SIGNATURE, "arc-authentication-results")
_NOTHING = frozenset[str]()


def sealed(raw: bytes, headers: Mapping[str, Sequence[str]], lookup: TxtLookup) -> Chain | None:
    """The mail's chain; None where it has none. `headers`: values by lower-case name."""
    counts = {len(headers.get(name, ())) for name in _SET}
    if counts == {0}:
        return None
    if len(counts) > 1 or max(counts) > MOST_SETS:
        return _broken("its sets are not complete, or too many")
    keys = Keys(lookup)
    try:
        found = _verified(raw, keys)
    except Exception as error:  # noqa: BLE001
        # dkimpy raises what its parser or the key's parser raise, for anything that is odd.
        return _broken(one_line(f"{type(error).__name__}: {error}", 120), keys)
    return _broken(found, keys) if isinstance(found, str) else found


def _broken(why: str, keys: Keys | None = None) -> Chain:
    """A chain that proves nothing; it has a set that tells so."""
    unanswered = keys is not None and keys.unanswered
    seals = (Seal(domain="?", results=None),)
    return Chain(seals=seals, covers=_NOTHING, has_length=False, problem=why, unanswered=unanswered)


def _verified(raw: bytes, keys: Keys) -> Chain | str:
    """The chain, or why it is none. May raise whatever dkimpy raises."""
    import dkim

    checker = dkim.ARC(raw, logger=SILENT, minkey=LEAST_KEY_BITS, timeout=5)
    state, sets, reason = checker.verify(dnsfunc=keys)
    if state != dkim.CV_Pass:
        return one_line(str(reason), 120)
    newest, parts = checker.sorted_arc_headers()
    covers, has_length = _NOTHING, False
    for number, (name, value) in parts:
        if name.lower() not in {_SEAL.encode(), _SIGNATURE.encode()}:
            continue
        tags = dkim.util.parse_tag_value(value)
        # dkimpy takes the first "i=" of a header for its number, wherever it stands.
        if tags.get(b"i") != str(number).encode():
            return "a header does not say which set it belongs to"
        if number == newest and name.lower() == _SIGNATURE.encode():
            names = re.sub(rb"\s+", b"", tags[b"h"]).decode("ascii", "replace").lower()
            covers, has_length = frozenset(names.split(":")), b"l" in tags
    seals = tuple(
        Seal(
            domain=one["as-domain"].decode("ascii", "replace").lower(),
            results=parse(one["aar-value"].decode("utf-8", "replace")),
        )
        for one in sets
    )
    return Chain(seals=seals, covers=covers, has_length=has_length, problem="")
