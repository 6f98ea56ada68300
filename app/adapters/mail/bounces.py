"""Delivery status notifications (RFC 3464, and RFC 6533 for other scripts), read within bounds.

Two parts are looked for at the top of a `multipart/report`, by lines: nothing nested is followed, so
that a thousand parts within parts cost what their bytes do.
"""

import re
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32

from app.adapters.mail.reading import Unreadable
from app.core.proofs.bounces import Report, Result
from app.core.text import one_line

_MOST_BYTES = 200_000  # a report is short but for the mail that it sends back, which comes last
_MOST_PARTS = 10
_MOST_RECIPIENTS = 20
_HEAD_END = re.compile(rb"\r?\n[ \t]*\r?\n")
_STATUS = {"message/delivery-status", "message/global-delivery-status"}
_SENT_BACK = {
    *("message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers"),
}
_PARSER = BytesHeaderParser(policy=compat32)


def reported(raw: bytes, recipients: tuple[str, ...]) -> Report | None:
    """The report that a mail is; None for any other mail. Raises `Unreadable` for a broken one."""
    try:
        return _reported(raw[:_MOST_BYTES], recipients)
    except Exception as error:  # noqa: BLE001
        # As in `reading`: the standard library has crashed on broken headers in many ways.
        raise Unreadable(f"its parts cannot be read ({type(error).__name__})") from None


def _reported(raw: bytes, recipients: tuple[str, ...]) -> Report | None:
    head, body = _split(raw)
    if head.get_content_type() != "multipart/report":
        return None
    if str(head.get_param("report-type", "")).lower() != "delivery-status":
        return None
    boundary = str(head.get_boundary(""))
    if not boundary:
        return None
    results: list[Result] = []
    ids: list[str] = []
    for part in _parts(body, boundary.encode("utf-8", "replace")):
        fields, rest = _split(part)
        if fields.get_content_type() in _STATUS:
            results += _results(rest)
        elif fields.get_content_type() in _SENT_BACK:
            sent, _ = _split(rest)
            ids += [one_line(str(value), 300) for value in sent.get_all("message-id", [])]
    return Report(
        recipients=recipients,
        message_ids=tuple(ids[:_MOST_RECIPIENTS]),
        results=tuple(results[:_MOST_RECIPIENTS]),
    )


def _split(raw: bytes) -> tuple[Message, bytes]:
    """Headers and what comes after them. A part without headers begins with an empty line."""
    if raw.startswith((b"\r\n", b"\n")):
        return _PARSER.parsebytes(b""), raw.lstrip(b"\r\n")
    end = _HEAD_END.search(raw)
    head, rest = (raw[: end.start()], raw[end.end() :]) if end else (raw, b"")
    return _PARSER.parsebytes(head + b"\r\n\r\n"), rest


def _parts(body: bytes, boundary: bytes) -> list[bytes]:
    found = re.split(rb"(?:^|\r?\n)--" + re.escape(boundary) + rb"(?:--)?[ \t]*\r?\n", body)
    return found[1 : _MOST_PARTS + 1]


def _results(rest: bytes) -> list[Result]:
    """Groups of fields, the first about the message, the others about one recipient each."""
    found = []
    for group in _HEAD_END.split(rest, _MOST_RECIPIENTS + 1)[: _MOST_RECIPIENTS + 1]:
        fields = _PARSER.parsebytes(group.strip(b"\r\n") + b"\r\n\r\n")
        if fields["action"] is None:
            continue
        status = one_line(str(fields.get("status", "")), 40).partition("(")[0].strip()
        action = one_line(str(fields["action"]), 40).partition("(")[0].strip().lower()
        found.append(Result(action=action, status=status))
    return found
