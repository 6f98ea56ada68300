"""Pages: each template has one context type, and Jinja2 escapes all of it."""

import hashlib
import re
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Page:
    """What every page has."""

    title: str


@dataclass(frozen=True)
class ErrorPage(Page):
    """`error.html`."""

    status: int
    what: str
    hint: str


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["day"] = lambda at: at.astimezone(UTC).strftime("%Y-%m-%d")
    made.filters["clock"] = lambda at: at.astimezone(UTC).strftime("%H:%M")
    made.filters["moment"] = lambda at: at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    made.filters["iso"] = datetime.isoformat
    made.filters["number"] = lambda n: f"{n:,}"
    made.filters["code"] = _code
    made.globals["stylesheet"] = f"/static/style.css?{_digest('style.css')}"
    return made


def _code(text: str) -> Markup:
    """A sentence of ours as HTML: `code` and [links](/to/pages) of Markdown, all else escaped."""
    escaped = str(escape(text))
    linked = re.sub(r"\[([^\]]+)\]\((/[a-z]+)\)", r'<a href="\2">\1</a>', escaped)
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", linked))  # noqa: S704 - escaped above


def _digest(name: str) -> str:
    """So that a browser's copy of an older one is not used."""
    return hashlib.sha256((_HERE / "static" / name).read_bytes()).hexdigest()[:12]


def render(
    request: Request,
    template: str,
    page: Page,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> HTMLResponse:
    """One page. The template sees the fields of the page and, of the request, who is signed in."""
    context: dict[str, Any] = {f.name: getattr(page, f.name) for f in fields(page)}
    context["signed_in"] = getattr(request.state, "login", None)
    context["path"] = request.url.path
    text = _environment().get_template(template).render(context)
    return HTMLResponse(text, status, headers)
