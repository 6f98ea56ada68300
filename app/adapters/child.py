"""Child processes that never outlive us, not even when we are killed with SIGKILL.

The kernel sends a child its death signal when the *thread* that started it ends, so start
children from the main thread or another that lives as long as they may.
"""

import contextlib
import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

# Runs between fork and the real program: a preexec_fn is not safe once there are threads, and the
# program itself may belong to a user who cannot read our Python. Arguments: the parent's pid,
# the death signal, uid, gid (-1: stay who we are), then the real argv.
_LAUNCHER = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
parent, death, uid, gid = map(int, sys.argv[1:5])
if uid >= 0:
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
if sys.platform == "linux":
    libc.prctl(1, death, 0, 0, 0)
if os.getppid() != parent:
    os._exit(0)
try:
    os.execv(sys.argv[5], sys.argv[5:])
except OSError as error:
    sys.exit(f"{sys.argv[5]}: {error.strerror}")
"""


def spawn(  # noqa: PLR0913 - what a process is made of
    argv: Sequence[str | Path],
    *,
    death_signal: signal.Signals = signal.SIGKILL,
    user: pwd.struct_passwd | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdout: int | IO[bytes] | None = None,
) -> "subprocess.Popen[bytes]":
    """Start `argv[0]` (an absolute path) in a session of its own; stderr goes where stdout goes.

    `death_signal` is what the kernel sends it when we die. `user` needs root.
    """
    uid, gid = (user.pw_uid, user.pw_gid) if user else (-1, -1)
    head = [sys.executable, "-I", "-S", "-c", _LAUNCHER]
    words = [str(n) for n in (os.getpid(), int(death_signal), uid, gid)]
    return subprocess.Popen(
        [*head, *words, *(str(a) for a in argv)],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.STDOUT if stdout is not None else None,
        env=None if env is None else dict(env),
        cwd=cwd,
        start_new_session=True,
    )


def die_with_parent(death_signal: signal.Signals = signal.SIGKILL) -> None:
    """For a process that something else forked (a worker's pool): end when that parent ends."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, int(death_signal), 0, 0, 0)


def stop(process: "subprocess.Popen[bytes]", first: signal.Signals, seconds: float) -> None:
    """Ask with `first`, wait up to `seconds`, then SIGKILL the session; it is gone then."""
    if process.poll() is None:
        process.send_signal(first)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            kill_session(process)
            process.wait()


def kill_session(process: "subprocess.Popen[bytes]") -> None:
    """SIGKILL to the process and to all that it started in its session; fine if they are gone."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
