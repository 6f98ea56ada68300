"""`pulsegate up` as a process: what it says, what it starts, and that nothing outlives it."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from app.wiring.up import check_port

# Everything is real but for the four processes of the service, which have tests of their own.
UP = """
import os, sys
from app.settings import load
from app.wiring.supervisor import Child
from app.wiring.up import up
WEB = '''
import http.server, os
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/readyz" else 404)
        self.end_headers()
    def log_message(self, *words):
        pass
print("env", os.environ["DATABASE_URL"], os.environ["REDIS_URL"], len(os.environ["SECRET_KEY"]), flush=True)
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Ready).serve_forever()
'''
def processes(settings):
    return [Child("web", (sys.executable, "-c", WEB)),
            Child("worker", ("/bin/sleep", "60"), 1)]
def on_ready(ready):
    ready.say(f"replaying at {ready.address}")
    raise RuntimeError("no recording")
up(load(), on_ready, processes=processes)
"""


def any_free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def free_port():
    return any_free_port()


@pytest.fixture
def start(root, state_folder, free_port):
    """Start `up` on a fresh state folder; more environment may be given."""
    folder = tempfile.mkdtemp(dir=state_folder)
    running = []

    def run(**env):
        env = {
            "STATE_DIR": folder + "/state",
            "PORT": str(free_port),
            "PYTHONUNBUFFERED": "1",
            **env,
        }
        process = subprocess.Popen(
            [sys.executable, "-c", UP],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=root,
            env={**os.environ, **env},
        )
        running.append(process)
        return process

    Path(folder).chmod(0o755)
    yield run
    for process in running:
        process.kill()
        process.wait()
        process.stdout.close()


def read_until(process, words):
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip())
        if words in line:
            return lines
    raise AssertionError("\n".join(lines))


def tree(process):
    return [p.pid for p in psutil.Process(process.pid).children(recursive=True)]


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_up_tells_its_address_and_ctrl_c_stops_everything(start, free_port):
    process = start()
    lines = read_until(process, "failed")
    text = "\n".join(lines)
    assert f"pulsegate | Pulsegate is at http://127.0.0.1:{free_port} (Ctrl-C stops it)" in lines
    assert f"pulsegate | replaying at http://127.0.0.1:{free_port}" in lines
    assert "RuntimeError('no recording')" in lines[-1]  # and it goes on
    assert "web       | env postgresql+psycopg://" in text
    assert text.count(" 43\n") == 1  # the length of the key that was made
    pids = tree(process)
    assert len(pids) >= 4
    process.send_signal(signal.SIGINT)
    assert "pulsegate | stopped" in process.stdout.read().splitlines()
    assert process.wait(20) == 0
    assert not any(map(alive, pids))


def test_up_stops_on_sigterm_and_a_second_start_finds_its_data_again(start):
    for _ in range(2):
        process = start()
        read_until(process, "Pulsegate is at")
        process.terminate()
        process.stdout.read()
        assert process.wait(20) == 0


def test_nothing_is_left_when_up_is_killed(start, wait_for):
    process = start()
    read_until(process, "Pulsegate is at")
    pids = tree(process)
    assert len(pids) >= 4
    process.kill()
    wait_for(lambda: not any(map(alive, pids)), "everything is gone")


def test_up_restarts_what_dies(start, wait_for):
    process = start()
    read_until(process, "Pulsegate is at")
    for child in psutil.Process(process.pid).children():
        child.kill()
    lines = read_until(process, "web       | env")
    while not any("Valkey" in line for line in lines) or not any(
        "PostgreSQL" in line for line in lines
    ):
        lines += read_until(process, "started again")
    assert any("web       | was ended by SIGKILL" in line for line in lines)


def test_second_up_on_the_same_folder_is_refused_in_words(start):
    first = start()
    read_until(first, "Pulsegate is at")
    second = start(PORT=str(any_free_port()))
    out = second.communicate(timeout=20)[0]
    assert f"another Pulsegate (process {first.pid})" in out


def test_port_in_use_names_who_has_it(complains):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = complains(lambda: check_port("127.0.0.1", port))
    assert f"port {port} of 127.0.0.1 is in use by {psutil.Process().name()}" in said
    assert f"(process {os.getpid()})" in said
    assert "set PORT" in said


def test_host_that_is_no_address(complains):
    assert "no address of this machine" in complains(lambda: check_port("not a host", 8099))


def test_host_of_another_machine(complains):
    assert "cannot be listened on" in complains(lambda: check_port("192.0.2.1", 8099))
