"""A real IMAP server (pymap, a process of its own) on loopback, and who puts mails into its folders."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from imapclient import IMAPClient

from tests.fakes.certificates import client_context, files

USER, PASSWORD = "demo", "secret-1"


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def mail_server(folder: Path) -> Iterator[int]:
    """Its port. It has one account, and STARTTLS with the certificate of `certificates`."""
    port, (cert, key) = free_port(), files(folder)
    arguments = ["--host", "127.0.0.1", "--port", str(port), "--cert", str(cert), "--key", str(key)]
    account = ["dict", "--demo-data", "--demo-user", USER, "--demo-password", PASSWORD]
    code = "from pymap.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "--no-service", "admin", *arguments, *account],
        stdout=subprocess.DEVNULL,
    ) as process:
        try:
            ends = time.monotonic() + 30
            while process.poll() is None and time.monotonic() < ends:
                with socket.socket() as s:
                    if s.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.02)
            assert process.poll() is None
            yield port
        finally:
            process.terminate()
            process.wait(10)


class Client:
    """The mail server in front, which puts mails into a folder of its own."""

    def __init__(self, port: int, folder: str) -> None:
        self.folder = folder
        self.imap = IMAPClient("localhost", port, ssl=False, timeout=10)
        self.imap.starttls(client_context())
        self.imap.login(USER, PASSWORD)
        if self.imap.folder_exists(folder):
            self.imap.delete_folder(folder)
        self.imap.create_folder(folder)

    def put(self, *mails: bytes) -> None:
        """As they are, unseen."""
        for mail in mails:
            self.imap.append(self.folder, mail)

    def unseen(self) -> int:
        """How many nobody has seen."""
        return int(self.imap.folder_status(self.folder, [b"UNSEEN"])[b"UNSEEN"])

    def all(self) -> int:
        """How many there are."""
        return int(self.imap.folder_status(self.folder, [b"MESSAGES"])[b"MESSAGES"])
