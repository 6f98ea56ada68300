"""What people, machines and forgers send, over real SMTP: refused with a reason, answered never."""

import smtplib
import socket
from collections.abc import Callable, Iterator
from email.utils import make_msgid
from typing import Any

import pytest
from structlog.testing import capture_logs

from app.adapters.mail.dns import Records
from app.adapters.mail.inbound import inbound
from app.adapters.mail.receiver import Receiver
from app.core.proofs.bounces import PREFIX, reference
from app.wiring.mail import Letterbox
from tests.fakes.letters import SELECTOR, bounce, key, signed, written
from tests.fakes.names import Names
from tests.flows.test_due_process import BURST, flood
from tests.flows.test_proving import account, confirm, mailed, standing, states, token_in

ALICE = "alice@corp.example"


class Post:
    """A gate with a mail server, whose logs are kept; `to` is the address of `stranger`."""

    def __init__(self, gate: Any, port: int, names: Names, closed: list[int]) -> None:
        self.gate, self.port, self.names, self.closed = gate, port, names, closed
        token = gate.proving.letter_token(standing(gate), account(gate), shared=False)
        self.to = f"{token}@gate.example"

    def send(self, raw: bytes, sender: str = ALICE, to: str = "") -> str:
        """What came of a mail, as it is recorded. Its server learns no more than that it came."""
        with smtplib.SMTP("127.0.0.1", self.port, timeout=20) as session:
            session.ehlo()
            assert session.mail(sender)[0] == 250
            assert session.rcpt(to or self.to)[0] == 250
            assert session.data(raw) == (250, b"2.0.0 OK")
        self.gate.settle()
        rows = self.gate.sql("SELECT outcome FROM letters ORDER BY at DESC LIMIT 1")
        return str(rows[0]["outcome"])

    def written(self, sender: str = "Alice <alice@corp.example>", **more: Any) -> bytes:
        """By the clock of the gate."""
        return written(sender, more.pop("to", self.to), at=self.gate.clock(), **more)


@pytest.fixture
def post(gate: Any) -> Iterator[Post]:
    gate.world.clock = gate.clock
    gate.policy(BURST)
    closed = flood(gate)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    box = inbound(f"smtp://127.0.0.1:{port}?domain=gate.example")
    records = {
        f"{SELECTOR}._domainkey.{domain}": key()[1] for domain in ("corp.example", "evil.example")
    }
    with Names(records) as names:
        lookup = Records(("127.0.0.1", names.port))
        letterbox = Letterbox(gate.proving, box, gate.bell, lookup)
        receiver = Receiver(box, letterbox.take, refused=letterbox.refused)
        receiver.start()
        try:
            with capture_logs() as logs:
                yield Post(gate, port, names, closed)
            faults = [one for one in logs if one["log_level"] in {"error", "critical"}]
            assert faults == []
        finally:
            receiver.stop()


def parts(depth: int) -> str:
    return "".join(
        f"--b{n}\r\nContent-Type: multipart/mixed; boundary=b{n + 1}\r\n\r\n" for n in range(depth)
    )


