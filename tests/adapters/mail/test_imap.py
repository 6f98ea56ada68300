"""The poller against a real IMAP server (pymap, a process of its own) on loopback, over TLS."""

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.adapters.mail.imap import Poller, envelope
from app.adapters.mail.inbound import Inbound, Mailbox, inbound
from app.core.errors import RetryLater, UserError
from app.core.proofs.letters import MOST_BYTES
from tests.fakes.certificates import client_context, server_context
from tests.fakes.letters import written
from tests.fakes.mailbox import PASSWORD, USER, Client, free_port, mail_server

FOLDER = "Proofs"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with mail_server(tmp_path_factory.mktemp("imap")) as port:
        yield port


def box(port: int, **more: Any) -> Inbound:
    given = {
        "host": "localhost", "port": port, "tls": False, "user": USER, "password": PASSWORD,
        "folder": FOLDER, "every": 1, **more,
    }  # fmt: skip
    made = Mailbox(**given)
    return Inbound("imap", "gate.example", made.host, made.port, mailbox=made)


@pytest.fixture
def client(server: int) -> Iterator[Client]:
    made = Client(server, FOLDER)
    yield made
    made.imap.logout()


def poll(port: int, take: Any, **more: Any) -> int:
    return Poller(box(port, **more), take, context=client_context()).poll()


def test_mails_are_taken_once_as_they_came(server: int, client: Client) -> None:
    first, second = written(), written(to="Gate <TOKEN2@Gate.Example>, bob@corp.example")
    client.put(b"Return-Path: <alice@corp.example>\r\n" + first, second)
    taken: list[Any] = []
    assert poll(server, lambda *mail: taken.append(mail)) == 2
    assert taken[0][0].endswith(first)
    assert taken[0][1:] == (("token@gate.example",), "alice@corp.example", "")
    assert taken[1][1] == ("TOKEN2@Gate.Example",)
    assert poll(server, lambda *mail: taken.append(mail)) == 0
    assert (client.all(), client.unseen()) == (2, 0)


def test_what_cannot_be_taken_now_is_taken_later_and_holds_up_nobody(
    server: int, client: Client
) -> None:
    client.put(written(subject="later"), written(subject="fault"), written(subject="fine"))
    taken: list[bytes] = []

    def take(raw: bytes, *_: Any) -> None:
        if b"later" in raw:
            raise RetryLater("no name server")
        if b"fault" in raw:
            raise ValueError("oh")
        taken.append(raw)

    poller = Poller(box(server), take, context=client_context())
    assert poller.poll() == 1
    assert client.unseen() == 2
    client.put(written(subject="newer"))
    assert poller.poll() == 1  # the others are not due so soon
    assert poll(server, lambda raw, *_: taken.append(raw)) == 2
    assert client.unseen() == 0


