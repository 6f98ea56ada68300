import hashlib
import hmac
import json
import os
import signal
import socket
import time
from contextlib import ExitStack, suppress

import httpx
import psutil
import pytest
from redis import Redis
from sqlalchemy import Engine, text

from app.db.packing import unpack
from tests.conftest import wait_for
from tests.web.serving import SECRET, Server, sign

PING = json.dumps({"zen": "Keep it logically awesome."}).encode()
PULL = json.dumps(
    {
        "action": "opened",
        "installation": {"id": 5},
        "repository": {"id": 2**40, "name": "r", "full_name": "o/r"},
        "pull_request": {"number": 12},
    }
).encode()


def rows(engine: Engine) -> list[dict]:
    with engine.connect() as connection:
        return [
            dict(r) for r in connection.execute(text("select * from inbox order by id")).mappings()
        ]


def test_a_delivery_is_committed_and_rung_for(server: Server, engine: Engine, redis_url: str):
    answer = server.deliver(PULL, x_github_event="pull_request", x_github_delivery="guid-1")
    assert answer.status_code == 202
    assert answer.json() == {"status": "accepted", "event": "pull_request"}
    (row,) = rows(engine)
    with engine.connect() as connection:
        (body,) = connection.execute(text("select body from payloads")).scalars()
    assert json.loads(unpack(body)) == json.loads(PULL)
    assert (row["source"], row["key"], row["event"], row["action"]) == (
        "github",
        "77:guid-1",
        "pull_request",
        "opened",
    )
    assert (row["installation_id"], row["repository_id"], row["pull_number"]) == (5, 2**40, 12)
    with Redis.from_url(redis_url) as client:
        message = json.loads(client.lindex("triage", 0))
    assert message["headers"]["task"] == "pulsegate.triage"
    assert message["headers"]["argsrepr"] == f"({row['id']},)"


def test_the_same_guid_is_accepted_once(server: Server, engine: Engine):
    first = server.deliver(PING, x_github_delivery="guid-1")
    second = server.deliver(PING, x_github_delivery="guid-1")
    other_app = server.deliver(
        PING, x_github_delivery="guid-1", x_github_hook_installation_target_id="78"
    )
    assert [a.status_code for a in (first, second, other_app)] == [202, 202, 202]
    assert [a.json()["status"] for a in (first, second, other_app)] == [
        "accepted",
        "seen before",
        "accepted",
    ]
    assert len(rows(engine)) == 2


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "sha256=",
        "sha256=" + "0" * 64,
        sign(PING, "another secret"),
        sign(PING)[:-1],
        sign(PING) + "0",
        sign(PING).removeprefix("sha256="),
        sign(PING).replace("sha256=", "sha1="),
        "sha1=" + "0" * 40,
        sign(PING).replace("sha256=", "sha256=é"),
        sign(b""),
    ],
)
def test_what_is_not_signed_is_refused(server: Server, engine: Engine, signature: str):
    headers = {"x_hub_signature_256": signature}
    answer = server.deliver(PING, **headers)
    assert answer.status_code == 401
    assert "signature" in answer.json()["detail"].lower()
    assert rows(engine) == []


def test_a_sha1_signature_alone_is_refused(server: Server):
    good = "sha1=" + hmac.new(SECRET.encode(), PING, hashlib.sha1).hexdigest()
    assert server.deliver(PING, x_hub_signature_256="", x_hub_signature=good).status_code == 401
    assert server.deliver(PING, x_hub_signature_256=good).status_code == 401


def test_two_secrets_are_valid_while_they_rotate(serve):
    server = serve(github_webhook_secret="new, old")
    assert server.deliver(PING, secret="new").status_code == 202
    assert server.deliver(PING, secret="old").status_code == 202
    assert server.deliver(PING, secret="older").status_code == 401


def test_without_a_secret_nothing_is_taken_and_the_answer_says_why(serve, engine: Engine):
    server = serve(github_webhook_secret="")
    answer = server.deliver(PING)
    assert answer.status_code == 503
    assert "/setup" in answer.json()["detail"]
    assert server.deliver(PING, secret="").status_code == 503
    assert rows(engine) == []


def test_too_large_is_refused_before_it_is_read(server: Server):
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(
            b"POST /webhooks/github HTTP/1.1\r\nHost: localhost\r\nContent-Length: 26214401\r\n"
            b"X-Hub-Signature-256: sha256=" + b"0" * 64 + b"\r\n\r\n"
        )
        assert client.recv(100).startswith(b"HTTP/1.1 413")


def test_too_large_without_a_length_is_refused(server: Server):
    def pieces():
        for _ in range(27):
            yield b" " * 2**20

    headers = {"x-hub-signature-256": "sha256=" + "0" * 64}
    with suppress(httpx.WriteError, httpx.ReadError):  # it may close while we still send
        answer = server.http.post("/webhooks/github", content=pieces(), headers=headers)
        assert answer.status_code == 413
    assert 'outcome="too large"' in server.http.get("/metrics").text


