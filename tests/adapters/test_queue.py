import json
import socket
import threading
import time

import pytest
from redis import Redis

from app.adapters.queue import Broker, CeleryDoorbell, broker_url, client_url, make_celery
from app.core.errors import RetryLater
from app.metrics import BELLS_LOST


def lost(task: str) -> float:
    return BELLS_LOST.labels(task)._value.get()


@pytest.mark.parametrize(
    ("redis", "celery"),
    [
        ("redis://h:6379/1", "redis://h:6379/1"),
        ("rediss://:p@h:6379/0", "rediss://:p@h:6379/0"),
        ("unix:///run/v.sock?db=0", "redis+socket:///run/v.sock?virtual_host=0"),
        ("unix:///run/v.sock", "redis+socket:///run/v.sock"),
    ],
)
def test_addresses(redis: str, celery: str):
    assert broker_url(redis) == celery
    assert broker_url(celery) == celery
    assert client_url(celery) == redis
    assert client_url(redis) == redis


@pytest.mark.parametrize("which", ["redis_url", "broker_url"])
def test_each_bell_goes_to_its_own_queue(which: str, request, redis_url: str):
    bell = CeleryDoorbell(request.getfixturevalue(which))
    for task in ("triage", "perform", "reconcile"):
        bell.ring(task, 2**40)
    bell.close()
    with Redis.from_url(redis_url) as client:
        for task, queue in (("triage", "triage"), ("perform", "perform"), ("reconcile", "sweep")):
            (message,) = (json.loads(m) for m in client.lrange(queue, 0, -1))
            assert message["headers"]["task"] == f"pulsegate.{task}"
            assert message["headers"]["argsrepr"] == f"({2**40},)"
            assert message["headers"]["eta"] is None
            assert message["content-type"] == "application/json"


def test_a_broker_that_refuses_costs_nothing_and_is_left_alone_for_a_while():
    now = [0.0]
    bell = CeleryDoorbell("redis://127.0.0.1:1/0", clock=lambda: now[0])
    before, begin = lost("triage"), time.monotonic()
    bell.ring("triage", 1)
    bell.ring("triage", 2)
    assert time.monotonic() - begin < 1
    assert lost("triage") - before == 2


def test_a_broker_that_comes_back_is_rung_again(redis_url: str):
    now = [0.0]
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        port = deaf.getsockname()[1]
    bell = CeleryDoorbell(f"redis://127.0.0.1:{port}/0", clock=lambda: now[0])
    bell.ring("triage", 1)
    before = lost("triage")
    with Relay(port, redis_url):
        bell.ring("triage", 2)
        assert lost("triage") == before + 1
        now[0] = 6.0
        bell.ring("triage", 3)
        assert lost("triage") == before + 1
    with Redis.from_url(redis_url) as client:
        assert client.llen("triage") == 1


class Relay:
    """A TCP port in front of the Unix socket of Valkey."""

    def __init__(self, port: int, redis_url: str) -> None:

        self.path = redis_url.removeprefix("unix://").partition("?")[0]
        self.listener = socket.create_server(("127.0.0.1", port))
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self) -> None:

        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.path)
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self.copy, args=(a, b), daemon=True).start()

    def copy(self, a: socket.socket, b: socket.socket) -> None:
        with a:
            try:
                while data := a.recv(65536):
                    b.sendall(data)
                b.shutdown(socket.SHUT_WR)
            except OSError:
                return

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def test_the_celery_of_all_processes(redis_url: str):
    conf = make_celery(redis_url).conf
    assert conf.task_acks_late
    assert conf.task_reject_on_worker_lost
    assert conf.worker_prefetch_multiplier == 1
    assert conf.result_backend is None
    assert conf.task_time_limit == 90
    assert conf.broker_transport_options["visibility_timeout"] > conf.task_time_limit
    assert [q.name for q in conf.task_queues] == ["triage", "perform", "sweep", "mail"]


def test_ping(redis_url: str):
    Broker(redis_url).ping()
    with pytest.raises(RetryLater):
        Broker("redis://127.0.0.1:1/0").ping()