def test_a_huge_mail_is_never_fetched(server: int, client: Client) -> None:
    client.put(written(body="x\n" * (MOST_BYTES // 2)), written())
    taken: list[bytes] = []
    assert poll(server, lambda raw, *_: taken.append(raw)) == 2
    assert [len(raw) < 2_000 for raw in taken] == [True]
    assert client.unseen() == 0


def test_mails_are_deleted_where_that_is_wanted(server: int, client: Client) -> None:
    client.put(written(), written())
    assert poll(server, lambda *_: None, after="delete") == 2
    assert client.all() == 0


def test_what_only_a_person_can_mend_is_told_to_them(server: int, client: Client) -> None:
    with pytest.raises(UserError, match="does not let us in") as error:
        poll(server, lambda *_: None, password="wrong")
    assert "wrong" not in str(error.value)
    assert "secret" not in str(error.value) + repr(box(server))


def test_a_server_that_does_not_do_its_part_is_asked_again(server: int) -> None:
    with pytest.raises(RetryLater):
        poll(free_port(), lambda *_: None)
    with pytest.raises(RetryLater):
        poll(server, lambda *_: None, folder="Nowhere")
    with pytest.raises(RetryLater, match="certificate"):
        Poller(box(server), lambda *_: None, context=ssl.create_default_context()).poll()


def test_a_password_never_goes_over_the_line_in_clear() -> None:
    heard = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve() -> None:
            line, _ = door.accept()
            with line:
                line.sendall(b"* OK [CAPABILITY IMAP4rev1] hello\r\n")
                while part := line.recv(4096):
                    heard.extend(part)
                    tag = part.split()[0]
                    asks = b"CAPABILITY" in part.upper()
                    line.sendall(b"* CAPABILITY IMAP4rev1\r\n" if asks else b"")
                    line.sendall(tag + (b" OK done\r\n" if asks else b" BAD no\r\n"))

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(RetryLater):
            poll(door.getsockname()[1], lambda *_: None)
        thread.join(10)
    assert PASSWORD.encode() not in heard


def test_tls_from_the_first_byte_does_as_well(server: int, client: Client, tmp_path: Path) -> None:
    client.put(written())
    taken: list[Any] = []
    started, ports = threading.Event(), []

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(4096):
            writer.write(data)
        writer.close()

    async def serve() -> None:
        async def door(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            inner, outer = await asyncio.open_connection("127.0.0.1", server)
            # The server behind the tunnel believes in a plain line, and lets logins through on it.
            await asyncio.gather(pipe(reader, outer), pipe(inner, writer))
            done.set()

        done = asyncio.Event()
        tunnel = await asyncio.start_server(door, "127.0.0.1", 0, ssl=server_context(tmp_path))
        ports.append(tunnel.sockets[0].getsockname()[1])
        started.set()
        await done.wait()
        tunnel.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert started.wait(10)
    try:
        poll(ports[0], lambda *mail: taken.append(mail), tls=True)
    finally:
        thread.join(10)
    assert len(taken) == 1


def test_it_goes_on_until_it_is_told_to_stop(server: int, client: Client) -> None:
    read, taken = threading.Event(), threading.Event()
    poller = Poller(box(server), lambda *_: taken.set(), read.set, client_context())
    poller.start()
    assert read.wait(10)
    client.put(written())
    assert taken.wait(10)
    began = time.monotonic()
    poller.stop()
    assert time.monotonic() - began < 2
    assert not poller._thread.is_alive()


def test_what_goes_wrong_is_tried_again() -> None:
    read: list[None] = []
    with socket.create_server(("127.0.0.1", 0)) as door:
        door.settimeout(10)
        poller = Poller(
            box(door.getsockname()[1]), lambda *_: None, lambda: read.append(None), client_context()
        )
        poller.start()
        for _ in range(2):
            door.accept()[0].close()
        poller.stop()
    assert read == []


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("imaps://u:p@mail.example.org", "not understood"),
        ("imaps://mail.example.org/INBOX?domain=a.example", "no user"),
        ("imaps://u:p@mail.example.org:x/?domain=a.example", "no port"),
        ("imaps://u:p@mail.example.org/?domain=a.example&after=burn", "after=burn"),
        ("imaps://u:p@mail.example.org/?domain=a.example&every=0", "every=0"),
        ("pop3://u:p@mail.example.org/?domain=a.example", "not understood"),
    ],
)
def test_a_wrong_address_is_told(url: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        inbound(url)


def test_an_address_is_read() -> None:
    found = inbound(
        "imaps://me%40a.example:p%2Fw@mail.a.example/Some%20Box?domain=V.example&after=delete&every=5"
    )
    assert (found.kind, found.domain) == ("imap", "v.example")
    assert found.mailbox == Mailbox(
        host="mail.a.example", port=993, tls=True, user="me@a.example", password="p/w",
        folder="Some Box", after="delete", every=5,
    )  # fmt: skip
    assert "p/w" not in f"{found!r} {found.mailbox}"
    assert inbound("imap://u:p@h.example?domain=v.example").port == 143


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"", ((), "")),
        (b"\xff\x00", ((), "")),
        (b"Return-Path: <>\r\nFrom: a@b.example\r\nTo: x@gate.example\r\n\r\n", (("x@gate.example",), "")),
        (b"From: A <a@b.example>\r\nTo: x@else.example\r\n\r\n", ((), "a@b.example")),
    ],
)  # fmt: skip
def test_what_a_mailbox_tells_of_the_envelope(raw: bytes, found: Any) -> None:
    assert envelope(raw, box(1).token) == found
