"""The receiver and the sender against real SMTP and LMTP sessions on loopback."""

import smtplib
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import SMTPUTF8
from email.utils import getaddresses
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult
from hypothesis import given, settings
from hypothesis import strategies as st

from app.adapters.mail.inbound import Inbound, inbound
from app.adapters.mail.lists import InstalledLists
from app.adapters.mail.receiver import Receiver
from app.adapters.mail.sender import Sender, built
from app.core.errors import Rejected, RetryLater, UserError
from app.core.proofs.addresses import NoAddress, classify
from app.core.proofs.letters import MOST_BYTES
from app.core.proofs.mails import Mail, link_mail
from app.core.proofs.tokens import SPELLED
from app.core.said import english

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
MAIL = Mail(to="alice@corp.example", subject="Grüße", text="Hello\n", html="<p>Hello</p>")


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def receiving(kind: str, take: Callable[..., None]) -> Iterator[Inbound]:
    box = inbound(f"{kind}://127.0.0.1:{free_port()}?domain=gate.example")
    receiver = Receiver(box, take)
    receiver.start()
    try:
        yield box
    finally:
        receiver.stop()


@pytest.mark.parametrize(("kind", "client"), [("smtp", smtplib.SMTP), ("lmtp", smtplib.LMTP)])
def test_a_mail_comes_in_with_its_envelope(kind: str, client: Any) -> None:
    taken: list[Any] = []
    with (
        receiving(kind, lambda *given: taken.append(given)) as box,
        client(box.host, box.port, timeout=10) as session,
    ):
        refused = session.sendmail(
            "alice@corp.example",
            ["token@gate.example", "else@gate.example.org"],
            b"A: b\r\n\r\nc",
        )
    assert list(refused) == ["else@gate.example.org"]
    [(raw, recipients, sender, spf)] = taken
    assert raw.startswith(b"A: b")
    assert (recipients, sender, spf) == (("token@gate.example",), "alice@corp.example", "")


def test_whatever_came_of_it_the_answer_is_the_same_but_for_a_fault_of_ours() -> None:
    def take(raw: bytes, *_: Any) -> None:
        if b"later" in raw:
            raise RetryLater("the database is away")
        if b"fault" in raw:
            raise ValueError("oh")

    with receiving("smtp", take) as box, smtplib.SMTP(box.host, box.port, timeout=10) as session:
        session.ehlo()
        for word, code in ((b"fine", 250), (b"later", 451), (b"fault", 451)):
            session.mail("")
            session.rcpt("token@gate.example")
            assert session.data(word)[0] == code


def test_nobody_else_is_served_and_nothing_is_relayed() -> None:
    with (
        receiving("smtp", lambda *_: None) as box,
        smtplib.SMTP(box.host, box.port, timeout=10) as session,
    ):
        session.ehlo()
        session.mail("a@b.example")
        assert session.rcpt("someone@elsewhere.example")[0] == 550
        assert session.docmd("VRFY root")[0] >= 250
        codes = [session.rcpt(f"t{n}@gate.example")[0] for n in range(7)]
        assert codes == [250] * 5 + [452] * 2


def test_thirty_megabytes_are_refused_as_they_come() -> None:
    taken: list[Any] = []
    with (
        receiving("smtp", lambda *given: taken.append(given)) as box,
        smtplib.SMTP(box.host, box.port, timeout=30) as session,
    ):
        with pytest.raises(smtplib.SMTPResponseException) as error:
            session.sendmail("a@b.example", "t@gate.example", b"x" * 30_000_000)
        assert error.value.smtp_code == 552
    assert taken == []
    assert MOST_BYTES < 30_000_000


@pytest.mark.parametrize(
    "url",
    [
        "smtp://127.0.0.1:2525", "smtp://127.0.0.1:x?domain=a.example", "imap://a?domain=b.example",
        "smtp://h?domain=a.example&sealer=b.example", "smtp://h?address=@a.example",
        "smtp://h?address=proof-of-life@a.example",
        "hook://short?domain=a.example", "smtp://?domain=a.example", "smtp://h?domain=nodot",
    ],
)  # fmt: skip
def test_a_wrong_address_is_told(url: str) -> None:
    with pytest.raises(UserError, match="MAIL_INBOUND"):
        inbound(url)


