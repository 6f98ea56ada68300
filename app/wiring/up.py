"""`pulsegate up`: everything in one supervised command."""

import errno
import http.client
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from types import FrameType

import psutil

from app.adapters.embedded import EmbeddedServers
from app.core.errors import UserError
from app.settings import Settings
from app.wiring.mail import inbound_of
from app.wiring.schema import migrate
from app.wiring.servers import environment, missing
from app.wiring.supervisor import Child, Supervisor

_SLOW_SECONDS = 30.0


@dataclass(frozen=True)
class Ready:
    """What runs now: for whoever wants to do something once it does.

    `say` prints a line among the others; `stopping` turns true when everything is about to end.
    """

    address: str
    database_url: str
    redis_url: str
    say: Callable[[str], None]
    stopping: Callable[[], bool]


OnReady = Callable[[Ready], None]


def children(settings: Settings) -> list[Child]:
    """The processes of the service, in the order in which they are stopped."""
    pulsegate = (sys.executable, "-m", "app.cli")
    concurrency = ("--concurrency", str(settings.worker_concurrency))
    return [
        # The link to /setup comes last, when everything stands, and once.
        Child("web", (*pulsegate, "web", "--no-setup-link"), stage=0),
        Child("beat", (*pulsegate, "beat"), stage=1),
        # Of their own, since GitHub's limits must not hold up decisions. A task takes up to 90 s;
        # one that is cut off is done again later, so that nobody waits that long for Ctrl-C.
        Child("triage", (*pulsegate, "worker", "--queues", "triage,sweep", *concurrency), 2, 20),
        Child("perform", (*pulsegate, "worker", "--queues", "perform", *concurrency), 2, 20),
        *_mail(settings, pulsegate),
    ]


def _mail(settings: Settings, pulsegate: tuple[str, ...]) -> list[Child]:
    """Of their own, and only where mail is configured: a slow mail server holds up nothing else."""
    found: list[Child] = []
    if settings.smtp_url is not None:
        words = (*pulsegate, "worker", "--queues", "mail", "--concurrency", "1")
        found.append(Child("mails", words, 2, 20))
    box = inbound_of(settings)
    if box is not None and box.kind != "hook":
        found.append(Child("letters", (*pulsegate, "mail"), 1))
    return found


class _Signals:
    """SIGINT and SIGTERM: the first asks everything to end, the second kills it."""

    def __init__(self) -> None:
        self.count = 0
        self.starting = True
        self.kill: Callable[[], None] = lambda: None
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._handle)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self.count > 1:
            self.kill()
            os._exit(130)  # the kernel sends the servers their death signals
        if self.starting:
            raise KeyboardInterrupt


def up(
    settings: Settings,
    on_ready: OnReady | None = None,
    *,
    processes: Callable[[Settings], list[Child]] = children,
) -> None:
    """Run the whole service until SIGINT or SIGTERM. UserError if it cannot start.

    `on_ready` is called once, in a thread of its own, when `/readyz` answers.
    """
    tell = Printer()
    check_port(settings.host, settings.port)
    signals = _Signals()
    try:
        with ExitStack() as stack:
            servers = None
            if settings.embedded:
                servers = EmbeddedServers(
                    settings.state_dir,
                    **missing(settings),
                    say=lambda line: tell("pulsegate", line),
                )
                tell("pulsegate", f"starting the embedded servers in {settings.state_dir}")
                stack.callback(servers.stop)
                servers.start()
            env = environment(settings, servers)
            migrate(env["DATABASE_URL"])
            supervisor = Supervisor(
                processes(settings),
                env={**os.environ, "PYTHONUNBUFFERED": "1", **env},
                say=tell,
                servers=servers,
            )
            signals.kill = supervisor.kill
            signals.starting = False
            ready = Ready(
                address=_address(settings),
                database_url=env["DATABASE_URL"],
                redis_url=env["REDIS_URL"],
                say=lambda line: tell("pulsegate", line),
                stopping=lambda: signals.count > 0,
            )
            threading.Thread(
                target=_announce, args=(settings, ready, on_ready), daemon=True
            ).start()
            supervisor.run(lambda: signals.count == 0)
            tell("pulsegate", "stopped")
    except KeyboardInterrupt:
        tell("pulsegate", "stopped before it had started")


def check_port(host: str, port: int) -> None:
    """UserError if `web` could not listen there."""
    try:
        family, kind, _, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
            probe.listen(1)
    except socket.gaierror:
        raise UserError(
            f"HOST is {host}, which is no address of this machine",
            hint="set HOST to 127.0.0.1, or to 0.0.0.0 for all addresses",
        ) from None
    except PermissionError:
        raise UserError(
            f"this user may not listen on port {port}", hint="set PORT to one above 1023"
        ) from None
    except OSError as error:
        raise UserError(
            f"port {port} of {host} is in use{_by_whom(port)}"
            if error.errno == errno.EADDRINUSE
            else f"{host}:{port} cannot be listened on: {error.strerror}",
            hint="set PORT to a free one, for instance: PORT=8001 make run",
        ) from None


def _by_whom(port: int) -> str:
    """` by NAME (process N)`, as far as we are allowed to know."""
    try:
        for connection in psutil.net_connections("tcp"):
            # psutil's types have an empty address for sockets that never listen
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr
            if listens and connection.pid and listens.port == port:
                return f" by {psutil.Process(connection.pid).name()} (process {connection.pid})"
    except psutil.Error:
        pass
    return " by another program"


def _address(settings: Settings) -> str:
    """Where a browser on this machine finds `web`."""
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
    host = everywhere.get(settings.host, settings.host)
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


def _announce(settings: Settings, ready: Ready, on_ready: OnReady | None) -> None:
    """Wait until everything answers, say where, and do what is to be done then."""
    begin, slow = time.monotonic(), False
    while not _answers(ready.address):
        if ready.stopping():
            return
        if not slow and time.monotonic() - begin > _SLOW_SECONDS:
            slow = True
            ready.say("still not ready; the lines above say what is missing")
        time.sleep(0.1)
    ready.say(f"Pulsegate is at {ready.address} (Ctrl-C stops it)")
    if settings.public_url != ready.address:
        ready.say(f"and for the world at {settings.public_url}")
    if on_ready:
        try:
            on_ready(ready)
        except UserError as error:
            ready.say(f"{error.message}. What to do: {error.hint}")
        except Exception as error:  # noqa: BLE001 - what comes on top must not end the service
            ready.say(f"what was to be done at the start failed: {error!r}")


def _answers(address: str) -> bool:
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=2)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


class Printer:
    """Prints lines with the name of who said them in front, one whole line at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __call__(self, name: str, line: str) -> None:
        """Print one line."""
        with self._lock:
            print(f"{name:<9} | {line}", flush=True)  # noqa: T201 - it is what people watch
