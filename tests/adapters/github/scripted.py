"""A GitHub that answers exactly what a test wrote down, over real HTTP on loopback."""

import json
import re
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit


@dataclass
class Reply:
    """One answer. `drop` closes the connection, `hang` never answers, `drip` never ends."""

    status: int = 200
    json: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    act: Literal["answer", "drop", "hang", "drip"] = "answer"


@dataclass(frozen=True)
class Seen:
    """One request, with its path as it came over the wire."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


class Scripted:
    """`on` says what to answer; what no rule matches is a 404 that the test sees in `seen`."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.tokens = 0
        self.stopped = threading.Event()
        self._rules: list[tuple[str, re.Pattern[str], list[Reply]]] = []
        self._guard = threading.Lock()
        handler = type("Bound", (_Handler,), {"github": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,))
        self._thread.start()
        self.on("POST", r"/app/installations/\d+/access_tokens$", self.new_token)

    def on(self, method: str, path: str, *replies: Any) -> None:
        """Answer so, one reply after the other; the last one stays. Newer rules come first."""
        self._rules.insert(0, (method, re.compile(path), list(replies)))

    def new_token(self) -> Reply:
        """Another installation token for an hour; its date has milliseconds."""
        self.tokens += 1
        expires = (datetime.now(UTC) + timedelta(hours=1)).isoformat(timespec="milliseconds")
        token = {"token": f"ghs_{self.tokens}", "expires_at": expires.replace("+00:00", "Z")}
        return Reply(201, token)

    def find(self, seen: Seen) -> Reply:
        """The reply to a request."""
        with self._guard:
            self.seen.append(seen)
            for method, path, replies in self._rules:
                if method == seen.method and path.search(seen.path):
                    reply = replies.pop(0) if len(replies) > 1 else replies[0]
                    return reply() if callable(reply) else reply
        return Reply(404, {"message": "Not Found"})

    def asked(self, method: str, path: str = "") -> list[Seen]:
        """The requests that came in, of a method and a path."""
        return [s for s in self.seen if s.method == method and re.search(path, s.path)]

    def stop(self) -> None:
        """Close everything."""
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    github: Scripted
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, format: str, *args: object) -> None:
        """Not to the terminal."""

    def _serve(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        split = urlsplit(self.path)
        form = "form" in self.headers.get("content-type", "")
        body = dict(parse_qsl(raw.decode())) if form else json.loads(raw or b"null")
        headers = {key.lower(): value for key, value in self.headers.items()}
        seen = Seen(self.command, split.path, dict(parse_qsl(split.query)), headers, body)
        self._answer(self.github.find(seen))

    do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815

    def _answer(self, reply: Reply) -> None:
        if reply.act == "hang":
            self.github.stopped.wait(20)
        if reply.act in {"hang", "drop"}:
            self.close_connection = True
            return
        body = reply.raw if reply.raw is not None else json.dumps(reply.json).encode()
        if reply.status in {204, 304}:
            body = b""
        self.send_response(reply.status)
        for key, value in reply.headers.items():
            self.send_header(key, value)
        length = 10**6 if reply.act == "drip" else len(body)
        if reply.status not in {204, 304}:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        if reply.act == "drip":
            self._drip()

    def _drip(self) -> None:
        try:
            while not self.github.stopped.wait(0.02):
                self.wfile.write(b" ")
                self.wfile.flush()
        except OSError:
            self.close_connection = True
