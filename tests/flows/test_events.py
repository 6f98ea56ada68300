"""Every event that the gate subscribes to, and installations that come, go and move."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

CLOSE = "version: 1\nmode: close\nrules:\n  burst: {mode: close, prs: 3, minutes: 10}\n"
LABEL = CLOSE.replace("mode: close\nrules", "mode: label\nrules")


def _flood(gate: Any, count: int = 3, **more: Any) -> list[int]:
    titles = [f"Change {n}" for n in range(count)]
    return [gate.world.open_pull(by="stranger", title=t, **more).number for t in titles]


def _tell(gate: Any, event: str, **parts: Any) -> Any:
    """A payload of a repository's event that the stand-in has no act for."""
    world = gate.world
    repository, by = world.repository(), world.user("tom")
    payload = {
        "installation": {"id": world.installation.id},
        "repository": world.shapes.repository(repository),
        "sender": world.shapes.user(by),
    }
    return world.send(event, payload | parts)


def _waiting(gate: Any) -> list[Any]:
    rows: list[Any] = gate.sql(
        "SELECT event, attempts, last_error FROM inbox WHERE handled_at IS NULL OR attempts > 0"
    )
    return rows


def _outcomes(gate: Any, event: str) -> list[str]:
    rows = gate.sql("SELECT outcome FROM inbox WHERE event = :e ORDER BY id", e=event)
    return [row["outcome"] for row in rows]


# Commands


def test_a_command_in_a_review_counts(gate: Any) -> None:
    gate.policy(CLOSE)
    first, second, third = _flood(gate)
    gate.settle()
    gate.world.review(first, by="tom", state="commented", body="Looks right.\n\n/pulse reopen")
    gate.world.review(second, by="stranger", state="commented", body="/pulse reopen")
    gate.world.review(third, by="renovate[bot]", state="commented", body="/pulse reopen")
    gate.settle()
    assert [gate.world.pull(n).state for n in (first, second, third)] == ["open", "open", "closed"]


@pytest.mark.parametrize(
    ("by", "action", "body", "state"),
    [
        ("stranger", "created", "/pulse reopen", "open"),
        ("tom", "created", "/pulse reopen", "open"),
        ("tom", "edited", "/pulse reopen", "closed"),
        ("tom", "deleted", "/pulse reopen", "closed"),
        ("tom", "created", "> /pulse reopen", "closed"),
        ("tom", "created", None, "closed"),
    ],
)
def test_a_command_beside_a_line_of_code_counts(
    gate: Any, by: str, action: str, body: str | None, state: str
) -> None:
    gate.policy(CLOSE)
    number = _flood(gate)[0]
    gate.settle()
    shapes, repository, pull = gate.world.shapes, gate.world.repository(), gate.world.pull(number)
    comment = {"id": 77, "user": shapes.user(gate.world.user(by)), "body": body}
    short = shapes.short_pull(repository, pull)
    _tell(gate, "pull_request_review_comment", action=action, comment=comment, pull_request=short)
    gate.settle()
    assert pull.state == state


def test_a_comment_on_a_pull_request_that_we_never_saw(gate: Any) -> None:
    gate.policy(LABEL)
    number = gate.world.open_pull(by="stranger").number
    gate.taken = len(gate.world.hooks.deliveries)
    gate.world.comment(number, "Ping?", by="tom")
    gate.settle()
    rows = gate.sql("SELECT number, asked_at IS NOT NULL AS asked FROM cases")
    assert [(row["number"], row["asked"]) for row in rows] == [(number, True)]
    assert _waiting(gate) == []


# Check runs


def test_a_check_run_that_somebody_has_run_again_is_made_anew(gate: Any) -> None:
    gate.policy(LABEL)
    number = _flood(gate)[0]
    gate.settle()
    sha = gate.world.pull(number).head_sha
    version = gate.sql("SELECT version FROM cases WHERE number = :n", n=number)[0]["version"]
    run = next(r for r in gate.world.repository().checks if r.head_sha == sha)
    before = len(gate.writes())
    gate.world.rerequest(run.id, by="stranger")
    gate.settle()
    after = gate.sql("SELECT version, state FROM cases WHERE number = :n", n=number)[0]
    assert (after["version"], after["state"]) == (version + 1, "flagged")
    assert [w.rpartition("/")[2] for w in gate.writes()[before:]] in (
        ["check-runs"],
        [str(run.id)],
    )


