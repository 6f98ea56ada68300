"""Appeals, brakes, undo in one go: through the whole gate, against the stand-in."""

from datetime import timedelta
from typing import Any

import pytest

from app.adapters.catalogues import words
from app.core.github import Account
from app.db import brakes, installations, undos
from app.db.undos import Scope
from app.flows import fairness, undo
from tests.flows.test_commands import labels, later, say, status

BURST = "version: 1\nmode: close\nrules: {burst: {mode: close, prs: 2, minutes: 10}}\n"
APPEALS = BURST + "appeals: {hours: 48, maintainers: [olivia, tom]}\n"
OLIVIA = Account(id=1, login="olivia")


def flood(gate: Any, by: str = "stranger", size: int = 2) -> list[int]:
    """A burst, closed."""
    if by not in gate.world.users:
        gate.world.add_user(by)
    numbers = [gate.world.open_pull(by=by, files=("src/a.py",)).number for _ in range(size)]
    gate.settle()
    return [int(n) for n in numbers]


def act(gate: Any, flow: Any, *given: Any) -> Any:
    """A flow that a page calls: in a transaction, and its rings heard."""
    here = gate.world.repository()
    with gate.database.begin() as tx:
        standing = installations.standing(tx, here.id)
        found = flow(tx, standing, *given)
    rings = found[1] if isinstance(found, tuple) else found
    for task, id_ in rings:
        gate.bell.ring(task, id_)
    gate.settle()
    return found


def appeal(gate: Any, number: int) -> Any:
    rows = gate.sql(
        "SELECT a.* FROM appeals a JOIN cases c ON c.id = a.case_id WHERE c.number = :n", n=number
    )
    return rows[-1] if rows else None


@pytest.fixture
def closed(gate: Any) -> int:
    gate.world.clock = gate.clock
    gate.policy(APPEALS)
    return flood(gate)[0]


def test_an_appeal_names_a_maintainer_in_turn_and_is_granted_by_a_reopen(
    gate: Any, closed: int
) -> None:
    say(gate, closed, "/pulse appeal I wrote it myself", by="stranger")
    row = appeal(gate, closed)
    assert (row["named"], row["words"]) == ("olivia", "I wrote it myself")
    assert row["deadline_at"] - row["at"] == timedelta(hours=48)
    assert "olivia is asked to answer it" in status(gate, closed)
    told = [c.body for c in gate.world.pull(closed).comments if c.body.startswith("@olivia")]
    assert len(told) == 1
    assert "/pulse reopen" in told[0]
    say(gate, closed, "/pulse appeal again", by="stranger")
    assert len([c for c in gate.world.pull(closed).comments if c.body.startswith("@")]) == 1
    say(gate, closed, "/pulse reopen", by="olivia")
    assert gate.world.pull(closed).state == "open"
    row = appeal(gate, closed)
    assert (row["outcome"], row["by_login"]) == ("granted", "olivia")
    second = flood(gate, by="newcomer")[0]
    say(gate, second, "/pulse appeal", by="newcomer")
    assert appeal(gate, second)["named"] == "tom"


def test_without_an_answer_it_is_opened_again_at_the_deadline(gate: Any, closed: int) -> None:
    say(gate, closed, "/pulse appeal", by="stranger")
    later(gate, hours=47)
    assert gate.world.pull(closed).state == "closed"
    later(gate, hours=2)
    assert gate.world.pull(closed).state == "open"
    assert appeal(gate, closed)["outcome"] == "lapsed"
    gate.world.push(closed, by="stranger")
    gate.settle()
    assert gate.world.pull(closed).state == "open"
    overturned = gate.sql("SELECT overturned_by FROM rule_acts WHERE overturned_at IS NOT NULL")
    assert [r["overturned_by"] for r in overturned] == ["nobody answered the appeal"]


def test_what_a_maintainer_declines_stays_closed(gate: Any, closed: int) -> None:
    say(gate, closed, "/pulse appeal", by="stranger")
    say(gate, closed, "/pulse close", by="tom")
    assert "it stays closed" in status(gate, closed)
    row = appeal(gate, closed)
    assert (row["outcome"], row["by_login"]) == ("declined", "tom")
    later(gate, hours=99)
    say(gate, closed, "/pulse reopen", by="stranger")
    say(gate, closed, "/pulse appeal once more", by="stranger")
    assert "answered the appeal already" in status(gate, closed)
    assert gate.world.pull(closed).state == "closed"
    say(gate, closed, "/pulse reopen", by="olivia")
    assert gate.world.pull(closed).state == "open"


