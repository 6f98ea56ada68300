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
from urllib.parse import quote

from app.adapters.child import spawn, stop
from app.adapters.embedded_process import Server, clear_stale, log_file, postgres_refusal
from app.adapters.state_folder import StateFolder
from app.core.errors import UserError

_USER = "pulsegate"
_PORT = 5432  # only a part of the socket's name; said everywhere, since PGPORT would change it
_SOCKET = f".s.PGSQL.{_PORT}"
_START_SECONDS = 60.0
_RECOVERY_SECONDS = 600.0
# A start is silent for so long, and says that it goes on so often.
_SAY_SECONDS = 5.0
_SAY_AGAIN_SECONDS = 60.0
# So often a server may end by itself, and so long PostgreSQL may refuse us, before it is given up.
_ENDS = 3
_REFUSES_SECONDS = 2.0
_ANEW = "restore a backup of the folder {}, or move it away to start with nothing"


class FolderInUse(UserError):
    """Another process runs its servers from this state folder."""


class EmbeddedServers:
    """Both servers of one state folder. Not thread-safe; `start` and `poll` in the main thread.

    `postgres` and `valkey` say which of them are wanted. `durable=False` is for tests: a power cut
    may then damage the data (a killed process may not). `say` gets a line when a start takes long.
    """

    def __init__(
        self,
        state_dir: Path,
        *,
        postgres: bool = True,
        valkey: bool = True,
        durable: bool = True,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._say = say
        self.folder = StateFolder(state_dir)
        self._durable = durable
        logs = self.folder.logs
        self._postgres = Server("PostgreSQL", logs / "postgresql.log", self._start_postgres)
        self._valkey = Server("Valkey", logs / "valkey.log", self._start_valkey)
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
        return all(self._refusal(server) is None for server in self._wanted)

    def _refusal(self, server: Server) -> str | None:
        """None where it answers; else the reason that it gives, empty where it gives none yet."""
        if server is self._postgres:
            return postgres_refusal(self.folder.sockets, _PORT, _USER)
        return None if self._valkey_answers() else ""

    def start(self) -> None:
        """Start both and wait until they answer. UserError if the folder does not allow it."""
        try:
            self._start_all()
        except OSError as error:
            raise UserError(
                f"the state folder {self.folder.path} is not as Pulsegate made it: "
                f"{error.filename or 'a file in it'}: {error.strerror or error}",
                hint="move away what is named, or set another STATE_DIR",
            ) from None

    def _start_all(self) -> None:
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
        """Poll until both answer. One that cannot is given up; one that recovers is waited for."""
        begin = time.monotonic()
        say_at, refused_since = begin + _SAY_SECONDS, begin
        while True:
            self.poll()
            refusals = {
                s.name: (s, said) for s in self._wanted if (said := self._refusal(s)) is not None
            }
            if not refusals:
                return
            now = time.monotonic()
            if not any(said for _, said in refusals.values()):
                refused_since = now
            for server, said in refusals.values():
                if said and now - refused_since > _REFUSES_SECONDS:
                    raise self._given_up(server, f"refuses every connection ({said})")
                if server.ends >= _ENDS or (server.dead and now - begin > _START_SECONDS / 4):
                    raise self._given_up(server, "does not start")
                if now - begin > _RECOVERY_SECONDS:
                    raise self._given_up(server, f"did not start within {now - begin:.0f} s")
            if now >= say_at:
                say_at = now + _SAY_AGAIN_SECONDS
                for server, _ in refusals.values():
                    self._say(
                        f"{server.name} is still starting (a large database may take minutes "
                        f"after it was not stopped in order); its log is {server.log}"
                    )
            time.sleep(0.02)

    def _given_up(self, server: Server, what: str) -> UserError:
        data = self.folder.data if server is self._postgres else self.folder.valkey
        return UserError(
            f"{server.name} {what}; the end of {server.log}:\n{server.tail()}",
            hint=_ANEW.format(data),
        )

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
        clear_stale(folder.data)
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
        with log_file(log) as out:
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
        with log_file(log) as out:
            return spawn(
                [folder.valkey_server(), *words], user=folder.user, cwd=folder.valkey, stdout=out
            )

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
    state_dir: Path,
    *,
    postgres: bool = True,
    valkey: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[EmbeddedServers]:
    """The servers of a state folder: another Pulsegate's, or our own for the block."""
    servers = EmbeddedServers(state_dir, postgres=postgres, valkey=valkey, say=say)
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
