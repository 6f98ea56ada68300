"""The stand-in as a process of its own, seen from the test."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from tests.fakes.loopback import client

ROOT = Path(__file__).resolve().parents[3]


class GitHubProcess:
    """Starts it; `state()` is `GitHub.state()`, `do("open_pull", by=…)` an act of `Acts`."""

    def __init__(self, *, port: int = 0, prefix: str = "", webhook_url: str | None = None) -> None:
        command = [sys.executable, "-m", "tests.fakes.github", "--port", str(port)]
        command += ["--prefix", prefix] if prefix else []
        command += ["--webhook-url", webhook_url] if webhook_url else []
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.api_url = self.process.stdout.readline().strip()
        if not self.api_url:
            self.stop()
            raise RuntimeError("the stand-in did not start; its words are on stderr")
        self.web_url = self.api_url.removesuffix(prefix)
        self._client = client(self.web_url)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._client.request(method, path, json=body)
        if answer.status_code != 200:
            raise RuntimeError(answer.text)
        return answer.json()

    def state(self) -> dict[str, Any]:
        """Everything, as JSON."""
        state: dict[str, Any] = self._ask("GET", "/_state")
        return state

    def set_faults(self, *faults: dict[str, Any]) -> None:
        """Replace all faults; each is the fields of `Fault`."""
        self._ask("POST", "/_faults", list(faults))

    def do(self, act: str, **args: Any) -> dict[str, Any]:
        """An act of `Acts` by its name; ids come back."""
        done: dict[str, Any] = self._ask("POST", "/_do", {"act": act, "args": args})
        return done

    def stop(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.wait(10)
        if self.process.stdout is not None:
            self.process.stdout.close()
        if hasattr(self, "_client"):
            self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
