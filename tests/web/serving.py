"""The web process on a thread of the test, asked over HTTP as browsers and GitHub ask it."""

import hashlib
import hmac
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn

from app.settings import Settings
from app.web.app import create_app

SECRET = "the-webhook-secret"
KEY = "k" * 40


class Server:
    """The web process on a thread; `parts` are its own, `http` a client without cookies."""

    def __init__(self, settings: Callable[..., Settings], **more: Any) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.app: Any = create_app(settings(**{"public_url": self.url, **more}))
        self.parts = self.app._app.state.parts
        self._uvicorn = uvicorn.Server(uvicorn.Config(self.app, log_config=None, lifespan="on"))
        self._thread = threading.Thread(target=self._uvicorn.run, args=([self._socket],))

    @contextmanager
    def running(self, wait_for: Callable[..., None]) -> Iterator["Server"]:
        self._thread.start()
        wait_for(lambda: self._uvicorn.started or not self._thread.is_alive(), "the server starts")
        try:
            with self.client() as self.http:
                yield self
        finally:
            self._uvicorn.should_exit = True
            self._thread.join(20)
            self._socket.close()

    def client(self, **more: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, trust_env=False, timeout=30, **more)

    def deliver(self, body: bytes, *, secret: str = SECRET, **headers: str) -> httpx.Response:
        """A delivery as GitHub sends it; headers with `_` for `-`, an empty one is left out."""
        sent = {
            "content-type": "application/json",
            "x-github-event": "ping",
            "x-github-delivery": str(uuid.uuid4()),
            "x-github-hook-installation-target-id": "77",
            "x-hub-signature-256": sign(body, secret),
        }
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        kept = {name: value.encode("latin-1") for name, value in sent.items() if value}
        return self.http.post("/webhooks/github", content=body, headers=kept)


def sign(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
