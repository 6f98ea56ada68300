"""Situations that must come out right, from the reports of projects that live with floods."""

import json
from datetime import timedelta
from typing import Any

import pytest

from app.db.packing import deflate

CLOSE = "version: 1\nmode: close\nrules:\n  burst: {mode: close, prs: 3, minutes: 10}\n"


@pytest.fixture
def patience() -> float:
    """Less than the stand-in's delays here take."""
    return 1


def _flood(gate: Any, count: int = 3) -> list[int]:
    return [gate.world.open_pull(by="stranger", title=f"Change {n}").number for n in range(count)]


def _closed(gate: Any, numbers: list[int]) -> list[bool]:
    return [gate.world.pull(n).state == "closed" for n in numbers]


@pytest.mark.parametrize("backwards", [False, True])
def test_opened_and_edited_within_a_second_in_either_order(gate: Any, backwards: bool) -> None:
    still = gate.clock()
    gate.world.clock = lambda: still
    number = gate.world.open_pull(by="stranger", title="First words").number
    gate.world.edit_pull(number, by="stranger", title="Last words")
    gate.deliver(order=lambda d: d[::-1] if backwards else d)
    gate.work()
    row = gate.sql("SELECT snapshot->>'title' AS title, version FROM cases")
    assert [(r["title"], r["version"]) for r in row] == [("Last words", 1)]


def test_an_old_delivery_changes_nothing(gate: Any) -> None:
    number = gate.world.open_pull(by="stranger", title="Old words").number
    held = gate.world.hooks.deliveries[-1]
    gate.world.clock = lambda: gate.clock() + timedelta(minutes=1)
    gate.world.edit_pull(number, by="stranger", title="New words")
    gate.taken = 1
    gate.settle()
    gate.take_in(held)
    gate.settle()
    assert gate.sql("SELECT snapshot->>'title' AS t FROM cases")[0]["t"] == "New words"
    outcomes = {r["outcome"] for r in gate.sql("SELECT outcome FROM inbox WHERE action = 'opened'")}
    assert outcomes == {"older than the state already known"}


def test_the_same_delivery_twice_counts_once(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate)
    for delivery in list(gate.world.hooks.deliveries):
        gate.take_in(delivery)
    gate.settle()
    assert _closed(gate, numbers) == [True] * 3
    assert all(len(gate.world.pull(n).comments) == 2 for n in numbers)


def test_another_bot_closes_first(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate)
    gate.only_decide()
    gate.world.close_pull(numbers[0], by="renovate[bot]")
    # Before its delivery arrives: only the live state can tell.
    gate.clock.pass_(minutes=1)
    gate.sweep.ring()
    gate.work()
    gate.settle()
    assert gate.acts(numbers[0])["close"] == "dropped"
    assert [c for c in gate.world.pull(numbers[0]).comments if "reopen" in c.body] == []
    assert gate.state(numbers[0]) == "ended"
    assert gate.state(numbers[1]) == "closed"


def test_no_comment_no_close(gate: Any) -> None:
    gate.policy(CLOSE)
    gate.github.fault("status", method="POST", path="/comments$", status=422, times=None)
    numbers = _flood(gate)
    gate.settle()
    assert _closed(gate, numbers) == [False] * 3
    assert {gate.acts(n)["close_comment"] for n in numbers} == {"failed"}
    assert {gate.acts(n)["close"] for n in numbers} == {"dropped"}


def test_a_locked_conversation_is_not_closed(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate)
    gate.world.lock_pull(numbers[0], by="mark")
    gate.settle()
    assert _closed(gate, numbers) == [False, True, True]
    assert gate.acts(numbers[0])["close"] == "dropped"


@pytest.mark.parametrize("shown", ["null", "ghost"])
def test_a_deleted_author_is_not_guilty(gate: Any, shown: str) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate)
    gate.world.delete_user("stranger", shown=shown)
    gate.world.push(numbers[0], by="mark")
    gate.taken = len(gate.world.hooks.deliveries) - 1
    gate.settle()
    user = gate.world.hooks.deliveries[-1].payload["pull_request"]["user"]
    assert user is None if shown == "null" else user["login"] == "ghost"
    assert gate.state(numbers[0]) == "left_alone"
    assert _closed(gate, numbers) == [False] * 3


