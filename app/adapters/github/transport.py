"""What lies between githubkit and the network: bounds in time and size, and the ETag cache.

hishel 1.x rebuilds each request and thereby loses httpx's time-out, so that a silent GitHub would
hold a worker for ever. `BoundedTransport` stands below hishel and sets it anew.
"""

import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Lock
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpx
from githubkit.cache import AsyncBaseCache, BaseCacheStrategy
from githubkit.exception import CacheUnsupportedError
from hishel import AsyncBaseStorage, Entry, EntryMeta, Request, Response, SyncBaseStorage

from app.adapters.github.tokens import Memory

# A hundred pull requests with the longest bodies are about 30 MB.
MAX_ANSWER = 48 * 1024 * 1024


class _Remaining(dict[str, Any]):
    """httpcore asks for a time-out at each phase of a request; each gets what is left of the whole.

    It is a dict because httpx's `extensions` carry one.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._deadline = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left; negative once the time is up."""
        return self._deadline - time.monotonic()

    def get(self, key: str, default: Any = None) -> float:  # noqa: ARG002 - dict's own signature
        """Seconds left for the phase, never 0 (which would mean non-blocking)."""
        return max(self.left(), 0.001)


class _BoundedStream(httpx.SyncByteStream):
    """A body that may neither trickle for ever nor fill the memory."""

    def __init__(self, stream: httpx.SyncByteStream, remaining: _Remaining) -> None:
        self._stream = stream
        self._remaining = remaining

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._stream:
            size += len(chunk)
            if size > MAX_ANSWER:
                raise httpx.ReadError(f"the answer is larger than {MAX_ANSWER} bytes")
            if self._remaining.left() < 0:
                raise httpx.ReadTimeout("the answer took too long")
            yield chunk

    def close(self) -> None:
        self._stream.close()


class BoundedTransport(httpx.BaseTransport):
    """One pool of connections to GitHub, shared by all clients of a process.

    `timeout` is seconds for a whole request. Proxies of the environment are used as everywhere.
    """

    def __init__(self, base_url: str, timeout: float) -> None:
        url = httpx.URL(base_url)
        proxies = {} if proxy_bypass(url.host) else getproxies()
        self._inner = httpx.HTTPTransport(
            # No certificates are read for plain HTTP (tests, a stand-in): they take 30 ms.
            verify=url.scheme != "http",
            proxy=proxies.get(url.scheme) or proxies.get("all"),
        )
        self._timeout = timeout

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        remaining = _Remaining(self._timeout)
        request.extensions = {**request.extensions, "timeout": remaining}
        response = self._inner.handle_request(request)
        if isinstance(response.stream, httpx.SyncByteStream):
            response.stream = _BoundedStream(response.stream, remaining)
        return response

    def close(self) -> None:
        """Nothing: a client that goes must not take the others' connections with it."""

    def shutdown(self) -> None:
        """Close all connections."""
        self._inner.close()


class EtagStorage(SyncBaseStorage):
    """The newest answer with an ETag for each URL, bounded; the least recently used goes first.

    Only whole answers (200) are kept, so that an error is never revalidated into a fact. It stays
    in the process: answers hold private repositories' text and the request its token.
    """

    def __init__(self, *, max_entries: int = 128, max_bytes: int = 4 * 1024 * 1024) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._entries: OrderedDict[str, tuple[Entry, bytes]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def create_entry(
        self, request: Request, response: Response, key: str, id_: uuid.UUID | None = None
    ) -> Entry:
        body = response.read()
        entry = Entry(
            id=id_ or uuid.uuid4(),
            request=replace(request, stream=iter(())),
            response=replace(response, stream=iter([body])),
            meta=EntryMeta(),
            cache_key=key.encode(),
        )
        worth_it = response.status_code == 200 and "etag" in response.headers
        with self._lock:
            self._drop(key)
            if worth_it and len(body) <= self._max_bytes // 4:
                self._entries[key] = (entry, body)
                self._size += len(body)
            while self._size > self._max_bytes or len(self._entries) > self._max_entries:
                self._drop(next(iter(self._entries)))
        return replace(entry, response=_fresh(response, body))

    def get_entries(self, key: str) -> list[Entry]:
        with self._lock:
            if key not in self._entries:
                return []
            self._entries.move_to_end(key)
            entry, body = self._entries[key]
        return [replace(entry, response=_fresh(entry.response, body))]

    def update_entry(
        self, id: uuid.UUID, new_entry: Entry | Callable[[Entry], Entry]
    ) -> Entry | None:
        with self._lock:
            for key, (entry, body) in self._entries.items():
                if entry.id == id:
                    changed = new_entry if isinstance(new_entry, Entry) else new_entry(entry)
                    self._entries[key] = (changed, body)
                    return changed
        return None

    def remove_entry(self, id: uuid.UUID) -> None:
        with self._lock:
            for key in [k for k, (entry, _) in self._entries.items() if entry.id == id]:
                self._drop(key)

    def _drop(self, key: str) -> None:
        if key in self._entries:
            self._size -= len(self._entries.pop(key)[1])


def _fresh(response: Response, body: bytes) -> Response:
    """The same answer with a body that nobody has read yet."""
    return Response(response.status_code, response.headers, iter([body]), dict(response.metadata))


class Caches(BaseCacheStrategy):
    """githubkit's two caches of one client: ETags, and the App's own JWT for its few minutes."""

    def __init__(self) -> None:
        self._memory = Memory()
        self._etags = EtagStorage()

    def get_cache_storage(self) -> Memory:
        return self._memory

    async def get_async_cache_storage(self) -> AsyncBaseCache:
        raise CacheUnsupportedError("Pulsegate is synchronous")

    def get_hishel_storage(self) -> EtagStorage:
        return self._etags

    async def get_async_hishel_storage(self) -> AsyncBaseStorage:
        raise CacheUnsupportedError("Pulsegate is synchronous")

    def drop_jwt(self) -> None:
        """Forget the App's JWT: GitHub refused it."""
        self._memory = Memory()