def test_check_runs_of_others_are_no_matter_of_ours(gate: Any) -> None:
    gate.policy(LABEL)
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    before = gate.writes()
    for external in ("", None, "pulsegate", f"{number}"):
        run = {"id": 1, "head_sha": "0" * 40, "external_id": external, "pull_requests": []}
        _tell(gate, "check_run", action="rerequested", check_run=run)
    gate.settle()
    assert _outcomes(gate, "check_run")[-4:] == ["noted: not a check run of ours"] * 4
    assert gate.writes() == before


# Events that are only taken note of


@pytest.mark.parametrize(
    ("event", "parts"),
    [
        ("issues", {"action": "opened", "issue": {"number": 5, "title": "A bug"}}),
        ("issue_comment", {"action": "created", "issue": {"number": 5}, "comment": {"id": 1}}),
        ("workflow_run", {"action": "completed", "workflow_run": {"id": 1, "pull_requests": []}}),
        ("workflow_job", {"action": "queued", "workflow_job": {"id": 1, "labels": ["gpu"]}}),
        ("ping", {"zen": "Half measures are as bad as nothing at all.", "hook_id": 1}),
        ("star", {"action": "created"}),
    ],
)
def test_what_no_rule_reads_is_stored_and_acknowledged(
    gate: Any, event: str, parts: dict[str, Any]
) -> None:
    delivery = _tell(gate, event, **parts)
    gate.settle()
    [outcome] = _outcomes(gate, event)
    assert outcome.startswith(("noted", "ignored"))
    assert gate.sql("SELECT key FROM inbox")[0]["key"].endswith(delivery.guid)
    assert _waiting(gate) == []
    assert gate.github.requests == []


def test_another_default_branch_brings_its_own_configuration(gate: Any) -> None:
    gate.policy(LABEL)
    gate.world.open_pull(by="tom")
    gate.settle()
    gate.policy(CLOSE)  # as it stands on a branch that becomes the default one
    repository = gate.world.repository()
    repository.default_branch = "trunk"
    was = {"default_branch": {"from": "main"}}
    _tell(gate, "repository", action="edited", changes=was)
    numbers = _flood(gate)
    gate.settle()
    assert [gate.world.pull(n).state for n in numbers] == ["closed"] * 3


def test_a_draft_and_a_finished_one_are_decided_anew(gate: Any) -> None:
    number = gate.world.open_pull(by="stranger", draft=True).number
    gate.settle()
    gate.world.set_draft(number, False, by="stranger")
    gate.settle()
    gate.world.set_draft(number, True, by="stranger")
    gate.settle()
    assert _outcomes(gate, "pull_request") == ["decided: clear"] * 3
    assert gate.sql("SELECT version FROM cases")[0]["version"] == 3


