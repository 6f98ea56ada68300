"""Campaigns: floods over several accounts, decided on at once."""

from typing import Any

import pytest

from app.adapters.catalogues import words
from app.core.github import Account
from app.db import campaigns
from app.flows import campaigns as flow
from tests.flows.test_commands import labels, later, say
from tests.flows.test_due_process import act
from tests.flows.test_proving import confirm, mailed, token_in

OLIVIA = Account(id=1, login="olivia")
OBSERVE = "version: 1\nmode: observe\n"
BODY = (
    "This change improves the error handling of the request parser and adds robust validation of "
    "all inputs, so that malformed requests from client number {n} are answered with a clear message."
)


def similar(gate: Any, logins: list[str], body: str = BODY) -> list[int]:
    """Nearly the same pull request by each of these accounts, a minute apart."""
    numbers = []
    for n, login in enumerate(logins):
        if login not in gate.world.users:
            gate.world.add_user(login)
        gate.clock.pass_(minutes=1)
        made = gate.world.open_pull(
            by=login, title="Improve error handling", body=body.format(n=n), files=(f"src/{n}.py",)
        )
        numbers.append(int(made.number))
    gate.settle()
    return numbers


def campaign_of(gate: Any, number: int) -> int | None:
    rows = gate.sql(
        "SELECT campaign_id FROM campaign_members m JOIN cases c ON c.id = m.case_id"
        " WHERE c.number = :n",
        n=number,
    )
    return rows[0]["campaign_id"] if rows else None


def decide(gate: Any, campaign: int, order: str, named: tuple[int, ...] = ()) -> None:
    ids = [r["id"] for r in gate.sql("SELECT id FROM cases WHERE number = ANY(:n)", n=list(named))]
    act(gate, flow.order, campaign, order, ids, "", OLIVIA, words, gate.clock())


def states(gate: Any, numbers: list[int]) -> list[str]:
    return [gate.world.pull(n).state for n in numbers]


@pytest.fixture
def victim(gate: Any) -> list[int]:
    """A person's pull request, and three accounts that copied it."""
    gate.world.clock = gate.clock
    gate.policy(OBSERVE)
    return similar(gate, ["person", "copy-1", "copy-2", "copy-3"])


def test_near_duplicates_by_several_accounts_are_one_campaign(gate: Any, victim: list[int]) -> None:
    found = {campaign_of(gate, n) for n in victim}
    assert len(found) == 1
    assert None not in found
    other = gate.world.open_pull(
        by="stranger", title="Say which port is taken", body="The message named no port at all."
    ).number
    gate.settle()
    assert campaign_of(gate, other) is None


