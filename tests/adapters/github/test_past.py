"""What GitHub may answer to the question what past pull requests changed."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from app.adapters.github.client import public
from app.adapters.github.connection import Connection
from app.adapters.github.past import read_past
from app.core.errors import Rejected, RetryLater
from tests.adapters.github.scripted import Reply, Scripted
from tests.adapters.github.test_change import ISSUE, PULL


@pytest.fixture
def token(scripted: Scripted) -> Iterator[Connection]:
    with public(scripted.url, "a token") as connection:
        yield connection


TURNS = [
    {"__typename": "LabeledEvent", "createdAt": "2026-05-01T12:00:00Z", "label": {"name": "b\0"}},
    {"__typename": "AssignedEvent", "createdAt": "2026-05-01T12:00:00Z", "assignee": {}},
]


def pull(turns: Any = TURNS, *, more: bool = False, **changed: Any) -> dict[str, Any]:
    page = {"nodes": turns, "pageInfo": {"hasNextPage": more}}
    issue = {**ISSUE, "createdAt": "2026-04-01T12:00:00Z", "turns": page}
    commits = {"totalCount": 2, "nodes": [_commit("2026-05-03"), _commit("2026-05-02")]}
    known = {**PULL, "commits": commits, "closingIssuesReferences": {"nodes": [None, issue]}}
    return {**known, "forced": {"nodes": []}, **changed}


def _commit(day: str) -> dict[str, Any]:
    return {"commit": {"oid": "b" * 40, "committedDate": f"{day}T00:00:00+02:00"}}


def answered(errors: Any = (), **pulls: Any) -> Reply:
    tree = {"target": {"tree": {"entries": [{"name": "src"}]}}}
    repository = {"pullRequestTemplates": None, "defaultBranchRef": tree, **pulls}
    return Reply(200, {"data": {"repository": repository}, "errors": list(errors)})


def test_it_is_read_with_how_its_issues_became_so(scripted: Scripted, token: Connection) -> None:
    scripted.on("POST", "/graphql$", answered(p5=pull(), p6=None))
    (found,) = read_past(token, "acme", "widgets", [5, 6])
    assert found.number == 5
    assert found.committed_at == datetime(2026, 5, 2, 22, tzinfo=UTC)
    assert not found.forced
    assert found.change.top_level == ("src",)
    assert found.issues is not None
    (issue,) = found.issues
    assert issue.complete
    assert [(turn.kind, turn.label) for turn in issue.turns] == [("labeled", "b"), ("assigned", "")]


@pytest.mark.parametrize(
    ("turns", "more"),
    [
        (TURNS, True),
        ([{"__typename": "OddEvent"}], False),
        ([{"__typename": "ClosedEvent"}], False),
    ],
)
def test_events_that_are_not_all_known_are_told(
    scripted: Scripted, token: Connection, turns: Any, more: bool
) -> None:
    scripted.on("POST", "/graphql$", answered(p5=pull(turns, more=more)))
    (found,) = read_past(token, "acme", "widgets", [5])
    assert found.issues is not None
    assert not found.issues[0].complete


def test_one_that_github_has_an_error_about_is_left_out(
    scripted: Scripted, token: Connection
) -> None:
    error = {"type": "FORBIDDEN", "message": "no", "path": ["repository", "p5", "files"]}
    scripted.on("POST", "/graphql$", answered([error], p5=pull(), p6=pull(forced={"nodes": [{"__typename": "X"}]})))  # fmt: skip
    (found,) = read_past(token, "acme", "widgets", [5, 6])
    assert (found.number, found.forced) == (6, True)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(404, {"message": "Not Found"}), Rejected),
        (Reply(200, {"data": None, "errors": [{"type": "NOT_FOUND", "message": "?"}]}), Rejected),
        (Reply(200, {"data": None}), RetryLater),
        (Reply(200, [1]), RetryLater),
        (answered(p5={"headRefOid": 5}), RetryLater),
    ],
)
def test_what_is_no_answer_is_an_error(
    scripted: Scripted, token: Connection, reply: Reply, error: type[Exception]
) -> None:
    scripted.on("POST", "/graphql$", reply)
    with pytest.raises(error):
        read_past(token, "acme", "widgets", [5])
