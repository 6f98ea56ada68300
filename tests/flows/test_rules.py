"""The rules through the whole gate: what they do, what frees again, and what they cost."""

from datetime import timedelta
from typing import Any

import pytest

ISSUE = "version: 1\nmode: close\nrules: {accepted_issue: {mode: close, grace_hours: 0}}\n"
CAP = "version: 1\nmode: close\nrules: {burst: {mode: off}, cap: {mode: close, open: 2, grace_hours: 0}}\n"
SAME = "version: 1\nmode: ask\nrules: {same_issue: {mode: ask}}\n"
CODE = ("src/engine.py",)


def _open(gate: Any, count: int, **more: Any) -> list[int]:
    made = []
    for n in range(count):
        gate.clock.pass_(seconds=1)
        made.append(gate.world.open_pull(by="stranger", title=f"Part {n}", **more).number)
    return made


def _later(gate: Any, **by: float) -> None:
    gate.clock.pass_(**by)
    gate.sweep.ring()
    gate.settle()


def _states(gate: Any, numbers: list[int]) -> list[str]:
    return [gate.world.pull(n).state for n in numbers]


@pytest.mark.parametrize("how", ["label", "assign"])
def test_without_an_accepted_issue_it_is_closed_and_opened_again_once_it_is_accepted(
    gate: Any, how: str
) -> None:
    gate.policy(ISSUE)
    issue = gate.world.open_issue(by="wendy").number
    (number,) = _open(gate, 1, files=CODE, closes=[issue])
    gate.settle()
    pull = gate.world.pull(number)
    assert pull.state == "closed"
    assert "no issue that was accepted" in pull.comments[-1].body
    if how == "label":
        gate.world.label_issue(issue, "Accepted", by="tom")
    else:
        gate.world.assign_issue(issue, "stranger", by="tom")
    gate.settle()
    assert gate.world.pull(number).state == "open"
    assert gate.state(number) == "reopened"
    # It is not closed a second time, whatever becomes of the issue.
    gate.world.repository("acme/widgets").issues[issue].labels.clear()
    gate.world.repository("acme/widgets").issues[issue].assignees.clear()
    gate.world.label_issue(issue, "wontfix", by="tom")
    gate.settle()
    assert gate.world.pull(number).state == "open"


def test_a_link_by_the_side_bar_is_found_although_nobody_tells_of_it(gate: Any) -> None:
    gate.policy(ISSUE)
    issue = gate.world.open_issue(by="wendy").number
    gate.world.label_issue(issue, "help wanted", by="tom")
    (number,) = _open(gate, 1, files=CODE)
    gate.settle()
    assert gate.world.pull(number).state == "closed"
    gate.world.link(number, issue)
    _later(gate, hours=7)
    assert gate.world.pull(number).state == "open"


def test_the_body_that_links_the_issue_is_enough(gate: Any) -> None:
    gate.policy(ISSUE)
    issue = gate.world.open_issue(by="wendy").number
    gate.world.label_issue(issue, "accepted", by="tom")
    (number,) = _open(gate, 1, files=CODE)
    gate.settle()
    gate.world.link(number, issue)
    gate.world.edit_pull(number, by="stranger", body=f"Fixes #{issue}")
    gate.settle()
    assert gate.world.pull(number).state == "open"


def test_what_a_maintainer_closed_since_stays_closed(gate: Any) -> None:
    gate.policy(ISSUE)
    issue = gate.world.open_issue(by="wendy").number
    (number,) = _open(gate, 1, files=CODE, closes=[issue])
    gate.settle()
    gate.world.reopen_pull(number, by="tom")
    gate.settle()
    gate.world.close_pull(number, by="tom")
    gate.settle()
    gate.world.label_issue(issue, "accepted", by="tom")
    gate.settle()
    assert gate.world.pull(number).state == "closed"


def test_an_issue_that_github_does_not_show_is_none_of_this_repository(gate: Any) -> None:
    gate.policy(ISSUE)
    issue = gate.world.open_issue(by="wendy").number
    gate.world.repository("acme/widgets").issues[issue].hidden = True
    (number,) = _open(gate, 1, files=CODE, closes=[issue])
    gate.settle()
    assert gate.state(number) in {"flagged", "closed"}


