"""What the benches share: servers, processes, deliveries, and the table that they print.

Every bench runs on real parts in a temporary folder of its own and needs nothing but `.venv`.
"""

import json
import os
import platform
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.adapters.child import spawn, stop  # noqa: E402
from app.adapters.embedded import EmbeddedServers  # noqa: E402
from app.db.migrate import upgrade  # noqa: E402
from app.settings import Settings  # noqa: E402
from app.wiring.up import children  # noqa: E402
from tests.fakes.github import GitHub  # noqa: E402

SECRET = "the-webhook-secret-of-the-bench"
KEY = "a-key-for-the-bench-and-for-nothing-else"


# The table


@dataclass(frozen=True)
class Line:
    """One figure. `budget` is the most that it may be; None where it is only told."""

    what: str
    measured: float
    unit: str
    budget: float | None = None


def table(lines: Sequence[Line]) -> None:
    """Print the figures, each with its share of the budget."""
    for line in lines:
        figure = f"{line.measured:,.2f}" if line.measured % 1 else f"{line.measured:,.0f}"
        verdict = ""
        if line.budget is not None:
            ratio = line.measured / line.budget if line.budget else line.measured + 1
            verdict = f"of {line.budget:g}: {ratio:.2f}" + ("" if ratio <= 1 else "  MISSED")
            if not line.budget:
                verdict = "of 0: kept" if line.measured == 0 else "of 0: MISSED"
        print(f"  {line.what:<58} {figure:>9} {line.unit:<9} {verdict}".rstrip())


def begin(title: str) -> None:
    """Print what is measured, and on what."""
    load = os.getloadavg()[0]
    cores = os.cpu_count() or 1
    busy = "; others use the machine, so take it as indicative" if load > cores / 2 else ""
    print(f"{title}\n  {cores} cores, Python {platform.python_version()}, load {load:.1f}{busy}")


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of all (0 to 1) do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def wait_for(condition: Callable[[], Any], what: str, seconds: float = 60) -> None:
    """Until the condition is true; ends the bench where it does not become so."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.05)


# Servers and processes


@contextmanager
def servers() -> Iterator[EmbeddedServers]:
    """PostgreSQL and Valkey as `pulsegate up` has them (every commit on disk), migrated."""
    # Every user may pass it, since PostgreSQL runs as another one where we are root.
    folder = Path(tempfile.mkdtemp(prefix="pulsegate-bench-", dir="/tmp"))
    folder.chmod(0o711)
    running = EmbeddedServers(folder / "state")
    try:
        running.start()
        upgrade(running.database_url)
        yield running
    finally:
        running.stop()
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def service(
    running: EmbeddedServers, names: Sequence[str], more: Mapping[str, str] | None = None
) -> Iterator[str]:
    """The named processes of `pulsegate up` on these servers; answers the address of `web`."""
    port = free_port()
    env = {
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        "DATABASE_URL": running.database_url,
        "REDIS_URL": running.redis_url,
        "SECRET_KEY": KEY,
        "GITHUB_WEBHOOK_SECRET": SECRET,
        "PORT": str(port),
        "STATE_DIR": str(running.folder.path),
        "LOG_LEVEL": "warning",
        **(more or {}),
    }
    log = running.folder.path / "service.log"
    chosen = [c for c in children(Settings(_env_file=None)) if c.name in names]
    with ExitStack() as stack:
        out = stack.enter_context(log.open("wb"))
        for child in chosen:
            process = spawn(child.argv, env=env, cwd=ROOT, stdout=out)
            stack.callback(stop, process, 15, child.stop_seconds)
        address = f"http://127.0.0.1:{port}"
        wait_for(lambda: _answers(address), f"the service answers; see its words:\n{_tail(log)}")
        yield address
    complaints = _tail(log)
    if complaints:
        print(f"  the service said:\n{complaints}")


def cpu_seconds(word: str) -> float:
    """What the children of this bench with that word among their arguments have computed."""
    mine = psutil.Process().children(recursive=True)
    times = [child.cpu_times() for child in mine if word in child.cmdline()]
    return sum(t.user + t.system for t in times)


def _answers(address: str) -> bool:
    try:
        with urlopen(f"{address}/readyz", timeout=2) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def _tail(log: Path) -> str:
    said = log.read_text(errors="replace").splitlines()
    lines = [line for line in said if line.strip() and "Warm shutdown" not in line]
    return "\n".join(f"    {line[:300]}" for line in lines[-12:])


# Deliveries

_WORDS = (  # noqa: SIM905 - easier to read than a list
    "add remove fix handle support improve refactor update the a an of for with when without in on "
    "module parser cache request response header token value error check test case path file user "
    "config option default timeout retry limit queue worker index query table column row schema "
    "kernel tensor shape stride batch buffer device stream thread lock race leak memory page node "
    "because before after instead only never always also still now already again should must may "
    "this that it which whose there here where then than both each every some none other another"
).split()


def prose(random: Random, words: int) -> str:
    """Words without sense, in lines; about as hard to pack as what people write."""
    return " ".join(
        random.choice(_WORDS) + random.choice(("", "", "", "", "", ",", ".\n", "s", f"_{n}"))
        for n in range(words)
    )


class Flood:
    """Makes `pull_request` deliveries of GitHub's own shape, without sending them."""

    def __init__(self, github: GitHub, *, seed: int = 1) -> None:
        self.github = github
        self.random = Random(seed)
        # As GitHub writes it, since what a delivery takes once packed depends on it.
        github.world.shapes.api = "https://api.github.com"
        github.world.shapes.web = "https://github.com"
        github.world.hooks.stop()

    def accounts(self, count: int, prefix: str = "account") -> list[str]:
        """So many new accounts; their logins."""
        names = [f"{prefix}-{n}" for n in range(count)]
        for name in names:
            self.github.world.add_user(name)
        return names

    def opened(self, by: str, *, words: int = 150, repo: str | None = None) -> Any:
        """The delivery of a new pull request."""
        self.github.world.open_pull(
            by=by,
            title=prose(self.random, 7).replace("\n", " ")[:120],
            body=prose(self.random, words),
            repo=repo,
        )
        return self.since(-1)[0]

    def since(self, count: int) -> list[Any]:
        """The deliveries that arose after so many (-1: the last), without superfluous spaces."""
        found = self.github.world.hooks.deliveries[count:]
        for delivery in found:
            delivery.body = json.dumps(delivery.payload, separators=(",", ":")).encode()
        return found
