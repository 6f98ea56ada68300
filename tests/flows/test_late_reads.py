"""What was read before a change and is kept after it does not undo the change."""

from datetime import timedelta
from typing import Any

from app.db import configurations

CLOSE = "version: 1\nmode: close\nrules:\n  burst: {mode: close, prs: 3, minutes: 10}\n"


def test_a_permission_that_changes_while_it_is_read_is_read_again(gate: Any) -> None:
    """The old answer is on its way while the `member` delivery comes and is handled."""
    gate.policy(CLOSE)
    numbers = [gate.world.open_pull(by="stranger", title=f"No. {n}").number for n in range(3)]
    gate.deliver()
    read, once = gate.reader.role, []

    def slowly(repository: Any, account: Any) -> Any:
        found = read(repository, account)
        if not once:
            once.append(account)
            gate.world.change_role("stranger", "write", by="olivia")
            gate.deliver()
            member = gate.sql("SELECT id FROM inbox WHERE event = 'member'")[0]["id"]
            gate.triage.run(member)
        return found

    gate.reader.role = slowly
    gate.settle()
    assert once
    assert {gate.state(n) for n in numbers} == {"exempt"}
    assert {gate.world.pull(n).state for n in numbers} == {"open"}


def test_a_configuration_that_is_read_late_does_not_undo_a_newer_one(gate: Any) -> None:
    gate.world.open_pull(by="stranger")
    gate.settle()
    repository = gate.world.repository().id
    began = gate.clock()
    with gate.database.begin() as tx:
        later = began + timedelta(seconds=1)
        assert configurations.keep_own(tx, repository, {"mode": "close"}, "new", later)
        assert not configurations.keep_own(tx, repository, {"mode": "label"}, "old", began)
        configurations.policy_failed(tx, repository, "old", began)
    row = gate.sql("SELECT policy_own_sha, policy_error FROM repositories")[0]
    assert (row["policy_own_sha"], row["policy_error"]) == ("new", None)
