"""What a pull request changes: one GraphQL request, since the REST API needs six."""

from typing import Any

from pydantic import Field

from app.adapters.github.connection import Connection
from app.adapters.github.errors import UNREADABLE, narrow
from app.core.change import (
    MOST_COMMITS,
    MOST_FILES,
    MOST_ISSUES,
    Change,
    ChangedFile,
    Commit,
    LinkedIssue,
    Template,
    trailers_of,
)
from app.core.errors import Rejected, RetryLater
from app.core.facts import RepositoryRef
from app.core.github import Id, Line, Moment, Narrow, Prose
from app.core.text import one_line

FIELDS = """
fragment changed on PullRequest {
  headRefOid
  changedFiles
  files(first: 100) { nodes { path additions deletions changeType } }
  commits(last: 100) {
    totalCount
    nodes {
      commit {
        oid message committedViaWeb parents { totalCount } author { user { databaseId } }
      }
    }
  }
  closingIssuesReferences(first: 20) {
    nodes {
      number
      state
      repository { databaseId }
      labels(first: 50) { nodes { name } }
      assignees(first: 20) { nodes { databaseId } }
      author { ... on User { databaseId } ... on Bot { databaseId } }
    }
  }
}
"""
TREE = "target { ... on Commit { tree { entries { name } } } }"
QUERY = f"""
query($owner: String!, $name: String!, $number: Int!) {{
  repository(owner: $owner, name: $name) {{
    pullRequestTemplates {{ filename body }}
    pullRequest(number: $number) {{
      ...changed
      baseRef {{ {TREE} }}
    }}
  }}
}}
{FIELDS}"""
_ISSUES = "closingIssuesReferences"
_UNSEEN = {"FORBIDDEN", "NOT_FOUND"}


class _Account(Narrow):
    databaseId: Id | None = None


class _Count(Narrow):
    totalCount: int = 0


class _File(Narrow):
    path: Prose
    additions: int = 0
    deletions: int = 0
    changeType: str


class _Author(Narrow):
    user: _Account | None = None


class CommitNode(Narrow):
    """`committedDate` is asked for of the past alone."""

    committedDate: Moment | None = None
    oid: Line
    message: Prose = ""
    committedViaWeb: bool = False
    parents: _Count = _Count()
    author: _Author | None = None


class _Wrapped(Narrow):
    commit: CommitNode


class _Files(Narrow):
    nodes: tuple[_File, ...] = ()


class CommitNodes(Narrow):
    totalCount: int = 0
    nodes: tuple[_Wrapped, ...] = ()


class _Label(Narrow):
    name: Line


class _Labels(Narrow):
    nodes: tuple[_Label, ...] = ()


class _Accounts(Narrow):
    nodes: tuple[_Account, ...] = ()


class TurnNode(Narrow):
    """One event of a timeline."""

    typename: Line = Field(alias="__typename")
    createdAt: Moment | None = None
    label: _Label | None = None
    assignee: _Account | None = None


class _Page(Narrow):
    hasNextPage: bool = False


class TurnNodes(Narrow):
    """The first of them."""

    pageInfo: _Page = _Page()
    nodes: tuple[TurnNode, ...] = ()


class IssueNode(Narrow):
    """`createdAt` and `turns` are asked for of the past alone."""

    createdAt: Moment | None = None
    turns: TurnNodes = TurnNodes()
    number: Id
    state: str
    repository: _Account
    labels: _Labels = _Labels()
    assignees: _Accounts = _Accounts()
    author: _Account | None = None


class IssueNodes(Narrow):
    """As GitHub pages them."""

    nodes: tuple[IssueNode | None, ...] = ()


class _Entry(Narrow):
    name: Prose


class _Tree(Narrow):
    entries: tuple[_Entry, ...] = ()


class _Target(Narrow):
    tree: _Tree = _Tree()


class RefNode(Narrow):
    """A branch: what lies at the top of its tree."""

    target: _Target = _Target()


class PullNode(Narrow):
    """`forced` (force pushes) is asked for of the past alone."""

    forced: TurnNodes = TurnNodes()
    headRefOid: Line
    changedFiles: int = 0
    files: _Files = _Files()
    commits: CommitNodes = CommitNodes()
    closingIssuesReferences: IssueNodes | None = None
    baseRef: RefNode | None = None