HOSTILE: dict[str, tuple[Callable[[Post], bytes], str]] = {
    "spoofed, not signed": (lambda p: p.written(), "no DKIM signature"),
    "spoofed, signed by another": (
        lambda p: signed(p.written(), "evil.example"),
        "evil.example is not the sender's domain",
    ),
    "spoofed by a second From": (
        lambda p: b"From: Boss <boss@corp.example>\r\n" + signed(p.written()),
        "more than one header from",
    ),
    "spoofed by a name": (
        lambda p: signed(p.written('"alice@corp.example" <m@evil.example>'), "corp.example"),
        "corp.example is not the sender's domain",
    ),
    "changed on the way": (
        lambda p: signed(p.written()).replace(b"It is me", b"It is I!"),
        "body hash mismatch",
    ),
    "signed in part": (lambda p: signed(p.written(), length=True), "only a part"),
    "to somebody else": (lambda p: signed(p.written(to="bob@corp.example")), "its To does not name"),
    "a reply": (lambda p: signed(p.written(In_Reply_To="<1@evil.example>")), "it is a reply"),
    "of a list": (lambda p: signed(p.written(List_Id="<all.corp.example>")), "mailing list"),
    "of a list with a way out": (
        lambda p: signed(p.written(List_Unsubscribe="<mailto:x@corp.example>")),
        "mailing list",
    ),
    "bulk": (lambda p: signed(p.written(Precedence="bulk")), "bulk"),
    "answered by itself": (
        lambda p: signed(p.written(Auto_Submitted="auto-replied")),
        "automatic answer",
    ),
    "made by a machine": (
        lambda p: signed(p.written(Auto_Submitted="auto-generated; by=cron")),
        "automatic answer",
    ),
    "out of office": (lambda p: signed(p.written(X_Autoreply="yes")), "automatic answer"),
    "by a machine's address": (
        lambda p: signed(p.written("no-reply@corp.example")),
        "machine's address",
    ),
    "old": (
        lambda p: signed(written(ALICE, p.to)).replace(b"Date: ", b"Date: Mon, 1 Jan 2024 00:00:00 +0000\r\nX: "),
        "its date is not of these days",
    ),
    "nested": (
        lambda p: p.written(body=parts(3_000)),
        "no DKIM signature",
    ),
    "of many parts": (
        lambda p: p.written(body="--b\r\nContent-Type: text/plain\r\n\r\nx\r\n" * 50_000),
        "no DKIM signature",
    ),
    "in a broken charset": (
        lambda p: b"From: =?utf-9?B?//8=?= <alice@corp.example>\r\nSubject: =?x?Q?=ZZ?=\r\n"
        b"To: " + p.to.encode() + b"\r\nContent-Type: text/plain; charset=\xff\r\n\r\n\xff\xfe\r\n",
        "its date is not of these days",
    ),
    "bytes": (lambda _: bytes(range(1, 10)) * 90, "exactly one address"),
    "nothing": (lambda _: b"", "exactly one address"),
    "one long header": (
        lambda _: b"From: a@b.example\r\n" + b"X-A: b\r\n" * 40_000 + b"\r\n",
        "headers are longer",
    ),
    "quoted without an end": (
        lambda _: b'From: "' + b'\\"' * 400 + b"\r\n\r\n",
        "exactly one address",
    ),
    "in brackets without an end": (
        lambda _: b"From: a@b.example\r\n" + b"To: " + b"(\r\n " * 9_000 + b"\r\n\r\n",
        "cannot be read",
    ),
    "a report of nothing of ours": (lambda p: bounce(p.to), "of no mail of ours"),
    "a receipt": (
        lambda p: signed(bounce(p.to, report="disposition-notification")),
        "bounce or from a machine's address",
    ),
    "a broken report": (
        lambda p: bounce(p.to, more="Action: " + "(" * 900 + "\r\n\r\n" + "\r\n" * 500_000),
        "of no mail of ours",
    ),
}  # fmt: skip


@pytest.fixture(name="all_sent")
def _all_sent(post: Post) -> dict[str, str]:
    """Every hostile mail, one after another; what came of each."""
    return {name: post.send(make(post)) for name, (make, _) in HOSTILE.items()}