def test_tokens_are_read_from_our_addresses_alone() -> None:
    box = inbound("hook://a-secret-of-16-letters?domain=Gate.Example")
    assert box.token("<ABC@gate.example>") == "abc"
    assert box.token("abc@else.example") is None
    assert box.token("@gate.example") is None
    assert box.address("abc") == "abc@gate.example"


def test_a_mailbox_that_takes_mail_for_name_plus_anything_does() -> None:
    box = inbound("imaps://u:p@mail.example?address=Proof@Mail.example")
    token = "a" * SPELLED
    assert box.address(token) == f"proof+{token}@mail.example"
    assert len(box.address(token).partition("@")[0]) <= 64
    assert box.token("PROOF+ABC@mail.example") == "abc"
    for other in ("proof@mail.example", "abc@mail.example", "proof+@mail.example"):
        assert box.token(other) is None


def test_whom_to_believe_is_read() -> None:
    box = inbound(
        "lmtp://127.0.0.1:24?domain=a.example&sealers=Google.com,%20b.example&behind=MX.a.example"
    )
    assert box.sealers == {"google.com", "b.example"}
    assert (box.behind, box.mailbox) == ("mx.a.example", None)


class _Server:
    """Takes mail as `answer` says, for all but `unknown`, and from `senders` if these are named."""

    def __init__(self) -> None:
        self.answer, self.taken, self.logins = "250 OK", [], []
        self.unknown: dict[str, str] = {}
        self.senders: set[str] = set()

    async def handle_MAIL(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if self.senders and address not in self.senders:
            return "553 5.7.1 not your address"
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if address in self.unknown:
            return self.unknown[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.taken.append(envelope)
        return self.answer

    def authenticate(self, server, session, envelope, mechanism, data) -> AuthResult:
        self.logins.append(data.login.decode())
        return AuthResult(success=data.password == b"secret")


@pytest.fixture
def server() -> Iterator[Any]:
    handler = _Server()

    class Door(Controller):
        def factory(self) -> SMTP:
            return SMTP(handler, authenticator=handler.authenticate, auth_require_tls=False)

    door = Door(handler, hostname="127.0.0.1", port=free_port())
    door.start()
    handler.port = door.port  # type: ignore[attr-defined]
    yield handler
    door.stop()


def test_a_mail_goes_out_as_text_and_html_and_asks_for_no_answer(server: Any) -> None:
    Sender(f"smtp://127.0.0.1:{server.port}", "gate@gate.example").send(MAIL, NOW, "1-ab")
    [envelope] = server.taken
    message = message_from_bytes(envelope.content)
    assert envelope.rcpt_tos == ["alice@corp.example"]
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["From"] == envelope.mail_from == "gate@gate.example"
    assert message["Message-ID"] == "<1-ab@gate.example>"
    assert [p.get_content_type() for p in message.walk()][1:] == ["text/plain", "text/html"]


@pytest.mark.parametrize(
    ("answer", "error"), [("550 no such user", Rejected), ("451 later", RetryLater)]
)
def test_what_the_server_says_decides_whether_it_is_tried_again(
    server: Any, answer: str, error: type[Exception]
) -> None:
    server.answer = answer
    with pytest.raises(error):
        Sender(f"smtp://127.0.0.1:{server.port}", "gate@gate.example").send(MAIL, NOW, "1-ab")


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("550 5.1.1 no such user", Rejected),
        ("552 5.2.2 mailbox full", Rejected),
        ("450 4.2.1 try later", RetryLater),
    ],
)
def test_an_address_that_the_server_refuses(server: Any, said: str, error: type[Exception]) -> None:
    server.unknown[MAIL.to] = said
    with pytest.raises(error, match=said[:3]):
        Sender(f"smtp://127.0.0.1:{server.port}", "gate@gate.example").send(MAIL, NOW, "1-ab")
    assert server.taken == []


