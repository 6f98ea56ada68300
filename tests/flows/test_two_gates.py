"""Another gate on the same repository, and other bots: neither fought with nor taken for a person."""

from typing import Any

import pytest

CLOSE = "version: 1\nmode: close\nrules: {burst: {mode: close, prs: 2, minutes: 10}}\n"


@pytest.fixture
def other(gate: Any) -> str:
    """The login of another gate's App."""
    gate.world.clock = gate.clock
    gate.policy(CLOSE)
    app = gate.world.add_app("acme", "Another gate")
    return str(app.bot.login)


def _flood(gate: Any) -> list[int]:
    return [gate.world.open_pull(by="stranger", title=f"Part {n}").number for n in range(2)]


def test_what_the_other_one_closed_stays_closed_and_is_not_ours_to_open(
    gate: Any, other: str
) -> None:
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    gate.world.close_pull(number, by=other)
    gate.settle()
    assert gate.state(number) == "ended"
    gate.world.comment(number, "/pulse reopen", by="stranger")
    gate.settle()
    assert gate.world.pull(number).state == "closed"


def test_what_the_other_one_opens_again_is_not_closed_a_second_time(gate: Any, other: str) -> None:
    numbers = _flood(gate)
    gate.settle()
    assert gate.world.pull(numbers[0]).state == "closed"
    gate.clock.pass_(seconds=5)
    gate.world.reopen_pull(numbers[0], by=other)
    gate.settle()
    gate.world.push(numbers[0], by="stranger")
    gate.settle()
    assert gate.world.pull(numbers[0]).state == "open"


def test_both_close_at_once_and_each_says_so_once(gate: Any, other: str) -> None:
    numbers = _flood(gate)
    gate.only_decide()
    gate.world.close_pull(numbers[0], by=other)
    gate.clock.pass_(seconds=10)
    gate.sweep.ring()
    gate.settle()
    pull = gate.world.pull(numbers[0])
    assert pull.state == "closed"
    assert len([c for c in pull.comments if "/pulse reopen" in c.body]) <= 1
    assert gate.acts(numbers[0])["close"] == "dropped"


def test_its_labels_comments_and_commands_are_nobodys_hand(gate: Any, other: str) -> None:
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    gate.world.label(number, "needs-verification", by=other)
    gate.world.comment(number, "/pulse exempt", by=other)
    gate.world.comment(number, "/pulse close", by="renovate[bot]")
    gate.settle()
    assert gate.state(number) == "clear"
    assert gate.sql("SELECT id FROM hands") == []


def test_two_gates_do_not_answer_each_other_for_ever(gate: Any, other: str) -> None:
    numbers = _flood(gate)
    gate.settle()
    for turn in range(4):
        gate.clock.pass_(minutes=1)
        gate.world.reopen_pull(numbers[0], by=other)
        gate.settle()
        gate.world.comment(numbers[0], f"Opened again, turn {turn}.", by=other)
        gate.settle()
        if gate.world.pull(numbers[0]).state == "open":
            break
    ours = [c for c in gate.world.pull(numbers[0]).comments if c.app and c.app.slug == "pulsegate"]
    assert len(ours) <= 3
    assert gate.world.pull(numbers[0]).state == "open"


def test_a_hold_is_given_back_to_the_rules_by_a_persons_word(gate: Any, other: str) -> None:
    numbers = _flood(gate)
    gate.only_decide()
    gate.world.comment(numbers[0], "/pulse hold", by="tom")
    gate.settle()
    assert gate.state(numbers[0]) == "left_alone"
    gate.clock.pass_(seconds=5)
    gate.world.comment(numbers[0], "/pulse verify", by="tom")
    gate.settle()
    assert gate.state(numbers[0]) in {"flagged", "closed"}


def test_what_a_maintainer_had_closed_and_the_other_one_opened_is_not_closed_again(
    gate: Any, other: str
) -> None:
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    for turn in range(3):
        gate.clock.pass_(seconds=5)
        if not turn:
            gate.world.comment(number, "/pulse close", by="tom")
            gate.settle()
            assert gate.world.pull(number).state == "closed"
        gate.world.reopen_pull(number, by=other)
        gate.settle()
        gate.world.push(number, by="stranger")
        gate.settle()
        assert gate.world.pull(number).state == "open"
    # A second word of a maintainer is another order.
    gate.clock.pass_(seconds=5)
    gate.world.comment(number, "/pulse close", by="tom")
    gate.settle()
    assert gate.world.pull(number).state == "closed"
