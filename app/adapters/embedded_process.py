"""One embedded server as a process: start it again, read its log, ask whether it answers."""

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import psutil
import psycopg

_LOG_BYTES = 5_000_000
_TAIL_BYTES = 20_000
_TAIL_LINES = 8
# The server is on its way up, or down and about to be started again.
_PASSING = re.compile(r"the database system is |too many clients")
_FATAL = re.compile(r"(?:FATAL|PANIC):\s+([^\n]+)")
# Children of a killed PostgreSQL that have not left yet: the next start may succeed.
_NOT_GONE = b"still in use"


class Server:
    """One server: how to start it, whether it lives, how often it gave up by itself."""

    def __init__(
        self, name: str, log: Path, start: Callable[[Path], "subprocess.Popen[bytes]"]
    ) -> None:
        self.name = name
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None
        self.ends = 0
        self._start = start
        self._again = 0.0
        self._counted = True
        self._log_began = 0

    @property
    def dead(self) -> bool:
        """Whether no process of it lives; counts in `ends` each that ended with an error."""
        code = None if self.process is None else self.process.poll()
        if code is not None and not self._counted:
            self._counted = True
            # One that was killed, or that waits for others to leave, may succeed the next time.
            self.ends += code > 0 and _NOT_GONE not in self._said()
        return self.process is None or code is not None

    def restart_if_dead(self) -> bool:
        """Start it unless it lives, at most five times a second; never waits for it to answer."""
        if not self.dead or time.monotonic() < self._again:
            return False
        self._again = time.monotonic() + 0.2
        self._log_began = self.log.stat().st_size if self.log.exists() else 0
        self.process = self._start(self.log)
        self._counted = False
        return True

    def tail(self) -> str:
        """The end of its log, for an error message."""
        lines = self._said().decode(errors="replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-_TAIL_LINES:])

    def _said(self) -> bytes:
        """What it wrote to its log since it was started last; of much, the end."""
        try:
            with self.log.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                began = self._log_began if self._log_began <= size else 0  # a log begun anew
                file.seek(max(began, size - _TAIL_BYTES))
                return file.read()
        except OSError:
            return b""


def postgres_refusal(sockets: Path, port: int, user: str) -> str | None:
    """None where PostgreSQL answers; else why it refuses us, empty while it only starts or is gone."""
    try:
        with psycopg.connect(
            user=user, dbname="postgres", host=str(sockets), port=port, connect_timeout=5
        ) as connection:
            connection.execute("select 1")
    except psycopg.Error as error:
        if error.sqlstate:
            return str(error).partition("\n")[0]
        fatal = _FATAL.search(str(error))
        return fatal[1] if fatal and not _PASSING.search(fatal[1]) else ""
    return None


def log_file(path: Path) -> BinaryIO:
    """Opened to write on at its end; one that has become long is put aside."""
    if path.exists() and path.stat().st_size > _LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return path.open("ab")


def clear_stale(data: Path) -> None:
    """Make a `postmaster.pid` that names no living server of this folder harmless.

    We hold the state folder's lock, so that what the file names is one of: a server that is just
    leaving since its Pulsegate was killed; nobody; an unrelated process that got the number, for
    which PostgreSQL would refuse to start. The file itself stays: by it PostgreSQL knows whether
    children of the killed server still write to the data.
    """
    file = data / "postmaster.pid"
    try:
        lines = file.read_text(errors="replace").splitlines(keepends=True)
    except FileNotFoundError:
        return
    try:
        process = psutil.Process(int(lines[0]))
        ours = process.name() == "postgres" and str(data) in process.cmdline()
    except (ValueError, IndexError):
        file.unlink()  # cut short when the power went
        return
    except psutil.Error:
        return
    if ours:
        _, alive = psutil.wait_procs([process], timeout=5)
        for left in alive:
            left.kill()
        psutil.wait_procs(alive, timeout=5)
    else:
        # PostgreSQL takes its own parent's number for a left-over.
        file.write_text("".join([f"{os.getpid()}\n", *lines[1:]]))