def test_what_comes_back_has_an_address_of_its_own_where_the_server_lets_us(server: Any) -> None:
    box = inbound("smtp://127.0.0.1:2525?address=in@gate.example")
    sender = Sender(f"smtp://127.0.0.1:{server.port}", "gate@gate.example", box.address)
    sender.send(MAIL, NOW, "1-ab")
    server.senders = {"gate@gate.example"}
    sender.send(MAIL, NOW, "2-cd")
    assert [one.mail_from for one in server.taken] == [
        "in+bounce-1-ab@gate.example",
        "gate@gate.example",
    ]
    server.senders = {"somebody@else.example"}
    with pytest.raises(RetryLater, match="553"):  # no fault of whom it is for
        sender.send(MAIL, NOW, "3-ef")


def test_what_no_mail_can_be_written_to_is_refused_for_good(server: Any) -> None:
    mail = MAIL.model_copy(update={"to": "=?utf-8?b?CkJjYzogY0BkLmV4YW1wbGU=?=@b.example"})
    with pytest.raises(Rejected, match="no mail can be written"):
        Sender(f"smtp://127.0.0.1:{server.port}", "gate@gate.example").send(mail, NOW, "1-ab")


def test_an_address_that_this_server_cannot_write_to_is_refused_for_good(server: Any) -> None:
    mail = MAIL.model_copy(update={"to": "用户@例子.example"})
    with pytest.raises(Rejected, match="other scripts"):
        Sender(f"smtp://127.0.0.1:{server.port}", "gate@gate.example").send(mail, NOW, "1-ab")


@pytest.mark.parametrize(
    "to",
    [
        "a@b.example\r\nBcc: c@d.example", "a@b.example\nBcc: c@d.example", "a@b.example, c@d.example",
        "a@b.example>\r\nRCPT TO:<c@d.example", "<a@b.example> c@d.example", "a\x00@b.example",
        "=?utf-8?q?c=40d.example=2C?=@b.example", "=?utf-8?b?CkJjYzogY0BkLmV4YW1wbGU=?=@b.example",
        "a@b.example\u2028Bcc: c@d.example", "a@b.example\x85Bcc: c@d.example", "a;c@d.example",
    ],
)  # fmt: skip
def test_no_address_brings_a_header_or_another_reader(server: Any, to: str) -> None:
    found = classify(to, InstalledLists())
    if isinstance(found, NoAddress):
        return
    mail = link_mail(english, found.written, "x", "https://gate.example/v/x", "12345678")
    try:
        Sender(f"smtp://127.0.0.1:{server.port}", "gate@gate.example").send(mail, NOW, "1-ab")
    except (Rejected, RetryLater):
        return
    [envelope] = server.taken
    assert envelope.rcpt_tos == [found.written]
    message = message_from_bytes(envelope.content)
    assert message.keys() == [
        *("From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted"),
        *("MIME-Version", "Content-Type"),
    ]
    assert [address for _, address in getaddresses([message["To"]])] == [found.written]


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=30), st.text(max_size=39), st.text(max_size=60))
def test_nothing_that_anybody_types_breaks_out_of_its_place(
    to: str, login: str, subject: str
) -> None:
    found = classify(f"{to}@corp.example", InstalledLists())
    if isinstance(found, NoAddress):
        return
    mail = link_mail(english, found.written, login, "https://gate.example/v/x", "12345678")
    made = built(mail.model_copy(update={"subject": subject}), "gate@gate.example", NOW, "1-ab")
    raw = made.as_bytes(policy=SMTPUTF8)
    message = message_from_bytes(raw, policy=SMTPUTF8)
    assert message.keys() == made.keys()
    assert len(message["To"].addresses) == 1
    assert len(message.get_payload()) == 2


def test_a_password_is_never_sent_in_clear(server: Any) -> None:
    with pytest.raises(RetryLater, match="no TLS"):
        Sender(f"smtp://me:secret@127.0.0.1:{server.port}", "gate@gate.example").send(
            MAIL, NOW, "1-ab"
        )
    assert server.logins == []


def test_a_server_that_is_not_there_is_tried_again() -> None:
    with pytest.raises(RetryLater):
        Sender(f"smtp://127.0.0.1:{free_port()}", "gate@gate.example").send(MAIL, NOW, "1-ab")


def test_names_in_a_mail_are_text() -> None:
    made = link_mail(english, "a@b.example", "<b>x</b>", "https://gate.example/v/x", "12345678")
    assert "<b>" not in made.html
    assert '<a href="https://gate.example/v/x">' in made.html
    assert "\n" not in made.subject