def test_an_appeal_against_a_maintainers_close_never_lapses(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(APPEALS)
    number = gate.world.open_pull(by="stranger", files=("src/a.py",)).number
    gate.settle()
    say(gate, number, "/pulse close")
    assert gate.world.pull(number).state == "closed"
    say(gate, number, "/pulse appeal", by="stranger")
    assert "opened again" not in status(gate, number)
    later(gate, hours=99)
    assert gate.world.pull(number).state == "closed"
    assert appeal(gate, number)["outcome"] is None


def test_an_appeal_on_a_locked_conversation_runs_all_the_same(gate: Any, closed: int) -> None:
    """The author's comment came just before the lock: nothing can be written, but it counts."""
    gate.world.comment(closed, "/pulse appeal", by="stranger")
    gate.world.lock_pull(closed, by="olivia")
    gate.settle()
    assert appeal(gate, closed)["outcome"] is None
    later(gate, hours=49)
    assert gate.world.pull(closed).state == "open"


def test_too_many_closes_stop_the_gate_and_say_so(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(BURST + "breaker: {closes: 4, minutes: 60}\n")
    flood(gate, size=7)
    later(gate, minutes=2)
    states = [p.state for p in gate.world.repository().pulls.values()]
    assert states.count("closed") == 4
    [issue] = gate.world.repository().issues.values()
    assert issue.title == "Pulsegate stopped acting here"
    assert "until a maintainer lets it go on" in issue.body
    # Also what comes later only would have been closed.
    later(gate, minutes=20)
    flood(gate, by="newcomer", size=2)
    assert [p.state for p in gate.world.repository().pulls.values()].count("closed") == 4
    [on] = gate.sql("SELECT id FROM brakes WHERE ended_at IS NULL")
    act(gate, fairness.go_on, on["id"], OLIVIA, gate.clock())
    later(gate, minutes=2)
    assert [p.state for p in gate.world.repository().pulls.values()].count("closed") > 4


def test_it_tells_on_the_issue_that_is_set(gate: Any) -> None:
    gate.world.clock = gate.clock
    issue = gate.world.open_issue(by="olivia", title="Reports of the gate")
    gate.policy(BURST + f"breaker: {{closes: 3, minutes: 60}}\nreport: {{issue: {issue.number}}}\n")
    flood(gate, size=5)
    later(gate, minutes=2)
    assert [c.body for c in issue.comments if "records what it would do" in c.body]
    assert len(gate.world.repository().issues) == 1


def test_many_authors_stop_it_before_many_closes_do(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(BURST + "breaker: {closes: 100, share: 0.5, authors: 2}\n")
    flood(gate, by="stranger", size=5)
    later(gate, minutes=2)
    assert gate.sql("SELECT 1 FROM brakes") == []  # one author is one author
    flood(gate, by="newcomer", size=2)
    later(gate, minutes=2)
    [brake] = gate.sql("SELECT cause, of, out_of FROM brakes")
    assert brake["cause"] == "share"


def test_a_rule_that_is_overturned_too_often_observes_and_others_go_on(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(BURST + "overturned: {share: 0.4, least: 2, days: 30}\n")
    numbers = flood(gate, size=4)
    gate.world.reopen_pull(numbers[0], by="olivia")
    gate.settle()
    assert gate.sql("SELECT 1 FROM brakes") == []
    gate.world.reopen_pull(numbers[1], by="olivia")
    gate.settle()
    [brake] = gate.sql("SELECT rule, cause, of, out_of FROM brakes")
    assert (brake["rule"], brake["of"], brake["out_of"]) == ("burst", 2, 4)
    assert "burst" in next(iter(gate.world.repository().issues.values())).title
    later(gate, minutes=30)
    late = flood(gate, by="newcomer", size=2)
    assert gate.world.pull(late[0]).state == "open"


def test_undo_puts_all_back_but_what_a_maintainer_did(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(BURST)
    numbers = flood(gate, size=4)
    gate.world.comment(numbers[3], "/pulse hold because we talk", by="tom")
    gate.settle()
    scope = Scope(rule="burst", since=gate.clock() - timedelta(hours=1), until=gate.clock())
    with gate.database.begin() as tx:
        found = undos.within(tx, gate.world.repository().id, scope)
    assert [n for _, n in found] == numbers[:3]
    made, _ = act(gate, undo.undo, found, "burst", OLIVIA, words, gate.clock())
    for number in numbers[:3]:
        assert gate.world.pull(number).state == "open"
        assert labels(gate, number) == []
        assert "is taken back" in status(gate, number)
    assert gate.world.pull(numbers[3]).state == "closed"
    assert gate.sql("SELECT reason FROM hands WHERE act = 'held'")[0]["reason"] == "we talk"
    with gate.database.begin() as tx:
        taken = undos.result(tx, made)
    assert [(t.number, t.state, t.waits, t.problems) for t in taken] == [
        (n, "open", False, ()) for n in numbers[:3]
    ]
    act(gate, undo.take_back, made, OLIVIA, gate.clock())
    assert gate.state(numbers[0]) == "reopened"
    with gate.database.begin() as tx:
        again = undos.within(tx, gate.world.repository().id, scope)
    assert [n for _, n in again] == numbers[:3]


def test_undo_says_what_could_not_be_put_back(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(BURST)
    numbers = flood(gate, size=2)
    gate.github.fault("status", status=422, method="PATCH", path=f"/pulls/{numbers[0]}", times=None)
    scope = Scope(rule=None, since=gate.clock() - timedelta(hours=1), until=gate.clock())
    with gate.database.begin() as tx:
        found = undos.within(tx, gate.world.repository().id, scope)
    made, _ = act(gate, undo.undo, found, "all", OLIVIA, words, gate.clock())
    with gate.database.begin() as tx:
        first, second = undos.result(tx, made)
    assert first.state == "closed"
    assert first.problems
    assert (second.state, second.problems) == ("open", ())


def test_undo_while_the_flood_goes_on(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(BURST)
    numbers = flood(gate, size=3)
    scope = Scope(rule=None, since=gate.clock() - timedelta(hours=1), until=gate.clock())
    with gate.database.begin() as tx:
        found = undos.within(tx, gate.world.repository().id, scope)
    more = [gate.world.open_pull(by="stranger", files=("src/b.py",)).number for _ in range(2)]
    act(gate, undo.undo, found, "all", OLIVIA, words, gate.clock())
    assert [gate.world.pull(n).state for n in numbers] == ["open"] * 3
    assert [gate.world.pull(n).state for n in more] == ["closed"] * 2


def test_brakes_of_a_repository_are_listed_with_who_ended_them(gate: Any) -> None:
    gate.policy(BURST + "breaker: {closes: 3, minutes: 60}\n")
    flood(gate, size=4)
    here = gate.world.repository().id
    with gate.database.begin() as tx:
        [on] = brakes.on(tx, here)
    act(gate, fairness.go_on, on.id, OLIVIA, gate.clock())
    with gate.database.begin() as tx:
        assert brakes.on(tx, here) == ()
        [past] = brakes.past(tx, here)
    assert (past.ended_by_login, past.cause) == ("olivia", "closes")


def test_the_check_is_green_after_a_vouch(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(BURST.replace("mode: close", "mode: label", 1))
    number = flood(gate)[0]
    runs = gate.world.repository().checks
    head = gate.world.pull(number).head_sha
    assert [r.conclusion for r in runs if r.head_sha == head][-1] == "neutral"
    say(gate, number, "/pulse vouch @stranger")
    assert [r.conclusion for r in runs if r.head_sha == head][-1] == "success"


def test_an_author_who_blocked_the_organisation_is_never_closed_without_a_word(gate: Any) -> None:
    """GitHub refuses the comment then, so that the close does not happen either."""
    gate.world.clock = gate.clock
    gate.github.fault("status", status=403, method="POST", path="/comments", times=None)
    gate.policy(BURST)
    numbers = flood(gate)
    later(gate, hours=1)
    assert [gate.world.pull(n).state for n in numbers] == ["open", "open"]
    assert gate.acts(numbers[0])["close"] in {"dropped", "failed", "pending"}


def test_a_maintainer_who_reopens_ends_the_gates_say_and_a_stranger_does_not(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(BURST)
    numbers = flood(gate)
    gate.world.reopen_pull(numbers[0], by="olivia")
    gate.settle()
    for _ in range(2):
        gate.world.push(numbers[0], by="stranger")
        gate.settle()
    assert gate.state(numbers[0]) == "left_alone"
    assert labels(gate, numbers[0]) == ["needs-verification"]
    gate.world.pull(numbers[1]).state = "closed"
    gate.world.reopen_pull(
        numbers[1], by="newcomer" if "newcomer" in gate.world.users else "stranger"
    )
    gate.settle()
    assert gate.state(numbers[1]) != "left_alone"


ASKS = (
    "version: 1\nmode: close\nrules: {template: {mode: close, sections: [What]}}\n"
    "appeals: {hours: 48, maintainers: [olivia]}\n"
)


def test_an_unanswered_appeal_ends_what_rules_ask_of_an_open_one(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(ASKS)
    number = gate.world.open_pull(by="stranger", body="nothing").number
    gate.settle()
    say(gate, number, "/pulse appeal @everyone see [this](http://evil.example)", by="stranger")
    assert "olivia is asked to answer it until" in status(gate, number)
    assert "evil" not in status(gate, number)
    later(gate, hours=49)
    assert appeal(gate, number)["outcome"] == "lapsed"
    assert "appeal" not in status(gate, number)
    # Nor does a rule that would close at once go further than the label now.
    gate.policy(ASKS.replace("sections: [What]", "sections: [What], grace_hours: 0"))
    gate.reconcile.run(gate.world.installations[0].id)
    gate.world.push(number, by="stranger")
    gate.settle()
    later(gate, hours=100)
    assert gate.world.pull(number).state == "open"
    assert labels(gate, number) == ["needs-verification"]


def test_a_denial_closes_after_an_appeal_that_nobody_answered(gate: Any) -> None:
    """A person's word is undone by a person only."""
    gate.world.clock = gate.clock
    gate.policy(ASKS)
    number = gate.world.open_pull(by="stranger", body="nothing").number
    gate.settle()
    say(gate, number, "/pulse appeal", by="stranger")
    say(gate, number, "/pulse deny @stranger")
    assert gate.world.pull(number).state == "open"
    later(gate, hours=49)
    assert gate.world.pull(number).state == "closed"
    assert appeal(gate, number)["outcome"] is None


def test_only_who_may_answer_an_appeal_is_named(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.world.add_user("friend")
    names = "[friend, stranger, nobody-there, tom]"
    gate.policy(BURST + f"appeals: {{hours: 48, maintainers: {names}}}\n")
    first, second = flood(gate)
    say(gate, first, "/pulse appeal", by="stranger")
    assert appeal(gate, first)["named"] == "tom"
    gate.policy(BURST + "appeals: {hours: 48, maintainers: [friend]}\n")
    gate.reconcile.run(gate.world.installations[0].id)
    say(gate, second, "/pulse appeal", by="stranger")
    assert appeal(gate, second)["named"] is None
    assert "Without an answer by a maintainer" in status(gate, second)


@pytest.mark.parametrize(
    ("words", "by", "outcome"),
    [("/pulse reopen", "stranger", "moot"), ("/pulse vouch @stranger", "olivia", "granted")],
)
def test_an_appeal_ends_with_what_it_was_about(
    gate: Any, closed: int, words: str, by: str, outcome: str
) -> None:
    say(gate, closed, "/pulse appeal", by="stranger")
    say(gate, closed, words, by=by)
    assert appeal(gate, closed)["outcome"] == outcome
    assert "appeal" not in status(gate, closed)
    later(gate, hours=60)
    assert gate.world.pull(closed).state == "open"
    taken = gate.sql("SELECT 1 FROM rule_acts WHERE overturned_by LIKE 'nobody%'")
    assert taken == []


def test_an_answer_to_a_command_stands_no_longer_than_it_is_so(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy("version: 1\nmode: close\nrules: {cap: {mode: close, open: 1}}\n")
    gate.world.open_pull(by="stranger")
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    say(gate, number, "/pulse vouch @stranger for 1d")
    assert "tom vouches for stranger" in status(gate, number)
    later(gate, hours=25)
    assert gate.state(number) == "flagged"
    assert "vouches" not in status(gate, number)
