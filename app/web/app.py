"""The web application: `uvicorn --factory app.web.app:create_app`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
from fastapi import FastAPI
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from app import logs
from app.settings import Settings, load
from app.web import (
    account,
    api,
    audit_log,
    campaign,
    dashboard,
    fairness,
    goals,
    health,
    hooks,
    login,
    mine,
    mine_data,
    people,
    pull,
    queue,
    reports,
    setup,
    simulate,
    verify,
)
from app.web.errors import install as install_errors
from app.web.guard import Guard, Site
from app.wiring.web import THREADS, WebParts, build

_STATIC = Path(__file__).parent / "static"


def create_app(settings: Settings | None = None) -> ASGIApp:
    """The whole application, by default configured from the environment."""
    given = settings or load()
    if settings is None:
        logs.configure(given.log_level, given.log_format)
    parts = build(given)
    site = Site.of(given.public_url)
    made = FastAPI(
        title="Pulsegate",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        # It would name http behind a proxy with TLS.
        redirect_slashes=False,
        lifespan=_life,
    )
    made.state.parts = parts
    made.state.site = site
    for module in (
        hooks,
        health,
        api,
        dashboard,
        queue,
        pull,
        login,
        account,
        setup,
        simulate,
        audit_log,
        goals,
        fairness,
        campaign,
        mine,
        mine_data,
        people,
        reports,
        verify,
    ):
        made.include_router(module.router)
    made.mount("/static", StaticFiles(directory=_STATIC), name="static")
    install_errors(made)
    return Guard(made, site)


@asynccontextmanager
async def _life(app: FastAPI) -> AsyncIterator[None]:
    # The pool of connections has room for each of these threads.
    anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
    parts: WebParts = app.state.parts
    yield
    await anyio.to_thread.run_sync(parts.close)
