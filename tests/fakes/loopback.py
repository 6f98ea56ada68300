"""A small HTTP server on 127.0.0.1 for tests: threads that end, connections that can be cut."""

import socket
import ssl
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeVar

import httpx

T = TypeVar("T")
# Reading the machine's certificates takes 17 ms a client, and loopback has no TLS.
_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def client(base_url: str = "", token: str = "", timeout: float = 30.0) -> httpx.Client:
    """A plain HTTP client for loopback, whatever proxies the machine has."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(
        base_url=base_url,
        headers=headers,
        timeout=timeout,
        trust_env=False,
        verify=_NO_CERTIFICATES,
    )


class LoopbackServer(ThreadingHTTPServer):
    """Serves from a thread; `stop` ends that thread and every connection's."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, handler: type["Exchange"], port: int = 0) -> None:
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        self.failures: list[str] = []
        super().__init__(("127.0.0.1", port), handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection."""
        with self._guard:
            self._open.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._guard:
                self._open.discard(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is nobody's fault; all else is kept in `failures`."""
        del request, client_address
        if not isinstance(sys.exc_info()[1], OSError):
            self.failures.append(traceback.format_exc())

    def stop(self) -> None:
        """Close everything."""
        self.shutdown()
        self.server_close()
        with self._guard:
            for connection in self._open:
                cut(connection)
        self._thread.join(5)


def cut(connection: socket.socket) -> None:
    """Close a connection under the other side's hands."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


class Exchange(BaseHTTPRequestHandler):
    """One request and its answer: implement `serve`, which calls `reply` or `hang_up`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, format: str, *args: object) -> None:
        """Not to the terminal."""

    def serve(self, raw: bytes) -> None:
        """Answer `self.command` on `self.path`."""
        raise NotImplementedError

    def _serve(self) -> None:
        self.serve(self.rfile.read(int(self.headers.get("content-length") or 0)))

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve  # noqa: N815 - the library's names

    def reply(
        self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        """Send the answer at once."""
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        if status not in {204, 304}:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status not in {204, 304}:
            self.wfile.write(body)
        self.wfile.flush()

    def hang_up(self) -> None:
        """Close the connection without an answer."""
        self.close_connection = True
        cut(self.connection)


@dataclass(frozen=True)
class Received:
    """What a `Listener` got."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class _Ear(Exchange):
    server: "Listener"

    def serve(self, raw: bytes) -> None:
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.server.received.append(Received(self.path, headers, raw))
        self.reply(self.server.status)


class Listener(LoopbackServer):
    """Takes webhooks: keeps them in `received` and answers `status`."""

    def __init__(self, status: int = 202) -> None:
        self.received: list[Received] = []
        self.status = status
        super().__init__(_Ear)
        self.start()

    def wait_for(
        self, wanted: Callable[[Received], bool] = lambda _: True, timeout: float = 10.0
    ) -> Received:
        """The first webhook that is wanted, as soon as it is there."""
        return wait_until(lambda: next(filter(wanted, list(self.received)), None), timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def wait_until(condition: Callable[[], T | None], timeout: float = 10.0) -> T:
    """The condition's value as soon as it has one; TimeoutError after `timeout` seconds."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError("the condition did not come true")
        time.sleep(0.01)
