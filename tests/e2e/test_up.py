"""`pulsegate up` as a stranger starts it: an empty folder, no configuration, Ctrl-C."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil

from tests.e2e.service import environment, free_port, pulsegate


class Up:
    """The command, running; `lines` are what it said so far."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.url = f"http://127.0.0.1:{port}"
        self.lines: list[str] = []
        self.started = time.monotonic()

    def read_until(self, words: str) -> str:
        """Until it says these words, or its end, which fails."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if words in line:
                return line
        raise AssertionError("it ended:\n" + "\n".join(self.lines))

    def get(self, path: str) -> str:
        answer = httpx.get(self.url + path, trust_env=False)
        assert answer.status_code == 200, answer.text
        return answer.text

    def ctrl_c(self) -> str:
        """As the terminal does: to everything in the foreground at once."""
        os.killpg(self.process.pid, signal.SIGINT)
        rest = self.process.communicate(timeout=40)[0]
        self.lines += rest.splitlines()
        return rest


@contextmanager
def up(folder: Path) -> Iterator[Up]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "up"],
        cwd=folder,
        env=environment(folder, PORT=str(port)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield Up(process, port)
    finally:
        process.kill()
        process.communicate()


def _family(folder: Path, up: Up) -> list[psutil.Process]:
    """Everything that the command started, and everything that works in its state folder."""
    found = {p.pid: p for p in psutil.Process(up.process.pid).children(recursive=True)}
    found |= {p.pid: p for p in _in(folder)}
    return list(found.values())


def _in(folder: Path) -> list[psutil.Process]:
    """Living processes that name the folder in their command line or environment."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            words = [*process.cmdline(), process.environ().get("STATE_DIR", "")]
            if process.pid != os.getpid() and any(str(folder) in word for word in words):
                found.append(process)
    return found


def test_a_first_start_shows_the_recorded_day_and_a_second_one_finds_it(folder: Path) -> None:
    with up(folder) as first:
        first.read_until(f"Pulsegate is at {first.url}")
        link = first.read_until("/setup?token=")
        assert "No GitHub App is configured" in first.lines[-2]
        first.read_until("deliveries were replayed")
        first.read_until(f"The decisions and their reasons: {first.url}/")
        assert time.monotonic() - first.started < 60

        page = first.get("/")
        assert "Recorded day" in page
        assert "<b>43</b> pull requests" in page
        assert "43 pull requests here in quick succession" in page
        assert "would have closed" in page
        assert "fix typo" in page
        assert "northlight/lumen" in page
        token = re.search(r"http\S+", link)
        assert token
        assert "GitHub App" in first.get(token[0].removeprefix(first.url))
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            _a_port_in_use_is_named(folder, taken.getsockname()[1])

        family = _family(folder, first)
        names = " ".join(" ".join(p.cmdline()) for p in family)
        for part in ("postgres", "valkey", "web", "beat", "--queues perform", "--queues triage"):
            assert part in names
        assert first.ctrl_c().splitlines()[-1].endswith("| stopped")
        assert first.process.returncode == 0
        assert psutil.wait_procs(family, timeout=5)[1] == []
        assert _in(folder) == []
    said = "\n".join(first.lines)
    assert "Traceback" not in said
    assert "starting it again" not in said
    assert "a fault of ours" not in said

    with up(folder) as second:
        second.read_until(f"The decisions and their reasons: {second.url}/")
        assert "deliveries were replayed" not in "\n".join(second.lines)
        assert "<b>43</b> pull requests" in second.get("/")
        second.ctrl_c()
    assert _in(folder) == []


def _a_port_in_use_is_named(folder: Path, port: int) -> None:
    elsewhere = folder / "elsewhere"
    done = pulsegate(folder, "up", PORT=str(port), STATE_DIR=str(elsewhere))
    assert done.returncode == 2
    assert f"port {port} of 127.0.0.1 is in use" in done.stderr
    assert "set PORT to a free one" in done.stderr
    assert not elsewhere.exists()
