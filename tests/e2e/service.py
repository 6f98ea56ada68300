"""The service as it runs for real: its own processes, and what they said."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import httpx

ROOT = Path(__file__).resolve().parents[2]
KEY = "k" * 40


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(folder: Path, **more: str) -> dict[str, str]:
    """What a process of the service finds: nothing of whoever runs the tests but PATH and HOME."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    ours = {
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "STATE_DIR": str(folder / "state"),
        "TZ": "UTC",
    }
    return {**kept, **ours, **more}


def pulsegate(folder: Path, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    """One command from its start to its end, in a folder of its own."""
    return subprocess.run(
        [sys.executable, "-m", "app.cli", *argv],
        cwd=folder,
        env=environment(folder, **env),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


class Service:
    """Processes of the service on the test's servers. Whatever happens, all of them end."""

    def __init__(self, folder: Path, wait_for: Callable[..., None], **env: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.env = environment(
            folder,
            PORT=str(self.port),
            SECRET_KEY=KEY,
            LOG_FORMAT="json",
            SWEEP_SECONDS="0.5",
            **env,
        )
        self._wait_for = wait_for
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *argv: str) -> None:
        """One process; its output goes to a file of its name."""
        with (self.folder / f"{name}.log").open("ab") as out:
            self._running[name] = subprocess.Popen(
                [sys.executable, "-m", "app.cli", *argv],
                cwd=self.folder,
                env=self.env,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def start_all(self) -> Self:
        """Web, one worker for every queue, and the clock."""
        self.start("web", "web")
        self.start("worker", "worker")
        self.start("beat", "beat")
        self._wait_for(self._ready, f"the service is ready: {self.log()}", 30)
        return self

    def _ready(self) -> bool:
        for name, process in self._running.items():
            assert process.poll() is None, f"{name} ended: {self.log(name)}"
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/readyz", trust_env=False).is_success
        return False

    def log(self, *names: str) -> str:
        """What the processes said."""
        files = [self.folder / f"{name}.log" for name in names] or self.folder.glob("*.log")
        return "\n".join(f.read_text(errors="replace") for f in sorted(files) if f.exists())

    def faults(self) -> list[dict[str, Any]]:
        """The lines of the logs that tell of an error."""
        lines = [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("level") in {"error", "critical"}]

    def end(self, name: str) -> int:
        """One process by SIGTERM; its exit code."""
        process = self._running.pop(name)
        process.terminate()
        return process.wait(20)

    def stop(self) -> None:
        """As Ctrl-C would; whoever does not end in time is killed."""
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def running(
    folder: Path, wait_for: Callable[..., None], env: Mapping[str, str]
) -> Iterator[Service]:
    """The whole service for the block."""
    service = Service(folder, wait_for, **env)
    try:
        yield service.start_all()
    finally:
        service.stop()


def settings_of(github: Any, database_url: str, redis_url: str) -> dict[str, str]:
    """What the service needs to work for the stand-in's App."""
    app = github.world.app
    return {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "GITHUB_API_URL": github.api_url,
        "GITHUB_WEB_URL": github.web_url,
        "GITHUB_APP_ID": str(app.id),
        "GITHUB_PRIVATE_KEY": app.private_key_pem,
        "GITHUB_WEBHOOK_SECRET": app.webhook_secret or "",
        "GITHUB_CLIENT_ID": app.client_id,
        "GITHUB_CLIENT_SECRET": app.client_secret,
    }