@pytest.mark.parametrize("fault", [{"status": 502}, {"status": 403}, {"status": 404}])
def test_where_github_does_not_show_the_change_nothing_is_found_until_it_does(
    gate: Any, fault: dict[str, int]
) -> None:
    gate.policy(ISSUE)
    gate.github.fault("status", method="POST", path="/graphql$", times=3, **fault)
    (number,) = _open(gate, 1, files=CODE)
    gate.settle()
    assert gate.state(number) == "clear"
    assert gate.world.pull(number).state == "open"
    gate.github.faults.clear()
    _later(gate, minutes=16)
    # Where there is no GraphQL at all, it is not asked for again and again.
    assert gate.world.pull(number).state == ("open" if fault["status"] == 404 else "closed")


def test_what_was_found_stays_found_while_github_does_not_answer(gate: Any) -> None:
    gate.policy(ISSUE.replace("grace_hours: 0", "grace_hours: 24"))
    (number,) = _open(gate, 1, files=CODE)
    gate.settle()
    assert gate.state(number) == "flagged"
    gate.github.fault("status", status=502, method="POST", path="/graphql$", times=99)
    gate.world.edit_pull(number, by="stranger", title="Another title")
    gate.settle()
    assert gate.state(number) == "flagged"
    assert [label.name for label in gate.world.pull(number).labels] == ["needs-verification"]


def test_the_cap_lets_so_many_in_and_the_next_one_when_a_place_is_free(gate: Any) -> None:
    gate.policy(CAP)
    numbers = _open(gate, 4)
    gate.settle()
    assert _states(gate, numbers) == ["open", "open", "closed", "closed"]
    gate.world.close_pull(numbers[0], by="stranger")
    gate.settle()
    assert _states(gate, numbers) == ["closed", "open", "open", "closed"]
    gate.world.merge_pull(numbers[1], by="wendy")
    gate.settle()
    # Whoever had one merged is no newcomer any more.
    assert _states(gate, numbers) == ["closed", "closed", "open", "open"]


@pytest.mark.parametrize("order", [lambda d: d, lambda d: d[::-1]])
def test_the_earliest_keep_their_places_in_whatever_order_they_are_heard_of(
    gate: Any, order: Any
) -> None:
    gate.policy(CAP)
    numbers = _open(gate, 4)
    gate.deliver(order=order)
    gate.work()
    gate.settle()
    assert _states(gate, numbers) == ["open", "open", "closed", "closed"]


def test_a_draft_that_becomes_ready_takes_the_last_place(gate: Any) -> None:
    gate.policy(CAP.replace("open: 2", "open: 2, drafts: false"))
    draft = _open(gate, 1, draft=True)
    numbers = _open(gate, 2)
    gate.settle()
    assert _states(gate, draft + numbers) == ["open"] * 3
    gate.world.set_draft(draft[0], False, by="stranger")
    gate.settle()
    assert _states(gate, draft + numbers) == ["closed", "open", "open"]
    gate.world.set_draft(draft[0], True, by="stranger")
    gate.settle()
    assert _states(gate, draft + numbers) == ["open", "open", "open"]


def test_the_first_good_one_for_an_issue_is_kept_and_the_rest_are_asked(gate: Any) -> None:
    gate.policy(SAME)
    gate.world.add_user("newcomer")
    issue = gate.world.open_issue(by="wendy").number
    first = gate.world.open_pull(by="stranger", title="One", closes=[issue]).number
    gate.clock.pass_(seconds=2)
    second = gate.world.open_pull(by="newcomer", title="Two", closes=[issue]).number
    gate.settle()
    assert gate.state(first) == "clear"
    asked = [c.body for c in gate.world.pull(second).comments]
    assert any(f"#\u2060{first}" in body or f"#{first}" in body for body in asked)
    gate.world.close_pull(first, by="stranger")
    gate.settle()
    assert gate.state(second) == "clear"
    assert gate.world.pull(second).labels == []


