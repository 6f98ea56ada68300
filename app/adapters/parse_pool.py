"""Parsing in child processes, so that no source can hang, crash or fill the process that asks."""

import json
import os
import queue
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import app

SECONDS = 4.0  # for one file; the largest of vLLM takes 0.05
_PATIENCE = 10.0  # seconds more; a child gives up by itself before
_MOST = 4  # children
_FEW = 40  # files that are not worth a further child
_STARTED = 60.0  # seconds for a child's first answer, on a machine that is busy


@dataclass(frozen=True, slots=True)
class Job:
    """A content to read. `key` is the caller's own."""

    key: str
    reader: str
    source: bytes
    digests: bool
    seconds: float = SECONDS


def parse_all(jobs: Iterable[Job], count: int, done: Callable[[str, bytes | None], None]) -> None:
    """Calls `done(key, packed)` for each job, in any order, from one thread at a time.

    `packed` is JSON; None where the file was too large or too slow, or broke its parser. `count` is about
    how many jobs there will be.
    """
    waiting: queue.Queue[Job | None] = queue.Queue(maxsize=64)
    lock = threading.Lock()
    failures: list[BaseException] = []
    children = max(1, min(_MOST, os.cpu_count() or 1, 1 + count // _FEW))
    threads = [
        threading.Thread(target=_work, args=(waiting, lock, done, failures), daemon=True)
        for _ in range(children)
    ]
    for thread in threads:
        thread.start()
    try:
        for job in jobs:
            waiting.put(job)
    finally:
        for _ in threads:
            waiting.put(None)
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


def _work(
    waiting: "queue.Queue[Job | None]",
    lock: threading.Lock,
    done: Callable[[str, bytes | None], None],
    failures: list[BaseException],
) -> None:
    """Give jobs to a child of its own until there is none; after a failure only take them."""
    child = _Child()
    try:
        while (job := waiting.get()) is not None:
            packed = child.parse(job)
            with lock:
                done(job.key, packed)
    except BaseException as error:  # noqa: BLE001 - told to the thread that asked
        failures.append(error)
        while waiting.get() is not None:
            pass
    finally:
        child.stop()


class _Child:
    """One process, begun anew after it died or did not answer in time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._fresh = True

    def parse(self, job: Job) -> bytes | None:
        """Packed facts as JSON, or None."""
        process = self._process or self._start()
        stdin, stdout = process.stdin, process.stdout
        if stdin is None or stdout is None:
            raise ValueError("both are pipes")
        head = {
            "reader": job.reader,
            "size": len(job.source),
            "digests": job.digests,
            "seconds": job.seconds,
        }
        try:
            stdin.write(json.dumps(head).encode() + b"\n" + job.source)
            stdin.flush()
            line = _line(stdout, job.seconds + (_STARTED if self._fresh else _PATIENCE))
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            self.stop()
            return None
        self._fresh = False
        return None if line == b"null\n" else line

    def stop(self) -> None:
        """End it, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> "subprocess.Popen[bytes]":
        """Without the working directory on its path: a tree may bring an `ast.py` of its own."""
        self._fresh = True
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "app.adapters.parse_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={
                "PATH": os.environ.get("PATH", ""),
                "PYTHONPATH": str(Path(app.__file__).parent.parent),
            },
        )
        return self._process


def _line(stdout: IO[bytes], seconds: float) -> bytes:
    """An answer up to its line end; what there is of it if time runs out or the child dies."""
    end = time.monotonic() + seconds
    parts: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        while not (parts and parts[-1].endswith(b"\n")):
            if not selector.select(max(0.0, end - time.monotonic())):
                break
            part = os.read(stdout.fileno(), 1 << 20)
            if not part:
                break
            parts.append(part)
    return b"".join(parts)
