"""Mails of ours that came back: which one, and whether for good (RFC 3464).

A reference is in the envelope's sender and in the Message-ID of each mail that we send, with a keyed
hash: who never saw the mail cannot report on it. Whoever did can do no more than tell its owner that
it came back; no report proves or answers anything, and the link in the mail stays good.
"""

import re
from collections.abc import Callable, Iterable

from app.core.fact import Fact
from app.core.proofs.letters import Refused

Keyed = Callable[[str, str], str]

PREFIX = "bounce-"
_MAC = 20  # hexadecimal digits; 80 bits are enough against guessing by mail
_REFERENCE = re.compile(rf"([1-9][0-9]{{0,18}})-([0-9a-f]{{{_MAC}}})")
_STATUS = re.compile(r"[245]\.[0-9]{1,3}\.[0-9]{1,3}")


class Result(Fact):
    """What a report says of one recipient: `failed`, `delayed`, …, and RFC 3463's status."""

    action: str
    status: str


class Report(Fact):
    """A delivery status notification, as far as it counts.

    `recipients` are the envelope's; `message_ids` those of the mail that it sends back.
    """

    recipients: tuple[str, ...]
    message_ids: tuple[str, ...]
    results: tuple[Result, ...]


class Returned(Fact):
    """A mail of ours came back for good; `status` is "" where the report's is none."""

    mail_id: int
    status: str


def reference(mail_id: int, keyed: Keyed) -> str:
    """What names a mail of ours, and that only we can make."""
    return f"{mail_id}-{keyed('mail reference', str(mail_id))[:_MAC]}"


def named(text: str, keyed: Keyed) -> int | None:
    """The mail that a reference names; None where it is none of ours."""
    found = _REFERENCE.fullmatch(text.strip().lower())
    if found is None:
        return None
    mail_id = int(found[1])
    return mail_id if reference(mail_id, keyed) == found[0] else None


def returned(
    report: Report, token_of: Callable[[str], str | None], keyed: Keyed
) -> Returned | Refused:
    """Which mail came back, or why the report says nothing. `token_of` as for letters."""
    ids = set(_references(report, token_of, keyed))
    if len(ids) != 1:
        return Refused(why="it is a bounce, and of no mail of ours")
    last = [one for one in report.results if one.action == "failed"]
    if not last:
        return Refused(why="it is a report of a mail of ours, and not that it failed")
    status = last[0].status
    return Returned(mail_id=ids.pop(), status=status if _STATUS.fullmatch(status) else "")


def _references(
    report: Report, token_of: Callable[[str], str | None], keyed: Keyed
) -> Iterable[int]:
    for address in report.recipients:
        token = token_of(address) or ""
        found = named(token.removeprefix(PREFIX), keyed) if token.startswith(PREFIX) else None
        if found is not None:
            yield found
    for one in report.message_ids:
        found = named(one.strip().strip("<>").partition("@")[0], keyed)
        if found is not None:
            yield found