def test_a_private_member_is_exempt_by_live_permission(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = [gate.world.open_pull(by="wendy", title=f"Ours {n}").number for n in range(4)]
    for delivery in gate.world.hooks.deliveries:
        pull = delivery.payload["pull_request"] | {"author_association": "NONE"}
        delivery.body = json.dumps(delivery.payload | {"pull_request": pull}).encode()
    gate.settle()
    assert {gate.state(n) for n in numbers} == {"exempt"}
    assert all(gate.world.pull(n).state == "open" for n in numbers)
    assert gate.sql("SELECT snapshot->>'author_association' AS a FROM cases")[0]["a"] == "NONE"


def test_who_only_seems_to_be_a_member_is_not_exempt(gate: Any) -> None:
    """GitHub's hint counts for nothing beside the live permission."""
    gate.policy(LABEL)
    numbers = _flood(gate)
    for delivery in gate.world.hooks.deliveries:
        pull = delivery.payload["pull_request"] | {"author_association": "MEMBER"}
        delivery.body = json.dumps(delivery.payload | {"pull_request": pull}).encode()
    gate.settle()
    assert {gate.state(n) for n in numbers} == {"flagged"}


def test_one_delivery_to_two_apps_is_two_deliveries(gate: Any) -> None:
    """GitHub's GUID is unique for each hook only, so that ours must not shadow another App's."""
    gate.world.open_pull(by="stranger")
    delivery = gate.world.hooks.deliveries[0]
    other = replace(delivery, app=replace(delivery.app, id=delivery.app.id + 1))
    for taken in (delivery, other, delivery, other):
        gate.take_in(taken)
    gate.taken = 1
    gate.settle()
    keys = [row["key"] for row in gate.sql("SELECT key FROM inbox ORDER BY id")]
    assert keys == [f"{d.app.id}:{delivery.guid}" for d in (delivery, other)]
    assert gate.sql("SELECT version FROM cases")[0]["version"] == 1
    assert _waiting(gate) == []


# Installations


def _named(gate: Any, installation: int) -> list[Any]:
    """One delivery of each kind, as an installation's that is not ours to know."""
    world = gate.world
    number = world.open_pull(by="stranger").number
    world.comment(number, "/pulse reopen", by="stranger")
    world.push_files({".github/pulsegate.yml": CLOSE}, by="olivia")
    world.change_role("stranger", "write", by="olivia")
    world.queue_merge(by="mark")
    world.rename_repository("gadgets", by="olivia")
    for delivery in world.hooks.deliveries:
        payload = delivery.payload | {"installation": {"id": installation}}
        delivery.body = json.dumps(payload).encode()
    made: list[Any] = world.hooks.deliveries
    return made


def test_an_installation_that_github_does_not_know_is_left_at_once(gate: Any) -> None:
    deliveries = _named(gate, 999)
    gate.settle()
    outcomes = [row["outcome"] for row in gate.sql("SELECT outcome FROM inbox ORDER BY id")]
    assert outcomes == ["left: unknown installation"] * len(deliveries) == outcomes[:1] * 6
    assert _waiting(gate) == []
    assert gate.writes() == []
    for table in ("cases", "repositories", "installations", "outbox"):
        assert gate.sql(f"SELECT 1 FROM {table}") == []


@pytest.mark.parametrize("status", [500, 401, 403])
def test_an_installation_that_github_does_not_tell_of_waits(gate: Any, status: int) -> None:
    where = {"method": "GET", "path": "/app/installations/", "times": None}
    gate.github.fault("status", status=status, **where)
    deliveries = _named(gate, gate.world.installation.id)
    gate.settle()
    assert len(_waiting(gate)) == len(deliveries)
    gate.github.faults.clear()
    gate.clock.pass_(hours=2)
    gate.sweep.ring()
    gate.settle()
    assert gate.sql("SELECT 1 FROM inbox WHERE handled_at IS NULL") == []
    assert gate.state(1) == "exempt"


def test_an_app_that_was_uninstalled_unheard_stops(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate)
    gate.only_decide()
    gate.world.installation.deleted = True
    gate.world.tokens.clear()
    late = gate.world.hooks.deliveries[0]
    opened = late.payload["pull_request"]
    newer = opened | {
        "number": 99,
        "id": 99,
        "user": gate.world.shapes.user(gate.world.user("tom")),
    }
    gate.take_in(
        replace(late, guid="late", body=json.dumps(late.payload | {"pull_request": newer}).encode())
    )
    gate.settle()
    assert _outcomes(gate, "pull_request")[-1] == "left: the App was uninstalled"
    assert {r["state"] for r in gate.sql("SELECT state FROM outbox")} <= {"dropped", "failed"}
    gate.clock.pass_(hours=2)
    gate.sweep.ring()
    gate.settle()
    assert gate.writes() == []
    assert all(gate.world.pull(n).state == "open" for n in numbers)
    assert gate.sql("SELECT 1 FROM inbox WHERE handled_at IS NULL") == []


def test_a_repository_that_is_added_later_leaves_what_was_open_there_alone(gate: Any) -> None:
    world = gate.world
    before = gate.clock() - timedelta(days=2)
    world.add_repository("acme/other")
    world.choose_repositories(world.installation, ["acme/widgets"], by="olivia")
    gate.policy(CLOSE, "acme/other")
    now, world.clock = world.clock, lambda: before
    old = _flood(gate, repo="acme/other")
    world.clock = now
    world.choose_repositories(world.installation, ["acme/widgets", "acme/other"], by="olivia")
    gate.settle()
    assert _outcomes(gate, "installation_repositories") == ["repositories noted"] * 2
    names = gate.sql("SELECT name FROM repositories WHERE removed_at IS NULL")
    assert [row["name"] for row in names] == ["other"]
    world.push(old[0], repo="acme/other")
    world.clock = lambda: gate.clock() + timedelta(minutes=1)
    new = _flood(gate, repo="acme/other")
    gate.settle()
    assert gate.state(old[0]) == "left_alone"
    assert [world.pull(n, "acme/other").state for n in old] == ["open"] * 3
    assert [world.pull(n, "acme/other").state for n in new] == ["closed"] * 3


@pytest.mark.parametrize("heard", ["both", "not of the new one", "the old one last"])
def test_a_repository_that_moves_to_another_installation_is_followed(gate: Any, heard: str) -> None:
    gate.policy(CLOSE)
    world = gate.world
    numbers = _flood(gate)
    gate.only_decide()
    world.add_user("elsewhere", "Organization")
    second = world.add_installation("elsewhere")
    if heard != "not of the new one":
        world.add_repository("elsewhere/first")
        world.open_pull(by="stranger", repo="elsewhere/first")
        gate.deliver()
    world.transfer_repository("elsewhere", by="olivia")
    if heard == "the old one last":
        shape = world.shapes.repository(world.repository("elsewhere/widgets"))
        _removed(gate, {k: shape[k] for k in ("id", "name", "full_name", "private")})
    for _ in range(3):
        gate.settle()
        gate.clock.pass_(hours=1)
        gate.sweep.ring()
    row = gate.sql(
        "SELECT owner, installation_id, removed_at FROM repositories WHERE name = 'widgets'"
    )
    assert dict(row[0]) == {"owner": "elsewhere", "installation_id": second.id, "removed_at": None}
    pulls = world.repository("elsewhere/widgets").pulls
    assert [pulls[n].state for n in numbers] == ["closed"] * 3
    new = world.open_pull(by="stranger", repo="elsewhere/widgets").number
    gate.settle()
    assert gate.sql("SELECT state FROM cases WHERE number = :n", n=new)[-1]["state"] == "closed"


def _removed(gate: Any, repository: dict[str, Any]) -> None:
    """What the old owner's installation says of it, however late."""
    world = gate.world
    payload = {
        "action": "removed",
        "installation": world.shapes.installation(world.installation),
        "repositories_added": [],
        "repositories_removed": [repository],
    }
    world.send("installation_repositories", payload)


def test_a_reconciliation_of_many_repositories_goes_on_where_it_stopped(gate: Any) -> None:
    gate.world.open_pull(by="stranger")
    gate.settle()
    for name in ("one", "two", "three"):
        gate.world.add_repository(f"acme/{name}")
    missed = [
        gate.world.open_pull(by="stranger", repo=f"acme/{name}").number
        for name in ("one", "two", "three")
    ]
    gate.taken = len(gate.world.hooks.deliveries)
    gate.clock.pass_(hours=25)
    pulls = gate.reconcile.reader

    class Slow:
        """Takes forty seconds for the pull requests of each repository."""

        def __getattr__(self, name: str) -> Any:
            if name == "open_pulls":
                gate.clock.pass_(seconds=40)
            return getattr(pulls, name)

    replace(gate.reconcile, reader=Slow()).run(gate.world.installation.id)
    assert [task for task, _ in gate.bell.rings].count("reconcile") == 1
    first = gate.sql("SELECT count(*) AS n FROM inbox WHERE source = 'reconcile'")[0]["n"]
    assert first < len(missed)
    gate.settle()
    rows = gate.sql("SELECT count(*) AS n FROM inbox WHERE source = 'reconcile'")[0]["n"]
    assert rows == len(missed)
    assert gate.sweep.reconcile() == 0


def test_a_reconciliation_reads_the_configuration_that_no_push_told_of(gate: Any) -> None:
    gate.world.open_pull(by="stranger")
    gate.settle()
    gate.world.push_files({".github/pulsegate.yml": "version: 1\nmode: label\n"}, by="olivia")
    gate.taken = len(gate.world.hooks.deliveries)
    gate.clock.pass_(hours=25)
    gate.sweep.reconcile()
    gate.settle()
    assert gate.sql("SELECT policy FROM repositories")[0]["policy"]["mode"] == "label"


# A configuration that cannot be read

# Beyond tags, see test_situations: an escape that Python refuses, a key that no database stores.
BROKEN = (
    'label: "\\UFFFFFFFF"\n',
    '"\\0": 1\n',
)


def _policy_row(gate: Any) -> Any:
    return gate.sql("SELECT policy, policy_error FROM repositories")[0]


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_file_from_the_start_leaves_the_defaults_in_force(gate: Any, text: str) -> None:
    gate.policy(text)
    numbers = _flood(gate, 5)
    gate.settle()
    assert [gate.state(n) for n in numbers] == ["flagged"] * 5
    assert gate.writes() == [], "the default mode only observes"
    assert ".github/pulsegate.yml is not" in _policy_row(gate)["policy_error"]
    assert _waiting(gate) == []


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_push_leaves_the_last_good_file_in_force(gate: Any, text: str) -> None:
    gate.policy(LABEL)
    gate.world.open_pull(by="stranger")
    gate.settle()
    assert _policy_row(gate)["policy_error"] is None
    gate.world.push_files({".github/pulsegate.yml": text}, by="olivia")
    gate.settle()
    row = _policy_row(gate)
    assert row["policy"]["mode"] == "label"
    assert ".github/pulsegate.yml is not" in row["policy_error"]
    assert _waiting(gate) == []
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    assert gate.state(number) != "unknown"
