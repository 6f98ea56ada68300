"""The HTTP side: connections, limits' headers, ETags, faults, the log and the judging."""

import hashlib
import json
import time
import traceback
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.fakes.github.acts import Acts
from tests.fakes.github.faults import Fault, Faults
from tests.fakes.github.routes import Answer, Call, Refusal, dispatch
from tests.fakes.loopback import Exchange, LoopbackServer
from tests.fakes.openapi import Description

PAGES = ("/login/", "/settings/", "/organizations/")
# GraphQL is judged by its own schema.
NOT_REST = (*PAGES, "/graphql")
LIMIT = 5000


@dataclass(frozen=True)
class Request:
    """One line of the log. `status` is None where the connection was closed without an answer."""

    method: str
    path: str
    query: str
    body: Any
    status: int | None
    at: float


class Github(Protocol):
    """What the server needs of the stand-in."""

    world: Acts
    faults: Faults
    requests: list[Request]
    violations: list[str]
    description: Description | None
    prefix: str

    def control(self, method: str, path: str, body: Any) -> Any:
        """Answer `/_…`."""


class Server(LoopbackServer):
    """The stand-in's door."""

    def __init__(self, github: Github, port: int) -> None:
        self.github = github
        self.used = 0
        super().__init__(Handler, port)


class Handler(Exchange):
    """One request."""

    server: Server

    def serve(self, raw: bytes) -> None:
        """Answer, or fail as a fault says."""
        github = self.server.github
        split = urlsplit(self.path)
        if split.path.startswith("/_"):
            self._control(split.path, raw)
            return
        path = split.path
        if github.prefix and not path.startswith(PAGES):
            path = path.removeprefix(github.prefix)
        if path in {"/graphql", "/api/graphql"}:
            path = "/graphql"  # beside the REST API, not under its prefix
        fault = github.faults.take(self.command, path, raw.decode("utf-8", "replace"))
        answer = self._strike(fault, path, split.query, raw)
        status = answer.status if answer else None
        self._log(path, split.query, raw, status)
        if answer is None:
            self.hang_up()
        else:
            self._send(answer)

    def _strike(self, fault: Fault | None, path: str, query: str, raw: bytes) -> Answer | None:
        """The answer, with the fault's doing; None where the connection is to be closed."""
        kind = fault.kind if fault else None
        if fault is not None:
            if kind == "delay":
                time.sleep(fault.seconds)
            elif kind in {"status", "primary_limit", "secondary_limit"}:
                return fault.answer(int(time.time()))
            elif kind == "drop_before":
                return None
        answer = self._carry_out(path, query, raw)
        if fault is not None and kind == "status_after":
            return fault.answer(int(time.time()))
        return None if kind == "drop_after" else answer

    def _carry_out(self, path: str, query: str, raw: bytes) -> Answer:
        github = self.server.github
        pairs = dict(parse_qsl(query, keep_blank_values=True))
        headers = {key.lower(): value for key, value in self.headers.items()}
        judge = github.description if not path.startswith(NOT_REST) else None
        call = Call(github.world, self.command, path, {}, pairs, headers, raw)
        if judge is not None and not path.startswith("/repositories/"):
            wrong = list(judge.request(self.command, path, pairs, raw))
            if wrong:
                github.violations.extend(wrong)
                errors = [{"message": problem} for problem in wrong]
                return Refusal(422, "Invalid request.", errors=errors).answer
        try:
            answer = dispatch(github.world, call)
        except Exception:  # noqa: BLE001 - a fault of the stand-in must be seen in the test
            github.violations.append(f"the stand-in failed at {path}: {traceback.format_exc()}")
            return Answer(500, b"")
        answer = self._finish(answer)
        if judge is not None:
            body = answer.body or b""
            github.violations.extend(
                judge.answer(self.command, call.path, answer.status, answer.media, body)
            )
        return answer

    def _finish(self, answer: Answer) -> Answer:
        """As bytes; unchanged reads become 304."""
        if not isinstance(answer.body, bytes):
            text = json.dumps(answer.body, ensure_ascii=False)
            answer.body = text.encode("utf-8", "surrogatepass")
        if self.command == "GET" and answer.status == HTTPStatus.OK:
            etag = f'W/"{hashlib.sha256(answer.body).hexdigest()}"'
            answer.headers["ETag"] = etag
            answer.headers["Cache-Control"] = "private, max-age=60, s-maxage=60"
            asked = self.headers.get("If-None-Match", "")
            if etag.removeprefix("W/") in asked:
                return Answer(304, b"", answer.headers)
        return answer

    def _send(self, answer: Answer) -> None:
        if not isinstance(answer.body, bytes):
            answer.body = json.dumps(answer.body).encode()
        if answer.status != HTTPStatus.NOT_MODIFIED:
            self.server.used += 1
        headers = {
            "Content-Type": answer.media,
            "X-GitHub-Media-Type": "github.v3; format=json",
            "X-GitHub-Request-Id": f"C0FF:EE:{self.server.used:X}",
            "X-RateLimit-Limit": str(LIMIT),
            "X-RateLimit-Remaining": str(max(1, LIMIT - self.server.used)),
            "X-RateLimit-Used": str(self.server.used),
            "X-RateLimit-Reset": str(int(time.time()) + 3600),
            "X-RateLimit-Resource": "core",
            **answer.headers,
        }
        self.reply(answer.status, answer.body, headers)

    def _log(self, path: str, query: str, raw: bytes, status: int | None) -> None:
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = raw.decode("utf-8", "replace")
        entry = Request(self.command, unquote(path), query, body, status, time.time())
        self.server.github.requests.append(entry)

    def _control(self, path: str, raw: bytes) -> None:
        try:
            body = self.server.github.control(self.command, path, json.loads(raw or b"{}"))
        except Exception as error:  # noqa: BLE001 - told to the test in the other process
            self._send(Answer(400, {"error": f"{type(error).__name__}: {error}"}))
        else:
            self._send(Answer(200, body))
