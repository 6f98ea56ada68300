"""A raw mail as a `Letter`: its headers, and its DKIM signatures checked with an injected resolver.

Only headers are parsed: what is nested in the body, however deep, is never looked at.
"""

import re
from datetime import UTC, datetime
from email.parser import BytesHeaderParser
from email.policy import compat32
from email.utils import getaddresses, parsedate_to_datetime

from app.adapters.mail.arc import sealed
from app.adapters.mail.keys import SILENT, Keys, TxtLookup
from app.core.proofs.letters import LEAST_KEY_BITS, MOST_BYTES, Letter, Signature
from app.core.proofs.results import parse
from app.core.proofs.spf import RESULTS
from app.core.text import clean, one_line

MOST_SIGNATURES = 5
_MOST_HEADER_BYTES = 200_000
# An unclosed quote is eaten to the end, so that no quote within it is tried again.
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_COMMENT = re.compile(r"\([^()]*\)")
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_BLANKS = re.compile(rb"[\t ]+")
# dkimpy's canonical form takes a time that grows with the square of each run of blanks: a mail of
# nothing else would keep a thread for hours. This many steps are a quarter of a second.
_MOST_STEPS = 200_000_000


class Unreadable(Exception):
    """What came is no mail that can be read."""


def read(  # noqa: PLR0913 - what a mail server hands over
    raw: bytes,
    recipients: tuple[str, ...],
    envelope_from: str,
    lookup: TxtLookup,
    *,
    spf: str = "",
    behind: str = "",
    with_arc: bool = False,
) -> Letter:
    """The letter. Raises `Unreadable` for what cannot be one; never anything else.

    `behind`: the name of the mail server in front, whose word on SPF is taken, since it alone saw
    who brought the mail. `with_arc`: its ARC chain is looked at too, which asks for more keys.
    """
    if len(raw) > MOST_BYTES:
        raise Unreadable(f"it is larger than {MOST_BYTES:,} bytes")
    end = _HEADER_END.search(raw)
    head = raw[: end.end() if end else len(raw)]
    if len(head) > _MOST_HEADER_BYTES:
        raise Unreadable("its headers are longer than 200,000 bytes")
    if sum((run.end() - run.start()) ** 2 for run in _BLANKS.finditer(raw)) > _MOST_STEPS:
        raise Unreadable("it has long runs of blanks, which cost too much to check")
    try:
        parsed = BytesHeaderParser(policy=compat32).parsebytes(head)
        headers: dict[str, list[str]] = {}
        for name, value in parsed.items():
            headers.setdefault(name.lower(), []).append(clean(str(value), 20_000))
        senders = _addresses(headers.get("from", []))
        to = _addresses(headers.get("to", []))
        date = _date(headers.get("date", []))
    except Exception as error:  # noqa: BLE001
        # The standard library has crashed on broken headers in many ways; each is no letter.
        raise Unreadable(f"its headers cannot be read ({type(error).__name__})") from None
    return Letter(
        headers={name: tuple(values) for name, values in headers.items()},
        senders=senders,
        to=to,
        recipients=recipients,
        envelope_from=envelope_from,
        date=date,
        size=len(raw),
        signatures=_signatures(raw, len(headers.get("dkim-signature", [])), lookup),
        chain=sealed(raw, headers, lookup) if with_arc else None,
        spf=_told(headers, behind) if behind else spf,
    )


def _addresses(values: list[str]) -> tuple[str, ...]:
    """The addresses of a header; none where names and addresses cannot be told apart for sure."""
    # `getaddresses` has taken a name for an address (CVE-2023-27043): outside quotes and comments
    # there must be as many @ as addresses.
    bare = _COMMENT.sub("", _QUOTED.sub("", ", ".join(values)))
    found = [address for _, address in getaddresses(values) if address]
    return tuple(found) if bare.count("@") == len(found) else ()


def _told(headers: dict[str, list[str]], behind: str) -> str:
    """What the server in front found by SPF: in the topmost header alone, for others can be forged."""
    found = parse(next(iter(headers.get("authentication-results", [])), ""))
    if found is None or found.by != behind:
        return ""
    return next((m.result for m in found.methods if m.name == "spf" and m.result in RESULTS), "")


def _date(values: list[str]) -> datetime | None:
    if len(values) != 1:
        return None
    found = parsedate_to_datetime(values[0])
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _signatures(raw: bytes, count: int, lookup: TxtLookup) -> tuple[Signature, ...]:
    return tuple(_signature(raw, n, lookup) for n in range(min(count, MOST_SIGNATURES)))


def _signature(raw: bytes, number: int, lookup: TxtLookup) -> Signature:
    import dkim

    keys, problem = Keys(lookup), ""
    try:
        checker = dkim.DKIM(raw, logger=SILENT, minkey=LEAST_KEY_BITS, timeout=5)
        good = checker.verify(idx=number, dnsfunc=keys)
        problem = "" if good else "the signature does not fit, or its key cannot be used"
    except Exception as error:  # noqa: BLE001
        # dkimpy raises what its parser or the key's parser raise, for anything that is odd.
        problem = one_line(f"{type(error).__name__}: {error}", 120)
    fields = _fields(raw, number)
    return Signature(
        domain=one_line(fields.get("d", "?"), 253),
        covers=frozenset(name.strip().lower() for name in fields.get("h", "").split(":")),
        has_length="l" in fields,
        problem=problem,
        algorithm=one_line(fields.get("a", "?").lower(), 40),
        unanswered=keys.unanswered,
    )


def _fields(raw: bytes, number: int) -> dict[str, str]:
    """The tags of a signature, as it says them; whether they are true is checked elsewhere."""
    import dkim

    try:
        headers, _ = dkim.rfc822_parse(raw)
        values = [value for name, value in headers if name.lower() == b"dkim-signature"]
        found = dkim.util.parse_tag_value(values[number])
    except Exception:  # noqa: BLE001 - as above
        return {}
    return {
        key.decode("ascii", "replace"): re.sub(rb"\s+", b"", value).decode("ascii", "replace")
        for key, value in found.items()
    }