def test_each_is_refused_with_a_reason_and_nothing_follows(
    post: Post, all_sent: dict[str, str]
) -> None:
    said = {name: why for name, (_, why) in HOSTILE.items() if why not in all_sent[name]}
    assert {name: all_sent[name] for name in said} == {}
    assert all(outcome.startswith("refused: ") for outcome in all_sent.values())
    # Each has a row of its own, nobody was answered, and nothing was proven or opened.
    gate = post.gate
    assert len(gate.sql("SELECT 1 FROM letters")) == len(HOSTILE)
    for table in ("mails", "proofs"):
        assert gate.sql(f"SELECT 1 FROM {table}") == []
    assert gate.box == []
    assert states(gate, post.closed) == ["closed", "closed"]
    # After all of it an honest one still counts, and only once.
    honest = signed(post.written())
    assert post.send(honest) == "proven"
    assert states(gate, post.closed) == ["open", "open"]
    post.send(honest)
    assert len(gate.sql("SELECT 1 FROM letters")) == len(HOSTILE) + 1
    assert "used already" in post.send(signed(post.written(subject="Once more")))


def test_somebody_elses_address_proves_them_and_not_whoever_writes(post: Post) -> None:
    """Mallory brings a mail of his own to the address that was shown to Alice: hers is proven by it,
    which is no gain of his, and only one time."""
    gate = post.gate
    gate.world.add_user("mallory")
    other = gate.proving.letter_token(standing(gate), account(gate, "mallory"), shared=False)
    raw = signed(post.written())  # Alice wrote to her own address
    assert "its To does not name" in post.send(raw, to=f"{other}@gate.example")
    assert "not one of ours" in post.send(
        signed(post.written(to="aaaa@gate.example")), to="aaaa@gate.example"
    )
    assert gate.sql("SELECT 1 FROM proofs") == []


def test_a_mail_of_ours_that_came_back_is_noted_over_smtp(post: Post) -> None:
    gate = post.gate
    mail = mailed(gate, "nobody@corp.example")
    [row] = gate.sql("SELECT id FROM mails")
    named = reference(row["id"], gate.proving.keyed)
    to = f"{PREFIX}{named}@gate.example"
    # A forged one, which knows no more than our domain.
    forged = f"{PREFIX}{row['id']}-{'f' * 20}@gate.example"
    assert "of no mail of ours" in post.send(bounce(forged), sender="", to=forged)
    assert "not that it failed" in post.send(bounce(to, action="delayed"), sender="", to=to)
    # An out-of-office answer goes to the envelope's sender too.
    away = signed(post.written(to=to, Auto_Submitted="auto-replied"))
    assert "automatic answer" in post.send(away, sender="", to=to)
    assert gate.sql("SELECT failure FROM mails")[0]["failure"] is None
    assert post.send(bounce(to), sender="", to=to) == "a mail of ours came back"
    assert gate.sql("SELECT failure FROM mails")[0]["failure"] == "bounced"
    assert gate.sql("SELECT 1 FROM proofs") == []
    assert len(gate.box) == 1
    assert confirm(gate, token_in(mail)) == ""


def test_by_our_message_id_where_the_envelope_says_nothing(post: Post) -> None:
    gate = post.gate
    mailed(gate, "nobody@corp.example")
    [row] = gate.sql("SELECT id FROM mails")
    ours = f"<{reference(row['id'], gate.proving.keyed)}@gate.example>"
    assert "of no mail of ours" in post.send(bounce(post.to, sent=make_msgid()), sender="")
    assert post.send(bounce(post.to, sent=ours), sender="") == "a mail of ours came back"


def test_thirty_megabytes_are_refused_as_they_come_and_noted(post: Post) -> None:
    with (
        smtplib.SMTP("127.0.0.1", post.port, timeout=30) as session,
        pytest.raises(smtplib.SMTPResponseException) as error,
    ):
        session.sendmail(ALICE, post.to, post.written() + b"x" * 78 + b"\r\n" * 15_000_000)
    assert error.value.smtp_code == 552
    said = smtplib.SMTP("127.0.0.1", post.port, timeout=30)
    said.ehlo()
    assert said.docmd("MAIL", f"FROM:<{ALICE}> SIZE=30000000")[0] == 552
    said.quit()
    outcomes = [row["outcome"] for row in post.gate.sql("SELECT outcome FROM letters")]
    assert outcomes == ["refused: it is larger than 5,000,000 bytes"] * 2
