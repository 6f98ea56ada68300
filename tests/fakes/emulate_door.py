"""The pass-through in front of `emulate`; the facts it answers for are listed in `emulate.py`."""

import json
import re
import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from threading import RLock
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx

from tests.fakes.github.hooks import signature
from tests.fakes.github.model import ROLES
from tests.fakes.loopback import Exchange, LoopbackServer, client

Json = Any
MILLISECONDS = re.compile(rb'("\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z"')
REPO = "/repos/acme/widgets"
HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding"}
WORDS = {"push": "write", "maintain": "write", "triage": "read", "pull": "read"}


class Behind(Protocol):
    """What the pass-through needs of the emulator behind it."""

    client: httpx.Client
    webhook_url: str | None
    webhook_secret: str
    app_id: int
    installation_id: int

    def app_jwt(self) -> str:
        """A JSON web token of the App."""


class Door(LoopbackServer):
    """The pass-through. It remembers check runs by commit and the webhooks that went by."""

    def __init__(self, emulate: Behind) -> None:
        self.emulate = emulate
        self.lock = RLock()
        self.checks: dict[str, list[int]] = {}
        self.hooks: list[tuple[dict[str, Json], bytes, dict[str, str]]] = []
        super().__init__(_Pass)


class _Pass(Exchange):
    server: Door

    def serve(self, raw: bytes) -> None:
        """Add what is missing, or pass through and mend."""
        path = urlsplit(self.path).path
        if path == "/_hook":
            self._hook(raw)
            return
        try:
            self._pass(path, raw)
        except httpx.HTTPStatusError as error:
            # A read of ours was refused: so is what it was for.
            self._json(error.response.status_code, error.response.json())

    def _pass(self, path: str, raw: bytes) -> None:
        added = self._add(path)
        if added is not None:
            self._json(*added)
            return
        answer = self._ask(self.command, self.path, raw)
        body, status = answer.content, answer.status_code
        if answer.headers.get("content-type", "").startswith("application/json"):
            body = MILLISECONDS.sub(rb'\1Z"', body)
            mended = self._mend(path, status, json.loads(body))
            if mended is not None:
                status, body = mended[0], json.dumps(mended[1]).encode()
        headers = {k: v for k, v in answer.headers.items() if k.lower() not in HOP}
        self.reply(status, body, headers)

    def _json(self, status: int, body: Json) -> None:
        headers = {"Content-Type": "application/json; charset=utf-8"}
        self.reply(status, json.dumps(body).encode(), headers)

    def _ask(self, method: str, path: str, raw: bytes = b"", token: str = "") -> httpx.Response:
        headers = {k.lower(): v for k, v in self.headers.items() if k.lower() not in HOP}
        if token:
            headers["authorization"] = f"Bearer {token}"
        return self.server.emulate.client.request(method, path, content=raw, headers=headers)

    def _read(self, path: str, token: str = "") -> Json:
        answer = self._ask("GET", path, token=token)
        answer.raise_for_status()
        return json.loads(MILLISECONDS.sub(rb'\1Z"', answer.content))

    # Facts 3, 4 and 5

    def _mend(self, path: str, status: int, body: Json) -> tuple[int, Json] | None:
        """The answer with the App put in and permissions in GitHub's words; None: as it is."""
        if found := re.fullmatch(r"(/repos/[^/]+/[^/]+)/collaborators/([^/]+)/permission", path):
            return self._permission(found[1], found[2], status, body)
        if status >= 300:
            return None
        if re.search(r"/check-runs(/\d+)?$", path) and "id" in body:
            with self.server.lock:
                known = self.server.checks.setdefault(body["head_sha"], [])
                if body["id"] not in known:
                    known.append(body["id"])
            return status, body | {"app": self._app()}
        if re.search(r"/issues/(\d+/comments|comments/\d+)$", path):
            comments = body if isinstance(body, list) else [body]
            for comment in comments:
                if comment["user"] and comment["user"]["login"] == "pulsegate[bot]":
                    comment["performed_via_github_app"] = self._app()
            return status, body
        return None

    def _app(self) -> Json:
        return self._read("/app", self.server.emulate.app_jwt())

    def _permission(
        self, repository: str, login: str, status: int, body: Json
    ) -> tuple[int, Json] | None:
        if status == 200:
            return 200, body | {"permission": WORDS.get(body["permission"], body["permission"])}
        user = self._ask("GET", f"/users/{login}")
        public = self._read(repository).get("private") is False
        if status != 404 or not user.is_success or not public:
            return None
        return 200, {
            "permission": "read",
            "role_name": "read",
            "user": self._read(f"/users/{login}"),
        }

    # Facts 5 and 6

    def _add(self, path: str) -> tuple[int, Json] | None:
        """The answer of an endpoint that emulate has not; None where it has it."""
        if found := re.fullmatch(rf"{REPO}/commits/([0-9a-f]{{40}})/check-runs", path):
            ids = list(reversed(self.server.checks.get(found[1], [])))
            runs = [self._read(f"{REPO}/check-runs/{n}") | {"app": self._app()} for n in ids]
            return 200, {"total_count": len(runs), "check_runs": runs}
        if path == "/installation/repositories":
            return 200, {"total_count": 1, "repositories": [self._read(REPO)]}
        if path == "/user/installations":
            mine = self._read("/app/installations", self.server.emulate.app_jwt())
            return 200, {"total_count": len(mine), "installations": mine}
        if re.fullmatch(r"/user/installations/\d+/repositories", path):
            return self._of_user()
        if path == "/app/hook/deliveries":
            with self.server.lock:
                return 200, [item for item, _, _ in reversed(self.server.hooks)]
        if found := re.fullmatch(r"/app/hook/deliveries/(\d+)/attempts", path):
            item, raw, headers = self.server.hooks[int(found[1]) - 1]
            self._forward(item | {"redelivery": True}, raw, headers)
            return 202, {}
        return None

    def _of_user(self) -> tuple[int, Json]:
        login = self._read("/user")["login"]
        answer = self._ask("GET", f"{REPO}/collaborators/{login}/permission")
        role = answer.json()["role_name"] if answer.is_success else "none"
        names = {"pull": "read", "triage": "triage", "push": "write", "maintain": "maintain",
                 "admin": "admin"}  # fmt: skip
        rights = {k: ROLES.index(role) >= ROLES.index(v) for k, v in names.items()}
        mine = [self._read(REPO) | {"permissions": rights}] if role != "none" else []
        return 200, {"total_count": len(mine), "repositories": mine}

    # Facts 2 and 7

    def _hook(self, raw: bytes) -> None:
        payload, signed = json.loads(raw), self.headers["x-hub-signature-256"]
        if self._marked(payload):
            raw = json.dumps(payload).encode()
            signed = signature(self.server.emulate.webhook_secret, raw)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/emulate",
            "X-GitHub-Event": self.headers["x-github-event"],
            "X-GitHub-Delivery": str(uuid.uuid4()),
            "X-GitHub-Hook-ID": "1",
            "X-GitHub-Hook-Installation-Target-ID": str(self.server.emulate.app_id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-Hub-Signature-256": signed,
        }
        item = {
            "guid": headers["X-GitHub-Delivery"],
            "redelivery": False,
            "event": headers["X-GitHub-Event"],
            "action": payload.get("action"),
            "installation_id": self.server.emulate.installation_id,
            "repository_id": payload.get("repository", {}).get("id"),
        }
        self._forward(item, raw, headers)
        self.reply(200)

    def _marked(self, payload: Json) -> bool:
        """Whether the payload's issue is a pull request, which it now says."""
        issue = payload.get("issue")
        if not issue or "pull_request" in issue:
            return False
        name, number = payload["repository"]["full_name"], issue["number"]
        url = f"/repos/{name}/pulls/{number}"
        asked = self.server.emulate.client.get(url)
        if asked.is_success:
            issue["pull_request"] = {"url": asked.json()["url"], "html_url": issue["html_url"]}
        return asked.is_success

    def _forward(self, item: Mapping[str, Json], raw: bytes, headers: dict[str, str]) -> None:
        url, start = self.server.emulate.webhook_url, time.monotonic()
        if url is None:
            return
        try:
            with client(timeout=10) as sender:
                code = sender.post(url, content=raw, headers=headers).status_code
        except httpx.HTTPError:
            code = 0
        good = 200 <= code < 300
        made = {
            "delivered_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "duration": round(time.monotonic() - start, 2),
            "status": "OK" if good else f"Invalid HTTP Response: {code}",
            "status_code": code,
            "throttled_at": None,
        }
        with self.server.lock:
            entry = {**item, **made, "id": len(self.server.hooks) + 1}
            self.server.hooks.append((entry, raw, headers))
