"""What GitHub may answer to the question what a pull request changes."""

from typing import Any

import pytest

from app.adapters.github.reader import GitHubReader
from app.core.errors import Rejected, RetryLater
from app.core.facts import RepositoryRef
from tests.adapters.github.scripted import Reply, Scripted

ISSUE = {
    "number": 12,
    "state": "OPEN",
    "repository": {"databaseId": 2},
    "labels": {"nodes": [{"name": "accepted"}]},
    "assignees": {"nodes": [{"databaseId": 7}, {"databaseId": None}]},
    "author": None,
}
PULL: dict[str, Any] = {
    "headRefOid": "a" * 40,
    "changedFiles": 120,
    "files": {"nodes": [{"path": "a\0b\ud800.py", "additions": 1, "changeType": "ADDED"}]},
    "commits": {
        "totalCount": 1,
        "nodes": [
            {
                "commit": {
                    "oid": "b" * 40,
                    "message": "Fix: it\n\nWords.\n\nCo-authored-by: A\0mp <amp@ampcode.com>",
                    "committedViaWeb": True,
                    "parents": {"totalCount": 2},
                    "author": {"user": None},
                }
            }
        ],
    },
    "closingIssuesReferences": {"nodes": [ISSUE]},
    "baseRef": None,
}


def answered(pull: Any, errors: Any = None) -> dict[str, Any]:
    data = {"repository": {"pullRequestTemplates": None, "pullRequest": pull}}
    return {"data": data, **({"errors": errors} if errors else {})}


def test_what_is_there_is_cleaned_and_what_is_not_is_unknown(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef
) -> None:
    scripted.on("POST", "/graphql$", Reply(200, answered(PULL)))
    change = reader.change(repository, 5)
    assert change.files[0].path == "ab.py"
    assert not change.has_all_files
    assert change.commits[0].is_update
    assert "Co-authored-by: Amp <amp@ampcode.com>" in change.commits[0].trailers
    assert change.top_level == ()
    assert change.templates == ()
    assert change.issues is not None
    assert (change.issues[0].labels, change.issues[0].assignees) == (("accepted",), (7,))
    assert change.issues[0].author_id is None


HIDDEN = [{"type": "FORBIDDEN", "path": ["repository", "pullRequest", "closingIssuesReferences"]}]


@pytest.mark.parametrize(
    ("issues", "errors"),
    [(None, HIDDEN), (None, None)],
)
def test_issues_that_are_not_shown_are_unknown_and_not_none(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef, issues: Any, errors: Any
) -> None:
    pull = {**PULL, "closingIssuesReferences": issues}
    scripted.on("POST", "/graphql$", Reply(200, answered(pull, errors)))
    assert reader.change(repository, 5).issues is None


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(200, {"errors": [{"type": "RATE_LIMITED", "message": "slow down"}]}), RetryLater),
        (Reply(200, {"errors": [{"type": "NOT_FOUND", "message": "no"}], "data": None}), Rejected),
        (Reply(200, {"errors": [{"message": "Something went wrong"}], "data": None}), RetryLater),
        (Reply(200, answered(None)), Rejected),
        (Reply(200, {"data": {"repository": None}}), RetryLater),
        (Reply(200, {"data": None}), RetryLater),
        (Reply(200, []), RetryLater),
        (Reply(200, answered({**PULL, "headRefOid": None})), RetryLater),
        (Reply(200, answered({**PULL, "files": {"nodes": ["x"]}})), RetryLater),
        (Reply(403, {"message": "You have exceeded a secondary rate limit"}), RetryLater),
        (Reply(404, {"message": "Not Found"}), Rejected),
        (Reply(401, {"message": "Bad credentials"}), RetryLater),
    ],
)
def test_what_cannot_be_read_is_no_finding(
    scripted: Scripted,
    reader: GitHubReader,
    repository: RepositoryRef,
    reply: Reply,
    error: type[Exception],
) -> None:
    scripted.on("POST", "/graphql$", reply)
    with pytest.raises(error):
        reader.change(repository, 5)


def test_on_an_enterprise_server_it_lies_beside_the_rest_api(
    scripted: Scripted, connect: Any, repository: RepositoryRef
) -> None:
    scripted.on("POST", "/access_tokens$", scripted.new_token)
    scripted.on("POST", "^/api/graphql$", Reply(200, answered(PULL)))
    reader = GitHubReader(connect(f"{scripted.url}/api/v3").installation)
    assert reader.change(repository, 5).commits_total == 1


@pytest.mark.parametrize(
    "errors", [None, [{"type": "FORBIDDEN", "path": [*HIDDEN[0]["path"], "nodes", 1]}]]
)
def test_a_single_issue_that_is_not_shown_lies_elsewhere_and_hides_no_other(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef, errors: Any
) -> None:
    """Else a link to a private issue of one's own would make the rule silent."""
    pull = {**PULL, "closingIssuesReferences": {"nodes": [ISSUE, None]}}
    scripted.on("POST", "/graphql$", Reply(200, answered(pull, errors)))
    issues = reader.change(repository, 5).issues
    assert issues is not None
    assert len(issues) == 1