class TemplateNode(Narrow):
    """A template for descriptions."""

    filename: Line = ""
    body: Prose = ""


class _Repository(Narrow):
    pullRequestTemplates: tuple[TemplateNode, ...] = ()
    pullRequest: PullNode | None = None


class _Data(Narrow):
    repository: _Repository | None = None


class GraphError(Narrow):
    """An error beside what could be answered."""

    type: str = ""
    message: Line = ""
    path: tuple[str | int, ...] = ()


class _Answer(Narrow):
    data: _Data | None = None
    errors: tuple[GraphError, ...] = Field(default=())


def read_change(github: Connection, repository: RepositoryRef, number: int) -> Change:
    """What the pull request changes, as of its head now. See `core.ports.Reader.change`."""
    asked = {"owner": repository.owner, "name": repository.name, "number": number}
    answer = narrow(_Answer, github.graphql(QUERY, asked).payload)
    unseen = [e for e in answer.errors if e.type in _UNSEEN and _ISSUES in e.path]
    # A single one that GitHub does not show lies in a repository that we do not reach, and so
    # is none of this one's; only without all of them nothing is known.
    hidden = [e for e in unseen if e.path[-1:] == (_ISSUES,)]
    other = next((e for e in answer.errors if e not in unseen), None)
    if other is not None:
        raise failed(other)
    if answer.data is None or answer.data.repository is None:
        raise RetryLater(f"{UNREADABLE} (an answer without data)")
    pull = answer.data.repository.pullRequest
    if pull is None:
        raise Rejected("GitHub knows of no such pull request", status=404)
    templates = answer.data.repository.pullRequestTemplates
    return to_change(pull, templates, pull.baseRef, hidden=bool(hidden))


def failed(error: GraphError) -> RetryLater | Rejected:
    """An error of GraphQL's in the flows' words."""
    reason = one_line(f"GitHub's GraphQL answered {error.type or 'an error'}: {error.message}")
    if error.type == "NOT_FOUND":
        return Rejected(reason, status=404)
    return RetryLater(reason)


def to_change(
    pull: PullNode,
    templates: tuple[TemplateNode, ...],
    base: RefNode | None,
    *,
    hidden: bool = False,
) -> Change:
    """The change as GitHub showed it. `hidden`: it showed no issues."""
    return Change(
        head_sha=pull.headRefOid,
        files=tuple(_file(f) for f in pull.files.nodes[:MOST_FILES]),
        files_total=pull.changedFiles,
        commits=tuple(_commit(c.commit) for c in pull.commits.nodes[-MOST_COMMITS:]),
        commits_total=pull.commits.totalCount,
        issues=None if hidden else _issues(pull.closingIssuesReferences),
        templates=tuple(Template(name=t.filename, body=t.body) for t in templates),
        top_level=tuple(e.name for e in base.target.tree.entries) if base else (),
    )


def _file(found: _File) -> ChangedFile:
    words: dict[str, Any] = {"DELETED": "removed"}
    known = {"added", "modified", "renamed", "copied", "changed"}
    word = found.changeType.lower()
    return ChangedFile(
        path=found.path,
        status=words.get(found.changeType) or (word if word in known else "changed"),
        additions=found.additions,
        deletions=found.deletions,
    )


def _commit(found: CommitNode) -> Commit:
    user = found.author.user if found.author else None
    return Commit(
        sha=found.oid,
        author_id=user.databaseId if user else None,
        parents=found.parents.totalCount,
        by_github=found.committedViaWeb,
        trailers=trailers_of(found.message),
    )


def _issues(found: IssueNodes | None) -> tuple[LinkedIssue, ...] | None:
    if found is None:
        return None
    return tuple(
        LinkedIssue(
            repository_id=issue.repository.databaseId or 0,
            number=issue.number,
            open=issue.state == "OPEN",
            labels=tuple(label.name for label in issue.labels.nodes),
            assignees=tuple(a.databaseId for a in issue.assignees.nodes if a.databaseId),
            author_id=issue.author.databaseId if issue.author else None,
        )
        for issue in found.nodes[:MOST_ISSUES]
        if issue is not None
    )
