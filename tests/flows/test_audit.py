"""The audit log: all that was decided and done, by pseudonym, and never changed."""

import json
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.db import audit

CLOSE = "version: 1\nmode: close\nrules: {burst: {mode: close, prs: 2, minutes: 10}}\n"
HOSTILE = "zqx <b> @octocat"


def _entries(gate: Any) -> list[dict[str, Any]]:
    return list(audit.pages(gate.database.begin))


def _acts(gate: Any) -> list[str]:
    return [entry["act"] for entry in _entries(gate)]


@pytest.fixture
def story(gate: Any) -> Any:
    """A flood that is closed, commands, hands, and a policy that is refused."""
    gate.world.clock = gate.clock
    gate.policy(CLOSE)
    numbers = [
        gate.world.open_pull(by="stranger", title=HOSTILE, body=HOSTILE).number for _ in range(2)
    ]
    gate.settle()
    gate.clock.pass_(seconds=5)
    gate.world.comment(numbers[0], f"/pulse vouch @stranger because {HOSTILE}", by="tom")
    gate.settle()
    gate.clock.pass_(seconds=5)
    gate.world.close_pull(numbers[1], by="mark")
    gate.world.push_files({".github/pulsegate.yml": "mode: clsoe\n"}, by="olivia")
    gate.settle()
    return gate


def test_who_did_what_when_under_which_policy_on_which_evidence(story: Any) -> None:
    entries = _entries(story)
    stored = story.sql("SELECT count(*) AS n FROM decisions")[0]["n"]
    decided = [e for e in entries if e["act"] == "decision"]
    assert len(decided) == stored
    assert all(e["policy_version"] and e["number"] for e in decided)
    assert any(e["detail"].get("rules") == {"burst": "close"} for e in decided)
    acts = _acts(story)
    for act in ("effect.done", "trust.vouched", "hand.closed", "policy.in_force", "policy.refused"):
        assert act in acts, act
    done = [e["detail"]["kind"] for e in entries if e["act"] == "effect.done"]
    assert done.count("close") == 2
    assert {e["actor"] for e in decided} == {"gate"}
    ids = [e["id"] for e in entries]
    assert ids == sorted(ids)


def test_people_are_pseudonyms_and_nobodys_words_are_in_it(story: Any) -> None:
    whole = json.dumps(_entries(story))
    for word in ("stranger", "tom", "mark", "zqx", "octocat"):
        assert word not in whole
    people = {e["actor"] for e in _entries(story) if e["actor"].startswith("p-")}
    assert len(people) == 2
    with story.database.begin() as tx:
        assert set(audit.named(tx, sorted(people)).values()) == {"tom", "mark"}


def test_a_mapping_is_erased_and_the_log_stays(story: Any) -> None:
    before = _entries(story)
    with story.database.begin() as tx:
        assert audit.erase(tx, "TOM") == 1
        assert audit.erase(tx, "tom") == 0
    assert _entries(story) == before
    story.clock.pass_(seconds=5)
    story.world.comment(1, "/pulse hold", by="tom")
    story.settle()
    new = [e for e in _entries(story) if e["act"] == "hand.held"]
    assert new[0]["actor"] not in {e["actor"] for e in before}


@pytest.mark.parametrize(
    "change", ["UPDATE audit SET act = 'x'", "DELETE FROM audit", "TRUNCATE audit"]
)
def test_it_is_append_only(story: Any, change: str) -> None:
    with pytest.raises(DBAPIError, match="append only"), story.engine.begin() as connection:
        connection.execute(text(change))


def test_it_is_read_in_order_in_parts(story: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _entries(story)
    monkeypatch.setattr(audit, "_PAGE", 3)
    assert _entries(story) == whole
    repository = story.world.repository().id
    of_one = list(audit.pages(story.database.begin, repository_id=repository))
    assert of_one == [e for e in whole if e["repository"] == "acme/widgets"]
    assert list(audit.pages(story.database.begin, repository_id=1)) == []
