"""Logging: one line for one thing that happened, as JSON or for people, without secrets.

Our own code logs by `structlog.get_logger()`; what libraries log by the standard library takes the
same way out. `bound(delivery=…, pr=…)` adds these to every line below it.
"""

import json
import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import AbstractContextManager
from typing import Any, TextIO

import structlog

HIDDEN = "[hidden]"
_NAMES = re.compile(r"secret|token|passw|authorization|cookie|key|signature", re.IGNORECASE)
_TEXTS = (
    # GitHub's tokens (installation tokens are long and may hold dots), and JSON web tokens
    (re.compile(r"\b(gh[opsur]_|github_pat_)[A-Za-z0-9_.\-]{10,}"), r"\1" + HIDDEN),
    (re.compile(r"\bv1\.[0-9a-f]{40}\b"), HIDDEN),
    (re.compile(r"\beyJ[\w\-]{8,}\.[\w\-]+\.[\w\-]*"), HIDDEN),
    (
        re.compile(
            r"(?i)(authorization[\"']?\s*[:=]\s*[\"']?)(?:(bearer|basic|token)\s+)?[^\s\"',]+"
        ),
        r"\1" + HIDDEN,
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.\-+/=~]{12,}"), r"\1 " + HIDDEN),
    (
        re.compile(r"-----BEGIN [A-Z ]*-----.*?(-----END [A-Z ]*-----|\Z)", re.DOTALL),
        f"-----BEGIN {HIDDEN}-----",
    ),
    # the password of an address
    (re.compile(r"(\b[a-z][a-z0-9+.\-]*://[^\s/:@]*:)[^\s@/]+@"), r"\1" + HIDDEN + "@"),
)

# Libraries that tell at level "info" what only they care about: each request, each tick.
_CHATTY = (
    "httpx",
    "httpcore",
    "hishel",
    "kombu",
    "amqp",
    "alembic",
    "celery.beat",
    "celery.app.trace",
    "celery.worker.strategy",
)


def redact(value: Any, name: str = "") -> Any:
    """The value with everything hidden that looks like a secret, or whose name says so."""
    if _NAMES.search(name) and value is not None and not isinstance(value, bool):
        return HIDDEN
    if isinstance(value, str):
        for pattern, replacement in _TEXTS:
            value = pattern.sub(replacement, value)
        return value
    if isinstance(value, bytes):
        return redact(value.decode(errors="replace"))
    if isinstance(value, Mapping):
        return {str(k): redact(v, str(k)) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [redact(v) for v in value]
    return value if isinstance(value, int | float | bool | None) else redact(repr(value))


def _redact_line(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return {k: v if k.startswith("_") else redact(v, k) for k, v in event.items()}


def _console(_: Any, __: str, event: MutableMapping[str, Any]) -> str:
    """`12:00:01 warning  said  pr=7`: line ends inside are escaped: nobody forges a line."""
    head = (
        f"{event.pop('timestamp')} {event.pop('level', 'info'):<8}{_plain(event.pop('event', ''))}"
    )
    event.pop("logger", None)
    return head + "".join(f"  {k}={_plain(v)}" for k, v in event.items())


def _plain(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def configure(level: str, style: str, stream: TextIO | None = None) -> None:
    """Set up logging of the whole process: `level` as in LOG_LEVEL, `style` as in LOG_FORMAT.

    Lines go to standard error, or to `stream`. May be called again; the last call counts.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(
            fmt="iso" if style == "json" else "%H:%M:%S", utc=style == "json"
        ),
        structlog.processors.format_exc_info,
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if style == "json" else _console
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.PositionalArgumentsFormatter(), *shared],
            processors=[
                _redact_line,
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for chatty in _CHATTY:
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def bound(**values: Any) -> AbstractContextManager[None]:
    """Every line logged inside carries these values, for instance `delivery` and `pr`."""
    return structlog.contextvars.bound_contextvars(**values)
