"""Keeps a handful of child processes alive, and takes them all along when it ends."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Protocol

from app.adapters.child import kill_session, spawn

FIRST_DELAY, LONGEST_DELAY = 0.2, 10.0
PROVEN_SECONDS = 30.0  # a child that lived so long starts its delays from the first again
_TICK = 0.1

Say = Callable[[str, str], None]


@dataclass(frozen=True)
class Child:
    """What is kept alive. Lower stages are stopped first; within one, all at once.

    `stop_seconds` is how long it may take to end after SIGTERM.
    """

    name: str
    argv: Sequence[str]
    stage: int = 0
    stop_seconds: float = 10.0


class Servers(Protocol):
    """What the children need and the supervisor restarts with them."""

    def poll(self) -> list[str]:
        """Restart what died; the names of those restarted."""


@dataclass
class _Kept:
    child: Child
    process: "subprocess.Popen[bytes] | None" = None
    reader: threading.Thread | None = None
    started: float = 0.0
    delay: float = FIRST_DELAY
    due: float = field(default=0.0)


class Supervisor:
    """Starts the children, restarts those that die, and stops all of them in order.

    Use it from the main thread. `say(name, line)` gets every line that a child prints, and what
    the supervisor itself has to tell.
    """

    def __init__(
        self,
        children: Sequence[Child],
        *,
        env: Mapping[str, str],
        say: Say,
        servers: Servers | None = None,
    ) -> None:
        self._kept = [_Kept(child) for child in children]
        self._env = env
        self._say = say
        self._servers = servers

    @property
    def pids(self) -> dict[str, int]:
        """Those that live now, by name."""
        return {
            k.child.name: k.process.pid
            for k in self._kept
            if k.process and k.process.poll() is None
        }

    def run(self, wanted: Callable[[], bool]) -> None:
        """Keep everything alive for as long as `wanted()`, then stop it."""
        try:
            while wanted():
                self.tick()
                time.sleep(_TICK)
        finally:
            self.stop()

    def tick(self) -> None:
        """Look once: start what is due, note what died."""
        for name in self._servers.poll() if self._servers else ():
            self._say(name, "had ended; started again")
        now = time.monotonic()
        for kept in self._kept:
            if kept.process is not None and kept.process.poll() is not None:
                self._note_end(kept, now)
            if kept.process is None and now >= kept.due:
                self._start(kept, now)

    def _note_end(self, kept: _Kept, now: float) -> None:
        assert kept.process is not None  # noqa: S101 - the caller looked
        kill_session(kept.process)  # what a killed worker left of its pool
        if now - kept.started > PROVEN_SECONDS:
            kept.delay = FIRST_DELAY
        how = _how_it_ended(kept.process.returncode)
        self._say(kept.child.name, f"{how}; starting it again in {kept.delay:.1f} s")
        kept.process = None
        kept.due = now + kept.delay
        kept.delay = min(kept.delay * 2, LONGEST_DELAY)

    def _start(self, kept: _Kept, now: float) -> None:
        kept.process = spawn(kept.child.argv, env=self._env, stdout=subprocess.PIPE)
        kept.started = now
        kept.reader = threading.Thread(
            target=self._read, args=(kept.child.name, kept.process.stdout), daemon=True
        )
        kept.reader.start()

    def _read(self, name: str, pipe: IO[bytes]) -> None:
        with pipe:
            for line in pipe:
                if text := line.decode(errors="replace").rstrip():
                    self._say(name, text)

    def stop(self) -> None:
        """SIGTERM stage by stage, SIGKILL to what does not end in time. May be called twice."""
        for stage in sorted({k.child.stage for k in self._kept}):
            alive = [k for k in self._kept if k.child.stage == stage and k.process]
            for kept in alive:
                if kept.process and kept.process.poll() is None:
                    kept.process.send_signal(signal.SIGTERM)
            begin = time.monotonic()
            for kept in alive:
                self._see_out(kept, begin)

    def _see_out(self, kept: _Kept, begin: float) -> None:
        assert kept.process is not None  # noqa: S101 - the caller looked
        left = max(0.0, begin + kept.child.stop_seconds - time.monotonic())
        try:
            kept.process.wait(left)
        except subprocess.TimeoutExpired:
            self._say(kept.child.name, f"did not end in {kept.child.stop_seconds:.0f} s; killed")
        kill_session(kept.process)
        kept.process.wait()
        if kept.reader:
            kept.reader.join(1)
        kept.process = None

    def kill(self) -> None:
        """SIGKILL to all children and what they started, at once."""
        for kept in self._kept:
            if kept.process:
                kill_session(kept.process)


def _how_it_ended(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
