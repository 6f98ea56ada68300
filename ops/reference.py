"""Writes docs/configuration.md, policy.md, metrics.md and schema/ from the code, so that they cannot be wrong.

python ops/reference.py           # writes them
python ops/reference.py --check   # exits with 1 where they differ
"""

import sys
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from app import metrics
from app.settings import Settings
from app.web import health
from ops import reference_policy, reference_privacy

DOCS = Path(__file__).parent.parent / "docs"
_NOTE = "<!-- Written by ops/reference.py from the code; change it there. -->\n\n"


def configuration() -> str:
    """The reference of the service's configuration."""
    lines = [
        "# Configuration",
        "",
        "What a repository asks of the gate stands in its `.github/pulsegate.yml`: see [policy.md](policy.md).",
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


def _default(field: FieldInfo) -> str:
    value: Any = field.default
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
        DOCS / "policy.md": _NOTE + reference_policy.page(),
        DOCS.parent / "schema" / "pulsegate.json": reference_policy.schema_text(),
        DOCS / "metrics.md": _NOTE + metrics_reference(),
        DOCS.parent / "PRIVACY.md": _NOTE + reference_privacy.page(),
    }


def main() -> None:
    """Writes or checks."""
    check = "--check" in sys.argv[1:]
    for path, text in pages().items():
        if check and (not path.exists() or path.read_text() != text):
            sys.exit(f"{path.name} is not what the code says; run: python -m ops.reference")
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)


if __name__ == "__main__":
    main()