def test_only_a_few_may_grow_large_at_a_time_and_the_small_are_always_taken(server: Server):
    port = int(server.url.rpartition(":")[2])
    head = (
        b"POST /webhooks/github HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n"
        b"X-Hub-Signature-256: sha256=" + b"0" * 64 + b"\r\n\r\n"
    )
    large = b'{"pad":"' + b"x" * 2_000_000 + b'"}'
    with ExitStack() as stack:

        def full() -> bool:
            """Takes another seat unless there is none."""
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.sendall(head + b" " * 1_900_000)
            return server.deliver(large).status_code == 503

        wait_for(full, "all seats are taken")
        answer = server.deliver(large)
        assert "too many large deliveries" in answer.json()["detail"]
        assert int(answer.headers["retry-after"]) >= 1
        assert server.deliver(PING).status_code == 202
    wait_for(lambda: server.deliver(large).status_code == 202, "the seats are free again")


def test_just_within_the_limit_is_taken(server: Server, engine: Engine):
    body = b'{"pad":"' + b"x" * (25 * 2**20 - 10) + b'"}'
    assert len(body) == 25 * 2**20
    assert server.deliver(body).status_code == 202
    assert len(rows(engine)) == 1


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"", {}),
        (b"{", {}),
        (b"\xff\xfe", {}),
        (b'{"a": "\xff"}', {}),
        (b'{"a": NaN}', {}),
        (b'{"a": Infinity}', {}),
        (b"[" * 100_000, {}),
        (b"[" * 100_000 + b"]" * 100_000, {}),
        (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, {}),
        (PING, {"x_github_event": ""}),
        (PING, {"x_github_delivery": ""}),
    ],
)
def test_what_is_malformed_is_refused(server: Server, engine: Engine, body: bytes, headers: dict):
    answer = server.deliver(body, **headers)
    assert answer.status_code == 400, answer.text
    assert answer.json()["detail"]
    assert rows(engine) == []


def test_a_form_says_which_content_type_to_choose(server: Server):
    body = b"payload=%7B%7D"
    answer = server.deliver(body, content_type="application/x-www-form-urlencoded; charset=utf-8")
    assert answer.status_code == 400
    assert "application/json" in answer.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"null",
        b'"text"',
        b"17",
        b"{}",
        b'{"action": 3, "repository": [], "installation": {"id": "x"}}',
        b'{"action": "a\\u0000b", "pull_request": {"number": 1e300}}',
        b'{"repository": {"id": 99999999999999999999999}}',
    ],
)
def test_any_json_is_taken_whatever_its_shape(server: Server, engine: Engine, body: bytes):
    answer = server.deliver(body, x_github_event="pull_request")
    assert answer.status_code == 202, answer.text
    assert len(rows(engine)) == 1


def test_an_unknown_event_is_stored(server: Server, engine: Engine):
    assert server.deliver(b"{}", x_github_event="brand_new_event").status_code == 202
    assert rows(engine)[0]["event"] == "brand_new_event"


def test_database_down_asks_for_another_try(serve, servers, start_again):
    server = serve()
    try:
        os.kill(servers.pids["PostgreSQL"], signal.SIGKILL)
        answer = server.deliver(PING)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
    finally:
        start_again(servers)
    assert server.deliver(PING).status_code == 202


def test_a_database_that_hangs_is_answered_in_time(serve, servers):
    server = serve()
    assert server.deliver(PING).status_code == 202
    postgres = psutil.Process(servers.pids["PostgreSQL"])
    backends = [postgres, *postgres.children()]
    try:
        for backend in backends:
            backend.suspend()
        begin = time.monotonic()
        server.http.timeout = 20
        answer = server.deliver(PING)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert server.http.get("/readyz").status_code == 503
        assert time.monotonic() - begin < 18, "GitHub gives a delivery up after ten seconds"
    finally:
        for backend in backends:
            backend.resume()
    assert server.deliver(PING).status_code == 202


def test_broker_down_still_takes_the_delivery_and_soon(serve, engine: Engine):
    server = serve(redis_url="redis://127.0.0.1:1/0")
    begin = time.monotonic()
    for _ in range(5):
        assert server.deliver(PING).status_code == 202
    assert time.monotonic() - begin < 2.0
    assert len(rows(engine)) == 5
    assert "pulsegate_bells_lost_total" in server.http.get("/metrics").text


def test_broker_that_never_answers_costs_one_second_once(serve, engine: Engine):
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(5)
        server = serve(redis_url=f"redis://127.0.0.1:{deaf.getsockname()[1]}/0")
        begin = time.monotonic()
        for _ in range(5):
            assert server.deliver(PING).status_code == 202
        assert time.monotonic() - begin < 2.5
    assert len(rows(engine)) == 5


def test_only_post(server: Server):
    assert server.http.get("/webhooks/github").status_code == 405
