"""A challenge through the whole gate: asked, answered, expired, proven; whatever dies in between."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from app.adapters.models import latency_bands
from app.core.proofs.latency import pace
from app.core.queueing import Tier
from app.db import challenges, reports
from app.db.queue_report import queue
from app.db.reports import Wanted
from tests.flows.test_commands import later, say, status
from tests.flows.test_proving import confirm, mailed, token_in

POLICY = (
    "version: 1\nmode: close\nladder: {grace_hours: 24}\n"
    "rules: {burst: {mode: off}, asked_for: {mode: close}}\n"
)
PATCH = {"src/pool.py": "@@ -1,2 +1,2 @@\n-timeout = 30\n+timeout = 45"}
QUESTION = "How did you come to 45, and what changes when you run it?"


def opened(gate: Any, policy: str = POLICY) -> int:
    gate.world.clock = gate.clock
    gate.policy(policy)
    number = int(gate.world.open_pull(by="stranger", patches=PATCH).number)
    gate.settle()
    return number


@pytest.fixture
def number(gate: Any) -> int:
    """A pull request whose author a maintainer wants to hear of."""
    made = opened(gate)
    say(gate, made, "/pulse verify")
    return made


def state(gate: Any, number: int) -> str:
    rows = gate.sql(
        "SELECT h.state FROM challenges h JOIN cases c ON c.id = h.case_id WHERE c.number = :n",
        n=number,
    )
    return str(rows[0]["state"]) if rows else "not_asked"


def readings(gate: Any, number: int) -> Any:
    with gate.database.begin() as tx:
        (row,) = gate.sql("SELECT id FROM cases WHERE number = :n", n=number)
        return challenges.of_case(tx, row["id"])


def questions(gate: Any, number: int) -> list[str]:
    return [c.body for c in gate.world.pull(number).comments if "Is somebody there?" in c.body]


def test_one_question_about_the_change_in_the_comment_that_asks(gate: Any, number: int) -> None:
    (question,) = questions(gate, number)
    assert QUESTION in question
    assert "src/pool.py" in question
    assert state(gate, number) == "asked"
    gate.clock.pass_(minutes=3)
    gate.world.comment(number, "Above 45 the proxy gives up first.", by="stranger")
    gate.settle()
    assert state(gate, number) == "answered"
    (reading,) = readings(gate, number)
    assert reading.touches == "touches"
    assert timedelta(minutes=3) <= reading.latency < timedelta(minutes=4)
    # A follow-up is read for its time alone.
    gate.world.comment(number, "And with TLS?", by="tom")
    gate.clock.pass_(minutes=5)
    gate.world.comment(number, "The same.", by="stranger")
    gate.world.comment(number, "I tried both.", by="stranger")
    gate.settle()
    assert [r.touches for r in readings(gate, number)] == ["touches", None]
    found = pace(challenges.latencies(readings(gate, number)), latency_bands())
    assert (found.kind, found.answers) == ("unknown", 2)
    later(gate, hours=200)
    assert gate.world.pull(number).state == "open"


def test_an_answer_in_other_words_stops_every_clock_too(gate: Any, number: int) -> None:
    gate.world.comment(number, "Great question, done!", by="stranger")
    gate.settle()
    assert readings(gate, number)[0].touches == "unclear"
    later(gate, hours=200)
    assert (gate.world.pull(number).state, state(gate, number)) == ("open", "answered")


@pytest.mark.parametrize("kind", [{"status": 502}, {"status": 404}, {"status": 403}])
def test_where_no_diff_is_shown_it_is_asked_without(gate: Any, kind: dict[str, int]) -> None:
    number = opened(gate)
    gate.github.fault("status", method="GET", path="/files$", times=9, **kind)
    say(gate, number, "/pulse verify")
    (question,) = questions(gate, number)
    assert QUESTION not in question


def test_whoever_wants_no_such_question_gets_none_and_reads_nothing(gate: Any) -> None:
    number = opened(gate, POLICY.replace("grace_hours: 24", "grace_hours: 24, probe: false"))
    say(gate, number, "/pulse verify")
    (question,) = questions(gate, number)
    assert QUESTION not in question
    assert not any(r.path.endswith("/files") for r in gate.github.requests)


def test_it_is_asked_in_the_language_of_the_repository(gate: Any) -> None:
    number = opened(gate, POLICY + "language: zh-CN\n")
    say(gate, number, "/pulse verify")
    assert any("从 30 改为 45" in c.body for c in gate.world.pull(number).comments)


def test_nothing_follows_before_the_window_ended_and_late_words_still_count(
    gate: Any, number: int
) -> None:
    later(gate, hours=23, minutes=59)
    assert (gate.world.pull(number).state, state(gate, number)) == ("open", "asked")
    later(gate, minutes=2)
    assert (gate.world.pull(number).state, state(gate, number)) == ("closed", "expired")
    say(gate, number, "/pulse reopen", by="stranger")
    assert (gate.world.pull(number).state, state(gate, number)) == ("open", "answered")
    later(gate, hours=200)
    assert gate.world.pull(number).state == "open"


@pytest.mark.parametrize(
    ("order", "answered", "then"),
    [
        ("/pulse hold", False, "waived"),
        ("/pulse exempt", False, "waived"),
        ("/pulse vouch @stranger", False, "waived"),
        ("/pulse exempt", True, "verified"),
        ("/pulse vouch @stranger", True, "verified"),
        ("/pulse close", True, "failed"),
    ],
)
def test_what_maintainers_say_of_it(
    gate: Any, number: int, order: str, answered: bool, then: str
) -> None:
    if answered:
        say(gate, number, "I tried 45 and 60.", by="stranger")
    say(gate, number, order)
    assert state(gate, number) == then


def test_a_proof_verifies_and_ends_with_its_time(gate: Any, number: int) -> None:
    assert confirm(gate, token_in(mailed(gate, "ada@free.example"))) == ""
    assert state(gate, number) == "verified"
    later(gate, days=181)
    assert state(gate, number) != "verified"


def test_status_says_where_it_stands(gate: Any, number: int) -> None:
    say(gate, number, "/pulse status")
    (row,) = gate.sql("SELECT challenge->>'due_at' AS at FROM challenges")
    ends = datetime.fromisoformat(row["at"])
    said = status(gate, number).replace("\\-", "-").replace("\u2060", "")
    assert f"has until {ends:%Y-%m-%d %H:%M} (UTC) to answer" in said
    say(gate, number, "/pulse status", by="stranger")
    assert "Its author answered; a maintainer will look at it." in status(gate, number)


def test_who_is_verified_stands_first_in_the_queue(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy("version: 1\nmode: ask\nrules: {burst: {mode: off}}\n")
    numbers = []
    for who in ("ann", "bob", "cat"):
        gate.world.add_user(who)
        numbers.append(int(gate.world.open_pull(by=who).number))
        gate.settle()
        gate.clock.pass_(minutes=1)
    assert confirm(gate, token_in(mailed(gate, "bob@bob.example", "bob")), "bob") == ""
    assert state(gate, numbers[1]) == "verified"
    with gate.database.begin() as tx:
        place = reports.place_named(tx, "acme", "widgets", live_first=True)
        assert place is not None
        queued = queue(tx, Wanted([place]), None, limit=9)
    assert [(q.line.number, q.key.tier) for q in queued][:1] == [(numbers[1], Tier.PROVEN)]
    assert {q.key.tier for q in queued[1:]} == {Tier.UNKNOWN}


@pytest.mark.parametrize("answers", [False, True])
@pytest.mark.parametrize("dies", ["before", "unseen", "unrecorded"])
def test_whatever_dies_while_it_is_asked_it_is_asked_once_and_no_answer_is_lost(
    gate: Any, monkeypatch: pytest.MonkeyPatch, dies: str, answers: bool
) -> None:
    number = opened(gate)
    gate.world.comment(number, "/pulse verify", by="tom")
    if dies == "unseen":  # written, and the answer of GitHub never came
        gate.github.fault("drop_after", method="POST", body="Is somebody there")
    real = challenges.asked

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    if dies == "before":
        gate.only_decide()
    elif dies == "unrecorded":  # written, and the process died before it was recorded
        monkeypatch.setattr(challenges, "asked", killed)
        with pytest.raises(KeyboardInterrupt):
            gate.settle()
        monkeypatch.setattr(challenges, "asked", real)
    else:
        gate.settle()
    assert state(gate, number) == "not_asked"
    if answers and dies != "before":
        gate.clock.pass_(seconds=30)
        gate.world.comment(number, "Above 45 the proxy gives up.", by="stranger")
        gate.deliver()
    gate.bell.rings.clear()
    for _ in range(4):
        later(gate, minutes=10)
    assert len(questions(gate, number)) == 1
    there = answers and dies != "before"
    assert state(gate, number) == ("answered" if there else "asked")
    later(gate, hours=25)
    assert gate.world.pull(number).state == ("open" if there else "closed")
