"""Writes docs/configuration.md and docs/metrics.md from the code, so that they cannot be wrong.

python ops/reference.py           # writes them
python ops/reference.py --check   # exits with 1 where they differ
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from app import metrics
from app.core.modes import Mode
from app.core.policy import PATH, Policy
from app.settings import Settings
from app.web import health

DOCS = Path(__file__).parent.parent / "docs"
_NOTE = "<!-- Written by ops/reference.py from the code; change it there. -->\n\n"


def configuration() -> str:
    """The reference of both configurations."""
    lines = [
        "# Configuration",
        "",
        "## Of a repository",
        "",
        f"`{PATH}`, read from the default branch only, when it is pushed to or changes. At most 100 kB, no YAML "
        "aliases. Unknown keys, and keys that stand twice, are refused. While the file has an error, the "
        "last good one stays in force.",
        "",
        "| key | values | default | meaning |",
        "|---|---|---|---|",
        *_keys(Policy, ""),
        "",
        "Modes, each including the ones before it: "
        + ", ".join(f"`{m.word}`" for m in Mode)
        + ". In force is the smaller of the repository's and the rule's own; `unattended` asks at most.",
        "",
        "## Of the service",
        "",
        "Environment variables, or lines of a file `.env` in the folder that it is started in. An empty "
        "value counts as absent.",
        "",
        "| name | default | meaning |",
        "|---|---|---|",
        *(_variable(name, field) for name, field in Settings.model_fields.items()),
    ]
    return "\n".join(lines) + "\n"


def _keys(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            words = (kind.__doc__ or "").split("\n")[0]
            yield f"| `{prefix}{name}` | | | {words} |"
            yield from _keys(kind, f"{prefix}{name}.")
        else:
            yield f"| `{prefix}{name}` | {_values(field)} | {_default(field)} | {_text(field)} |"


def _values(field: FieldInfo) -> str:
    if field.annotation is Mode:
        return "a mode"
    if field.annotation in {int, float}:
        low = next((m.ge for m in field.metadata if hasattr(m, "ge")), None)
        high = next((m.le for m in field.metadata if hasattr(m, "le")), None)
        return f"{low} to {high}"
    if field.annotation is str:
        return "text"
    literal = get_args(field.annotation)
    if literal and not any(isinstance(a, type) or a is Ellipsis for a in literal):
        return ", ".join(f"`{a}`" for a in literal)
    return "numeric account ids"


def _default(field: FieldInfo) -> str:
    value: Any = field.default
    if isinstance(value, Mode):
        value = value.word
    if value in {None, (), ""} or value is PydanticUndefined:
        return ""
    if isinstance(value, tuple):
        value = ", ".join(map(str, value))
    return f"`{value}`"


def _text(field: FieldInfo) -> str:
    return (field.description or "").replace("|", "\\|")


def _variable(name: str, field: FieldInfo) -> str:
    return f"| `{name.upper()}` | {_default(field)} | {_text(field)} |"


def metrics_reference() -> str:
    """The reference of what `/metrics` answers."""
    lines = [
        "# Metrics",
        "",
        "`/metrics` of each web process, in Prometheus' text format. Gauges come from SQL and are the same "
        "from every process; counters are each process's own.",
        "",
        "| name | kind | labels | meaning |",
        "|---|---|---|---|",
    ]
    for counted in (metrics.DELIVERIES, metrics.BELLS_LOST, metrics.REQUESTS):
        (family,) = counted.describe()
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = ", ".join(f"`{label}`" for label in counted._labelnames)  # noqa: SLF001
        lines.append(f"| `{name}` | {family.type} | {labels} | {family.documentation} |")
    lines += [f"| `{n}` | gauge | {labels} | {text} |" for n, labels, text in health.GAUGES]
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Each written page with its text."""
    return {
        DOCS / "configuration.md": _NOTE + configuration(),
        DOCS / "metrics.md": _NOTE + metrics_reference(),
    }


def main() -> None:
    """Writes or checks."""
    check = "--check" in sys.argv[1:]
    for path, text in pages().items():
        if check and (not path.exists() or path.read_text() != text):
            sys.exit(f"{path.name} is not what the code says; run: python -m ops.reference")
        if not check:
            path.write_text(text)


if __name__ == "__main__":
    main()
