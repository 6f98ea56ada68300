"""The whole product as a stranger starts it (`pulsegate up`), and ways to hurt it."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Self

import httpx
import psutil
import redis
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from app.adapters.embedded import EmbeddedServers

_STARTED = 1.5  # seconds
ROOT = Path(__file__).resolve().parents[2]
# What is killed, by what stands in its command line; "a … process" is one of a worker's pool.
VICTIMS = (
    "web",
    "triage worker",
    "PostgreSQL",
    "a triage process",
    "perform worker",
    "Valkey",
    "beat",
    "a perform process",
)
_MARKS = {
    "web": "app.cli web",
    "beat": "app.cli beat",
    "triage worker": "--queues triage,sweep",
    "perform worker": "--queues perform",
    "PostgreSQL": "bin/postgres -D",
    "Valkey": "valkey-server",
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Product:
    """`pulsegate up` with its own PostgreSQL and Valkey; `log` is all that it printed."""

    def __init__(self, folder: Path, port: int, env: dict[str, str]) -> None:
        self.log: list[str] = []
        self.url = f"http://127.0.0.1:{port}"
        self._servers = EmbeddedServers(folder / "state")
        self.engine = create_engine(self._servers.database_url, poolclass=NullPool)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app.cli", "up"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={
                **os.environ,
                "STATE_DIR": str(folder / "state"),
                "PORT": str(port),
                "PYTHONUNBUFFERED": "1",
                **env,
            },
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            self.log.extend(line.rstrip() for line in lines)

    def ready(self) -> bool:
        assert self._process.poll() is None, "it ended:\n" + "\n".join(self.log[-30:])
        try:
            return httpx.get(f"{self.url}/readyz", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False

    def rows(self, sql: str) -> list[dict[str, Any]] | None:
        """What a query finds; None while PostgreSQL is down."""
        try:
            with self.engine.connect() as connection:
                return [dict(row) for row in connection.execute(text(sql)).mappings()]
        except DBAPIError:
            return None

    def kill(self, victim: str) -> bool:
        """SIGKILL; False where the victim is not there just now, or only just starts."""
        pooled = victim.startswith("a ")
        mark = _MARKS[victim.removeprefix("a ").replace("process", "worker")]
        try:
            for found in self._children():
                young = time.time() - found.create_time() < _STARTED
                if mark in " ".join(found.cmdline()) and not young:
                    killed = found.children()[:1] if pooled else [found]
                    for process in killed:
                        process.send_signal(signal.SIGKILL)
                    return bool(killed)
        except psutil.Error:
            pass  # it ended by itself, or is just being replaced
        return False

    def _children(self) -> list[psutil.Process]:
        return psutil.Process(self._process.pid).children()

    def flush_broker(self) -> bool:
        """Empties Valkey; False while it is down."""
        try:
            with redis.Redis.from_url(self._servers.redis_url, socket_timeout=2) as client:
                client.flushall()
        except redis.RedisError:
            return False
        return True

    def stop(self) -> int:
        """Ctrl-C; its exit code."""
        self._process.send_signal(signal.SIGINT)
        try:
            return self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
        finally:
            self._reader.join(5)
            self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.stop()


def patiently(kill: Any, seconds: float = 20) -> float:
    """Until it could be done: a process that is just being restarted cannot be killed yet."""
    begin = time.monotonic()
    while not kill():
        assert time.monotonic() - begin < seconds, "there is nothing to kill"
        time.sleep(0.05)
    return time.monotonic() - begin


def temporary_folder() -> Path:
    """One that the embedded servers' user may pass, also where the tests run as root."""
    folder = Path(tempfile.mkdtemp(prefix="pulsegate-chaos-", dir="/tmp"))
    folder.chmod(0o711)
    return folder
