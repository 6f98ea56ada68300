"""Webhooks: signed, sent from a thread of their own as GitHub does, and recorded."""

import contextlib
import hashlib
import hmac
import itertools
import json
import queue
import random
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import httpx

from tests.fakes.github.model import App, Installation, Repository, node_id
from tests.fakes.github.shapes import when
from tests.fakes.loopback import client

GIVES_UP_AFTER = 10.0  # seconds; GitHub's own
# In disorder: how long deliveries gather, how many at most, and how many of them come twice.
_GATHERING, _TOGETHER, _TWICE = 0.05, 12, 0.1


@dataclass(eq=False)
class Delivery:
    """One attempt. `status_code` is None until it was made; 0 where no connection came about."""

    id: int
    guid: str
    event: str
    action: str | None
    body: bytes
    app: App
    installation_id: int | None
    repository_id: int | None
    delivered_at: datetime
    redelivery: bool = False
    status_code: int | None = None
    status: str = ""
    duration: float = 0.0

    @property
    def payload(self) -> dict[str, Any]:
        """The body, parsed."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed

    def headers(self, secret: str | None = None) -> dict[str, str]:
        """What GitHub sends with it, the signature included."""
        secret = self.app.webhook_secret if secret is None else secret
        headers = {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/044aadd",
            "X-GitHub-Delivery": self.guid,
            "X-GitHub-Event": self.event,
            "X-GitHub-Hook-ID": str(self.app.id * 10),
            "X-GitHub-Hook-Installation-Target-ID": str(self.app.id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
        }
        if secret:
            for name, kind in (("X-Hub-Signature-256", "sha256"), ("X-Hub-Signature", "sha1")):
                digest = hmac.new(secret.encode(), self.body, kind).hexdigest()
                headers[name] = f"{kind}={digest}"
        return headers

    def item(self) -> dict[str, Any]:
        """`hook-delivery-item`."""
        return {
            "id": self.id,
            "guid": self.guid,
            "delivered_at": when(self.delivered_at),
            "redelivery": self.redelivery,
            "duration": round(self.duration, 2),
            "status": self.status,
            "status_code": self.status_code,
            "event": self.event,
            "action": self.action,
            "installation_id": self.installation_id,
            "repository_id": self.repository_id,
            "throttled_at": None,
        }


class Hooks:
    """All deliveries, in the order in which they arose (`deliveries`), and the thread that sends."""

    def __init__(self) -> None:
        self.deliveries: list[Delivery] = []
        self._ids = itertools.count(70_000_000_000)
        self._held: list[Delivery] | None = None
        self._disorder: random.Random | None = None
        self._queue: queue.Queue[Delivery | None] = queue.Queue()
        self._client = client(timeout=GIVES_UP_AFTER)
        self._thread = threading.Thread(target=self._run, name="github-hooks", daemon=True)
        self._thread.start()

    def emit(
        self,
        event: str,
        payload: dict[str, Any],
        *,
        app: App,
        at: datetime,
        installation: Installation | None = None,
        repository: Repository | None = None,
    ) -> Delivery:
        """Record a delivery and have it sent, unless deliveries are held."""
        if installation is not None and "installation" not in payload:
            payload = payload | {
                "installation": {
                    "id": installation.id,
                    "node_id": node_id("MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u", installation.id),
                }
            }
        delivery = Delivery(
            id=next(self._ids),
            guid=str(uuid.uuid4()),
            event=event,
            action=payload.get("action"),
            body=json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass"),
            app=app,
            installation_id=installation.id if installation else None,
            repository_id=repository.id if repository else None,
            delivered_at=at,
        )
        self.deliveries.append(delivery)
        if self._held is None:
            self._queue.put(delivery)
        else:
            self._held.append(delivery)
        return delivery

    @contextmanager
    def held(self) -> Iterator[list[Delivery]]:
        """Inside, nothing is sent: the list fills with what would have been. Then `deliver` it."""
        held: list[Delivery] = []
        self._held = held
        try:
            yield held
        finally:
            self._held = None

    def disorder(self, seed: int | None) -> None:
        """From now on, what waits is sent in an order of chance, one in ten twice; None ends it."""
        self._disorder = None if seed is None else random.Random(seed)

    def redeliver(self, delivery: Delivery, at: datetime) -> Delivery:
        """A new attempt with the same GUID."""
        again = replace(
            delivery,
            id=next(self._ids),
            redelivery=True,
            status_code=None,
            status="",
            delivered_at=at,
        )
        self.deliveries.append(again)
        self._queue.put(again)
        return again

    def deliver(self, delivery: Delivery) -> Delivery:
        """Send now, in the caller's thread; may be called again for a duplicate."""
        url = delivery.app.webhook_url
        if url is None:
            return delivery
        start = time.monotonic()
        try:
            answer = self._client.post(url, content=delivery.body, headers=delivery.headers())
        except httpx.TimeoutException:
            code, status = 0, "timed out"
        except httpx.HTTPError:
            code, status = 0, "failed to connect to host"
        else:
            code = answer.status_code
            status = "OK" if answer.is_success else f"Invalid HTTP Response: {code}"
        delivery.duration = time.monotonic() - start
        delivery.status, delivery.status_code = status, code
        return delivery

    def attempted(self) -> list[Delivery]:
        """What `/app/hook/deliveries` lists: newest first, only what was tried."""
        return [d for d in reversed(self.deliveries) if d.status_code is not None]

    def drain(self, timeout: float = 15.0) -> None:
        """Wait until everything was sent."""
        end = time.monotonic() + timeout
        with self._queue.all_tasks_done:
            while self._queue.unfinished_tasks:
                left = end - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"{self._queue.unfinished_tasks} webhooks were not sent")
                self._queue.all_tasks_done.wait(left)

    def _run(self) -> None:
        going = True
        while going:
            batch = self._batch()
            going = None not in batch
            for delivery in self._order([d for d in batch if d is not None]):
                self.deliver(delivery)
            for _ in batch:
                self._queue.task_done()

    def _batch(self) -> list[Delivery | None]:
        """What is sent next: one delivery, or in disorder some that follow each other."""
        batch = [self._queue.get()]
        if self._disorder is not None and batch != [None]:
            time.sleep(_GATHERING)
            with contextlib.suppress(queue.Empty):
                while len(batch) < _TOGETHER and None not in batch:
                    batch.append(self._queue.get_nowait())
        return batch

    def _order(self, batch: list[Delivery]) -> list[Delivery]:
        chance = self._disorder
        if chance is None:
            return batch
        twice = [d for d in batch if chance.random() < _TWICE]
        return chance.sample(batch + twice, len(batch) + len(twice))

    def stop(self) -> None:
        """Stop sending; what is queued is dropped."""
        while not self._queue.empty():
            self._queue.get_nowait()
            self._queue.task_done()
        self._queue.put(None)
        self._thread.join(GIVES_UP_AFTER + 1)
        self._client.close()


def signature(secret: str, body: bytes) -> str:
    """`X-Hub-Signature-256` of a body."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