def test_two_are_no_flood(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(OBSERVE)
    assert [campaign_of(gate, n) for n in similar(gate, ["one", "two"])] == [None, None]


def test_who_is_copied_cannot_be_closed_by_it(gate: Any, victim: list[int]) -> None:
    campaign = campaign_of(gate, victim[0])
    decide(gate, campaign, "close")
    assert states(gate, victim) == ["open", "closed", "closed", "closed"]
    assert labels(gate, victim[0]) == []
    # One that comes later meets the same.
    [late] = similar(gate, ["copy-4"])
    assert states(gate, [late]) == ["closed"]
    act(gate, flow.take_back, campaign, OLIVIA, gate.clock())
    assert states(gate, [*victim, late]) == ["open"] * 5
    assert [labels(gate, n) for n in victim] == [[]] * 4


def test_who_is_named_one_by_one_is_not_spared(gate: Any, victim: list[int]) -> None:
    decide(gate, campaign_of(gate, victim[0]), "close", named=(victim[0],))
    assert states(gate, victim) == ["closed"] * 4


def test_it_can_be_only_labelled_or_asked(gate: Any, victim: list[int]) -> None:
    campaign = campaign_of(gate, victim[0])
    decide(gate, campaign, "label")
    assert [labels(gate, n) for n in victim] == [[]] + [["needs-verification"]] * 3
    decide(gate, campaign, "ask")
    assert all(gate.world.pull(n).comments for n in victim[1:])
    assert states(gate, victim) == ["open"] * 4
    act(gate, flow.take_back, campaign, OLIVIA, gate.clock())
    assert [labels(gate, n) for n in victim] == [[]] * 4


def test_the_team_and_whom_it_vouches_for_stay_out(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(OBSERVE)
    numbers = similar(gate, ["first", "copy-1", "tom", "copy-2", "friend"])
    say(gate, numbers[4], "/pulse vouch @friend", by="tom")
    decide(gate, campaign_of(gate, numbers[1]), "close")
    assert states(gate, numbers) == ["open", "closed", "open", "closed", "open"]


def test_whom_somebody_vouched_for_can_be_named_one_by_one(gate: Any, victim: list[int]) -> None:
    say(gate, victim[1], "/pulse vouch @copy-1", by="tom")
    campaign = campaign_of(gate, victim[0])
    decide(gate, campaign, "close")
    assert states(gate, victim) == ["open", "open", "closed", "closed"]
    decide(gate, campaign, "close", named=(victim[1],))
    assert states(gate, victim) == ["open", "closed", "closed", "closed"]
    act(gate, flow.take_back, campaign, OLIVIA, gate.clock())
    assert states(gate, victim) == ["open"] * 4


def test_a_vouch_while_another_worker_is_closing(gate: Any, victim: list[int]) -> None:
    campaign = campaign_of(gate, victim[0])
    with gate.database.begin() as tx:
        from app.db import installations

        standing = installations.standing(tx, gate.world.repository().id)
        rings = flow.order(tx, standing, campaign, "close", [], "", OLIVIA, words, gate.clock())
    for task, id_ in rings:
        gate.bell.ring(task, id_)
    gate.only_decide()
    gate.world.comment(victim[1], "/pulse vouch @copy-1", by="tom")
    gate.settle()
    later(gate, minutes=2)
    assert states(gate, victim) == ["open", "open", "closed", "closed"]


def test_reopen_all_leaves_them_alone(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy("version: 1\nmode: close\nrules: {burst: {mode: close, prs: 2, minutes: 10}}\n")
    numbers = [gate.world.open_pull(by="stranger", files=("a.py",)).number for _ in range(3)]
    gate.settle()
    assert states(gate, numbers) == ["closed"] * 3
    campaign = campaign_of(gate, numbers[0])
    assert campaign is not None
    decide(gate, campaign, "reopen")
    assert states(gate, numbers) == ["open"] * 3
    gate.world.push(numbers[0], by="stranger")
    gate.settle()
    assert states(gate, numbers) == ["open"] * 3


def test_an_author_appeals_against_it_and_only_a_person_decides(
    gate: Any, victim: list[int]
) -> None:
    decide(gate, campaign_of(gate, victim[0]), "close")
    say(gate, victim[1], "/pulse reopen", by="copy-1")
    assert states(gate, victim)[1] == "closed"
    say(gate, victim[1], "/pulse appeal mine is another", by="copy-1")
    say(gate, victim[1], "/pulse reopen", by="tom")
    assert states(gate, victim)[1] == "open"


def test_floods_that_find_each_other_become_one(gate: Any) -> None:
    """Bursts of two accounts that turn out to be the same work."""
    gate.world.clock = gate.clock
    gate.policy("version: 1\nmode: observe\nrules: {burst: {prs: 2, minutes: 10}}\n")
    one = similar(gate, ["first", "first"])
    two = similar(gate, ["second", "second"])
    assert len({campaign_of(gate, n) for n in [*one, *two]}) == 1
    with gate.database.begin() as tx:
        found = campaigns.get(tx, campaign_of(gate, one[0]))
    assert (found.kind, found.author_id) == ("similar", None)
    assert len(gate.sql("SELECT 1 FROM campaigns")) == 1


def test_sketches_are_forgotten_once_nothing_is_compared_with_them(
    gate: Any, victim: list[int]
) -> None:
    gate.sweep.forget()
    assert len(gate.sql("SELECT 1 FROM likenesses")) == len(victim)
    gate.clock.pass_(days=91)
    gate.sweep.forget()
    assert gate.sql("SELECT 1 FROM likenesses") == []


def _prove(gate: Any, login: str) -> None:
    assert confirm(gate, token_in(mailed(gate, f"{login}@{login}.example", login)), login) == ""


def test_who_has_shown_that_somebody_is_there_stays_out(gate: Any, victim: list[int]) -> None:
    _prove(gate, "copy-1")
    campaign = campaign_of(gate, victim[0])
    decide(gate, campaign, "close")
    assert states(gate, victim) == ["open", "open", "closed", "closed"]
    # A proof that comes later is no answer to what a person decided about this one.
    _prove(gate, "copy-2")
    assert states(gate, victim) == ["open", "open", "closed", "closed"]
    # But somebody known to be there is not met by what was decided before they came.
    gate.world.add_user("copy-9")
    _prove(gate, "copy-9")
    [late] = similar(gate, ["copy-9"])
    assert states(gate, [late]) == ["open"]
    # Decided anew, it meets whom a person names, and spares who is proven by then.
    decide(gate, campaign, "close", named=(victim[1],))
    assert states(gate, victim) == ["open", "closed", "open", "closed"]


def test_one_accounts_flood_is_nobodys_copy_and_proof_or_not_it_is_met(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(OBSERVE + "rules: {burst: {mode: observe, prs: 2}}\n")
    gate.world.add_user("prover")
    gate.world.open_pull(by="stranger")
    gate.settle()
    _prove(gate, "prover")
    gate.clock.pass_(hours=1)
    numbers = [gate.world.open_pull(by="prover", files=("a.py",)).number for _ in range(3)]
    gate.settle()
    decide(gate, campaign_of(gate, numbers[0]), "close")
    assert states(gate, numbers) == ["closed"] * 3


def test_reopen_all_leaves_out_nobody_whom_a_rule_closed(gate: Any) -> None:
    """Who is spared a bad end is not spared a good one."""
    gate.world.clock = gate.clock
    gate.policy("version: 1\nmode: close\nrules: {cap: {mode: close, open: 1, grace_hours: 0}}\n")
    for login in ("one", "two", "three"):
        gate.world.add_user(login)
        gate.world.open_pull(by=login, title=f"Other {login}", body="Another thing entirely.")
    numbers = similar(gate, ["one", "two", "three"])
    assert states(gate, numbers) == ["closed"] * 3
    decide(gate, campaign_of(gate, numbers[0]), "reopen")
    assert states(gate, numbers) == ["open"] * 3
