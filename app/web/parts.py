"""What every page and endpoint may use: built by `app.wiring.web`, kept on the application."""

from typing import cast

from fastapi import Request

from app.wiring.web import WebParts


def parts(request: Request) -> WebParts:
    """The parts of this process, as a FastAPI dependency."""
    return cast(WebParts, request.app.state.parts)