def test_a_pause_ends_by_itself(gate: Any) -> None:
    now = gate.clock()
    start, until = (now - timedelta(hours=1)).isoformat(), (now + timedelta(hours=5)).isoformat()
    gate.policy(
        f"version: 1\nmode: close\nrules: {{pause: {{start: '{start}', until: '{until}'}}}}\n"
    )
    (number,) = _open(gate, 1)
    gate.settle()
    assert gate.world.pull(number).state == "closed"
    assert "takes in no pull requests until" in gate.world.pull(number).comments[-1].body
    _later(gate, hours=4.9)
    assert gate.world.pull(number).state == "closed"
    _later(gate, hours=0.2)
    assert gate.world.pull(number).state == "open"


def test_a_burst_over_several_repositories_is_one(gate: Any) -> None:
    text = (
        "version: 1\nmode: close\n"
        "rules: {burst: {mode: close, prs: 9, everywhere: {prs: 4, minutes: 10}}}\n"
    )
    gate.world.add_repository("acme/gadgets")
    gate.world.installation.repositories = None
    gate.policy(text)
    gate.policy(text, "acme/gadgets")
    here = [gate.world.open_pull(by="stranger").number for _ in range(2)]
    there = [gate.world.open_pull(by="stranger", repo="acme/gadgets").number for _ in range(2)]
    gate.settle()
    assert _states(gate, here) == ["closed", "closed"]
    assert [gate.world.pull(n, "acme/gadgets").state for n in there] == ["closed", "closed"]
    body = gate.world.pull(here[0]).comments[-1].body
    assert "several repositories" in body
    assert "gadgets" not in body


# What it costs


def _reads(gate: Any) -> list[str]:
    return [
        r.path
        for r in gate.github.requests
        if (r.method == "GET" or r.path == "/graphql") and "access_tokens" not in r.path
    ]


def test_the_reads_of_a_decision_stay_in_their_budget(gate: Any) -> None:
    gate.policy("version: 1\nmode: observe\nrules: {accepted_issue: {mode: close}}\n")
    gate.world.add_user("somebody")
    gate.world.open_pull(by="somebody", files=CODE)
    gate.settle()
    # The very first of an installation also reads who it is and both configurations.
    assert len(_reads(gate)) <= 6, _reads(gate)
    gate.github.requests.clear()
    (number,) = _open(gate, 1, files=CODE)
    gate.settle()
    assert len(_reads(gate)) <= 4, _reads(gate)
    gate.github.requests.clear()
    gate.clock.pass_(hours=1)
    _open(gate, 1, files=CODE)
    gate.settle()
    assert len(_reads(gate)) <= 2, _reads(gate)
    gate.world.merge_pull(number, by="wendy")
    gate.settle()
    gate.github.requests.clear()
    gate.clock.pass_(days=2)
    _open(gate, 1, files=CODE)
    gate.settle()
    assert len(_reads(gate)) <= 2, _reads(gate)


def test_a_burst_reads_nothing_beyond_its_first(gate: Any) -> None:
    gate.policy("version: 1\nmode: observe\nrules: {burst: {prs: 2}}\n")
    _open(gate, 2)
    gate.settle()
    before = len(_reads(gate))
    _open(gate, 8)
    gate.settle()
    assert _reads(gate)[before:] == []


def test_a_strangers_configuration_does_not_keep_them_from_being_decided(gate: Any) -> None:
    gate.policy(ISSUE)
    evil = 'rules: {pause: {start: "0001-01-01T00:00:00+14:00", until: "0001-06-01"}}'
    number = gate.world.open_pull(by="stranger", head_files={".github/pulsegate.yml": evil}).number
    gate.settle()
    assert gate.state(number) != "new"
    assert gate.sql("SELECT 1 FROM inbox WHERE handled_at IS NULL") == []


def test_a_push_counts_although_the_base_was_merged_in_after_it(gate: Any) -> None:
    """By the button "Update branch", before anybody read the push."""
    gate.world.clock = gate.clock
    gate.policy(
        "version: 1\nmode: close\nladder: {grace_hours: 24}\nrules: {accepted_issue: {mode: close}}\n"
    )
    number = gate.world.open_pull(by="stranger", files=("src/a.py",)).number
    gate.settle()
    gate.clock.pass_(hours=20)
    gate.world.push(number, by="stranger")
    gate.world.push(number, by="stranger", update=True)
    gate.settle()
    gate.clock.pass_(hours=5)
    gate.sweep.ring()
    gate.settle()
    assert gate.world.pull(number).state == "open"
