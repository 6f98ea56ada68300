"""What every page and endpoint may use: built by `app.wiring.web`, kept on the application."""

from typing import Annotated, cast

from fastapi import Depends, Request

from app.wiring.web import WebParts


def parts(request: Request) -> WebParts:
    """The parts of this process, as a FastAPI dependency."""
    return cast("WebParts", request.app.state.parts)


Parts = Annotated[WebParts, Depends(parts)]