def test_a_deleted_fork_and_an_empty_body(gate: Any) -> None:
    number = gate.world.open_pull(by="stranger", body=None).number
    gate.world.delete_repository("stranger/widgets")
    gate.world.edit_pull(number, by="stranger", title="Other words")
    gate.settle()
    assert gate.world.hooks.deliveries[-1].payload["pull_request"]["head"]["repo"] is None
    assert gate.state(number) == "clear"


READS = {
    "permission": "/collaborators/",
    "policy": "/contents/",
    "live state": r"/pulls/\d+$",
    "token": "/access_tokens$",
    "label": "/labels/",
}


FAULTS = ("500", "403", "429", "time-out", "no connection", "not what was asked")


@pytest.mark.parametrize(
    ("read", "fault"),
    # Whether the label is there decides nothing: any answer but 404 means that it is.
    [(r, f) for r in READS for f in FAULTS if (r, f) != ("label", "not what was asked")],
)
def test_a_failed_read_closes_nothing_and_is_tried_again(gate: Any, read: str, fault: str) -> None:
    gate.policy(CLOSE)
    method = "POST" if read == "token" else "GET"
    where = {"method": method, "path": READS[read], "times": None}
    slow = where | {"times": 6}
    set_ = {
        "500": lambda: gate.github.fault("status", status=500, **where),
        "403": lambda: gate.github.fault("secondary_limit", seconds=60, **where),
        "429": lambda: gate.github.fault("primary_limit", status=429, seconds=60, **where),
        "time-out": lambda: gate.github.fault("delay", seconds=1.4, **slow),
        "no connection": lambda: gate.github.fault("drop_before", **where),
        "not what was asked": lambda: gate.github.fault("status", status=200, **where),
    }[fault]
    set_()
    numbers = _flood(gate)
    gate.settle()
    assert _closed(gate, numbers) == [False] * 3
    gate.github.faults.clear()
    gate.clock.pass_(hours=2)
    gate.sweep.ring()
    gate.settle()
    gate.sweep.ring()
    gate.settle()
    assert _closed(gate, numbers) == [True] * 3
    assert all(len(gate.world.pull(n).comments) == 2 for n in numbers)


WRITES = {
    "label": ("POST", r"/issues/\d+/labels$"),
    "new label": ("POST", r"/labels$"),
    "check run": ("POST", "/check-runs$"),
    "comment": ("POST", "/comments$"),
    "close": ("PATCH", r"/pulls/\d+$"),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("fault", ["drop_after", "drop_before", "status_after"])
def test_a_write_whose_answer_is_lost_happens_exactly_once(
    gate: Any, write: str, fault: str
) -> None:
    gate.policy(CLOSE)
    method, path = WRITES[write]
    more = {"status": 502} if fault == "status_after" else {}
    gate.github.fault(fault, method=method, path=path, times=3, **more)
    numbers = _flood(gate)
    gate.settle()
    for _ in range(8):
        gate.clock.pass_(hours=2)
        gate.sweep.ring()
        gate.settle()
    assert _closed(gate, numbers) == [True] * 3
    for number in numbers:
        pull = gate.world.pull(number)
        bodies = [c.body for c in pull.comments]
        assert len(bodies) == len(set(bodies)) == 2
        runs = [c for c in gate.world.repository().checks if c.head_sha == pull.head_sha]
        assert len({r.external_id for r in runs}) == len(runs)
        assert [label.name for label in pull.labels] == ["needs-verification"]
        assert gate.state(number) == "closed"
    assert {r["state"] for r in gate.sql("SELECT state FROM outbox")} <= {"done", "dropped"}


def test_a_reopen_whose_answer_is_lost_happens_exactly_once(gate: Any) -> None:
    gate.policy(CLOSE)
    number = _flood(gate)[0]
    gate.settle()
    gate.github.fault("drop_after", method="PATCH", path=r"/pulls/\d+$")
    gate.world.comment(number, "/pulse reopen", by="stranger")
    gate.settle()
    gate.clock.pass_(hours=1)
    gate.sweep.ring()
    gate.settle()
    assert gate.world.pull(number).state == "open"
    assert gate.state(number) == "reopened"


def test_hostile_names_are_only_text(gate: Any) -> None:
    gate.policy(CLOSE)
    title = "Fix \x00 \u202egnp.exe @olivia #1 [x](http://evil.example) <img src=x> `$(reboot)`"
    numbers = [
        gate.world.open_pull(by="stranger", title=title, head_ref="$(reboot)").number
        for _ in range(3)
    ]
    gate.settle()
    assert _closed(gate, numbers) == [True] * 3
    kept = gate.sql("SELECT snapshot->>'title' AS t, snapshot->'head'->>'ref' AS r FROM cases")
    assert all("\u202e" not in row["t"] and "\x00" not in row["t"] for row in kept)
    assert {row["r"] for row in kept} == {"$(reboot)"}
    for number in numbers:
        for comment in gate.world.pull(number).comments:
            assert "olivia" not in comment.body
            assert "evil.example" not in comment.body
    for run in gate.world.repository().checks:
        assert "olivia" not in json.dumps(run.output)


def test_pull_requests_older_than_the_installation_are_left_alone(gate: Any) -> None:
    gate.policy(CLOSE)
    before = gate.clock() - timedelta(days=30)
    now, gate.world.clock = gate.world.clock, lambda: before
    numbers = _flood(gate)
    gate.world.clock = now
    gate.world.push(numbers[0])
    gate.settle()
    assert _closed(gate, numbers) == [False] * 3
    assert gate.state(numbers[0]) == "left_alone"
    assert gate.writes() == []


def test_an_uninstalled_app_stops(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate)
    gate.only_decide()
    gate.world.uninstall(gate.world.installation, by="olivia")
    gate.settle()
    gate.clock.pass_(hours=1)
    gate.sweep.ring()
    gate.settle()
    assert gate.writes() == []
    assert _closed(gate, numbers) == [False] * 3
    assert {r["state"] for r in gate.sql("SELECT state FROM outbox")} == {"dropped"}


def test_a_suspended_app_waits_and_goes_on(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate)
    gate.only_decide()
    gate.world.suspend(gate.world.installation, by="olivia")
    gate.settle()
    gate.clock.pass_(hours=1)
    gate.sweep.ring()
    gate.settle()
    assert gate.writes() == []
    gate.world.unsuspend(gate.world.installation, by="olivia")
    gate.settle()
    gate.clock.pass_(minutes=5)
    gate.sweep.ring()
    gate.settle()
    assert _closed(gate, numbers) == [True] * 3


def test_a_renamed_repository_is_followed(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate)
    gate.only_decide()
    gate.world.rename_repository("gadgets", by="olivia")
    gate.settle()
    gate.clock.pass_(hours=1)
    gate.sweep.ring()
    gate.settle()
    assert [gate.world.pull(n).state for n in numbers] == ["closed"] * 3
    assert gate.sql("SELECT name FROM repositories")[0]["name"] == "gadgets"


def test_a_transferred_repository_stops_and_nothing_crashes(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate)
    gate.only_decide()
    gate.world.add_user("elsewhere", "Organization")
    gate.world.transfer_repository("elsewhere", by="olivia")
    gate.settle()
    for _ in range(3):
        gate.clock.pass_(hours=2)
        gate.sweep.ring()
        gate.settle()
    assert [gate.world.repository("elsewhere/widgets").pulls[n].state for n in numbers] == [
        "open"
    ] * 3


def test_a_repository_taken_out_of_the_installation_stops(gate: Any) -> None:
    gate.policy(CLOSE)
    gate.world.add_repository("acme/other")
    numbers = _flood(gate)
    gate.only_decide()
    gate.world.choose_repositories(gate.world.installation, ["acme/other"], by="olivia")
    gate.settle()
    assert _closed(gate, numbers) == [False] * 3
    assert {r["state"] for r in gate.sql("SELECT state FROM outbox")} == {"dropped"}


def test_a_push_changes_the_policy_and_a_broken_file_keeps_the_last_good_one(gate: Any) -> None:
    gate.policy(CLOSE)
    gate.world.open_pull(by="stranger")
    gate.settle()
    gate.world.push_files({".github/pulsegate.yml": "version: 1\nmode: shut\n"}, by="olivia")
    gate.settle()
    row = gate.sql("SELECT policy, policy_error FROM repositories")[0]
    assert row["policy"]["mode"] == "close"
    assert "mode" in row["policy_error"]
    gate.world.push_files({".github/pulsegate.yml": "version: 1\nmode: label\n"}, by="olivia")
    gate.settle()
    row = gate.sql("SELECT policy, policy_error FROM repositories")[0]
    assert (row["policy"]["mode"], row["policy_error"]) == ("label", None)


def test_a_policy_that_cannot_be_read_leaves_the_last_one_in_force(gate: Any) -> None:
    gate.policy(CLOSE)
    gate.world.open_pull(by="stranger")
    gate.settle()
    gate.github.fault("status", method="GET", path="/contents/", status=500, times=None)
    gate.world.push_files({".github/pulsegate.yml": "version: 1\nmode: label\n"}, by="olivia")
    gate.settle()
    assert gate.sql("SELECT policy FROM repositories")[0]["policy"]["mode"] == "close"
    gate.github.faults.clear()
    gate.clock.pass_(minutes=5)
    gate.sweep.ring()
    gate.settle()
    assert gate.sql("SELECT policy FROM repositories")[0]["policy"]["mode"] == "label"


def test_the_button_that_leaves_it_alone(gate: Any) -> None:
    gate.policy(CLOSE.replace("mode: close\nrules", "mode: label\nrules"))
    number = _flood(gate)[0]
    gate.settle()
    sha = gate.world.pull(number).head_sha
    run = next(r for r in gate.world.repository().checks if r.head_sha == sha)
    gate.world.press(run.id, "dismiss", by="stranger")
    gate.settle()
    assert gate.state(number) == "flagged"
    gate.world.press(run.id, "dismiss", by="tom")
    gate.settle()
    assert gate.state(number) == "left_alone"
    assert run.conclusion == "success"


def test_writes_are_paced_for_each_installation(gate: Any) -> None:
    gate.policy("version: 1\nmode: label\n")
    gate.world.clock = gate.clock
    for _ in range(90):
        gate.world.open_pull(by="stranger")
        gate.clock.pass_(hours=1)
    gate.clock.ahead = timedelta(hours=91)
    gate.settle()
    attempts = gate.sql("SELECT count(*) AS n FROM outbox WHERE attempted_at IS NOT NULL")[0]["n"]
    assert attempts == 75
    gate.clock.pass_(minutes=1, seconds=1)
    gate.sweep.ring()
    gate.settle()
    left = gate.sql("SELECT count(*) AS n FROM outbox WHERE state IN ('pending', 'doing')")[0]["n"]
    assert left == 0


def test_a_failed_delivery_is_asked_for_again(gate: Any) -> None:
    number = gate.world.open_pull(by="stranger").number
    lost = gate.world.hooks.deliveries[-1]
    lost.status, lost.status_code = "failed to connect to host", 0
    gate.taken = len(gate.world.hooks.deliveries)
    assert gate.redeliver.run() == 1
    gate.settle()
    assert gate.state(number) == "clear"
    assert gate.redeliver.run() == 0


def test_a_delivery_that_github_refuses_to_repeat_does_not_hold_up_the_others(gate: Any) -> None:
    numbers = [gate.world.open_pull(by="stranger").number for _ in range(3)]
    for lost in gate.world.hooks.deliveries:
        lost.status, lost.status_code = "failed to connect to host", 0
    gate.taken = len(gate.world.hooks.deliveries)
    gate.github.fault("status", method="POST", path="/attempts$", status=404, times=1)
    gate.redeliver.run()
    gate.settle()
    assert sorted(gate.state(n) for n in numbers) == ["clear", "clear", "unknown"]


def test_an_installation_that_acts_again_unheard_is_found(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate)
    gate.only_decide()
    gate.world.suspend(gate.world.installation, by="olivia")
    gate.settle()
    gate.clock.pass_(hours=25)
    assert gate.sweep.reconcile() == 1
    gate.settle()
    assert gate.sweep.reconcile() == 0
    assert gate.writes() == []
    gate.world.unsuspend(gate.world.installation, by="olivia")
    gate.taken = len(gate.world.hooks.deliveries)
    gate.clock.pass_(hours=25)
    assert gate.sweep.reconcile() == 1
    gate.sweep.ring()
    gate.settle()
    assert _closed(gate, numbers) == [True] * 3


def test_a_hand_on_the_label_counts_in_whatever_case_the_label_was_made(gate: Any) -> None:
    gate.policy("version: 1\nmode: label\nlabel: Needs-Verification\n")
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    gate.world.label(number, "needs-verification", by="tom")
    gate.settle()
    assert [r["act"] for r in gate.sql("SELECT act FROM hands")] == ["labeled"]


def test_a_flood_beyond_what_is_read_still_holds_the_one_asked_about(gate: Any) -> None:
    gate.policy(CLOSE.replace("minutes: 10", "minutes: 1440"))
    first = gate.world.open_pull(by="stranger").number
    gate.settle()
    gate.sql(
        "INSERT INTO cases (repository_id, number, author_id, snapshot, opened_at, updated_at,"
        " pull_state) SELECT repository_id, 10000 + n, author_id, snapshot, opened_at"
        " - interval '1 hour' + n * interval '1 second', updated_at, 'closed' FROM cases,"
        " generate_series(1, 2100) n WHERE number = :n RETURNING id",
        n=first,
    )
    last = gate.world.open_pull(by="stranger").number
    gate.settle()
    assert gate.state(last) == "closed"


def test_reconciliation_finds_what_was_never_delivered(gate: Any) -> None:
    gate.world.open_pull(by="stranger")
    gate.settle()
    missed = gate.world.open_pull(by="stranger").number
    closed = gate.world.close_pull(1, by="mark").number
    gate.taken = len(gate.world.hooks.deliveries)
    gate.clock.pass_(hours=25)
    assert gate.sweep.reconcile() == 1
    gate.settle()
    assert gate.state(missed) == "clear"
    assert gate.state(closed) == "ended"
    assert gate.sweep.reconcile() == 0


HOSTILE = "version: 1\nlabel: !!timestamp soon\n"


def test_a_hostile_policy_stops_no_decision(gate: Any) -> None:
    gate.policy(HOSTILE)
    numbers = _flood(gate)
    gate.settle()
    assert {gate.state(n) for n in numbers} <= {"clear", "flagged"}
    assert "tags" in gate.sql("SELECT policy_error FROM repositories")[0]["policy_error"]


def test_a_hostile_policy_that_is_pushed_leaves_the_last_good_one_in_force(gate: Any) -> None:
    gate.policy(CLOSE)
    gate.world.open_pull(by="stranger")
    gate.settle()
    gate.world.push_files({".github/pulsegate.yml": HOSTILE}, by="olivia")
    gate.settle()
    row = gate.sql("SELECT policy, policy_error FROM repositories")[0]
    assert row["policy"]["mode"] == "close"
    assert "tags" in row["policy_error"]


def test_a_payload_that_cannot_be_read_again_is_handled_and_holds_nothing_up(gate: Any) -> None:
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    gate.world.edit_pull(number, by="stranger", title="Other words")
    gate.deliver()
    gate.sql(
        "UPDATE payloads SET body = :b WHERE inbox_id = (SELECT max(id) FROM inbox) RETURNING 1",
        b=deflate(b"[" * 300 + b"]" * 300),
    )
    gate.settle()
    assert gate.sql("SELECT count(*) AS n FROM inbox WHERE handled_at IS NULL")[0]["n"] == 0


def test_what_was_opened_while_suspended_is_found_however_young(gate: Any) -> None:
    gate.world.open_pull(by="stranger")
    gate.settle()
    gate.world.suspend(gate.world.installation, by="olivia")
    gate.settle()
    number = gate.world.open_pull(by="stranger").number
    gate.taken = len(gate.world.hooks.deliveries)
    gate.world.unsuspend(gate.world.installation, by="olivia")
    gate.settle()
    assert gate.state(number) == "clear"
