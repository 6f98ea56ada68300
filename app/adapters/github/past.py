"""What past pull requests changed: ten in one GraphQL request, with how their issues became so."""

from collections.abc import Sequence

from pydantic import Field

from app.adapters.github.change import (
    FIELDS,
    TREE,
    GraphError,
    IssueNode,
    PullNode,
    RefNode,
    TemplateNode,
    TurnNode,
    failed,
    to_change,
)
from app.adapters.github.connection import Connection
from app.adapters.github.errors import UNREADABLE, narrow
from app.core.change import LinkedIssue
from app.core.errors import RetryLater
from app.core.github import Narrow
from app.core.past import Past, PastIssue, Turn, TurnKind

AT_ONCE = 10  # GitHub bounds a query by what it may have to look at
_MOST_TURNS = 100
_KINDS: dict[str, TurnKind] = {
    "LabeledEvent": "labeled",
    "UnlabeledEvent": "unlabeled",
    "AssignedEvent": "assigned",
    "UnassignedEvent": "unassigned",
    "ClosedEvent": "closed",
    "ReopenedEvent": "reopened",
}
_FIELDS = (
    FIELDS
    + f"""
fragment past on PullRequest {{
  ...changed
  commits(last: 100) {{ nodes {{ commit {{ committedDate }} }} }}
  forced: timelineItems(first: 1, itemTypes: [HEAD_REF_FORCE_PUSHED_EVENT]) {{
    nodes {{ __typename }}
  }}
  closingIssuesReferences(first: 20) {{
    nodes {{
      createdAt
      turns: timelineItems(first: {_MOST_TURNS}, itemTypes: [
        LABELED_EVENT, UNLABELED_EVENT, ASSIGNED_EVENT, UNASSIGNED_EVENT, CLOSED_EVENT, REOPENED_EVENT
      ]) {{
        pageInfo {{ hasNextPage }}
        nodes {{
          __typename
          ... on LabeledEvent {{ createdAt label {{ name }} }}
          ... on UnlabeledEvent {{ createdAt label {{ name }} }}
          ... on AssignedEvent {{ createdAt assignee {{ ... on User {{ databaseId }} }} }}
          ... on UnassignedEvent {{ createdAt assignee {{ ... on User {{ databaseId }} }} }}
          ... on ClosedEvent {{ createdAt }}
          ... on ReopenedEvent {{ createdAt }}
        }}
      }}
    }}
  }}
}}
"""
)


class _Repository(Narrow):
    pullRequestTemplates: tuple[TemplateNode, ...] = ()
    defaultBranchRef: RefNode | None = None


class _Data(Narrow):
    repository: dict[str, object] | None = None


class _Answer(Narrow):
    data: _Data | None = None
    errors: tuple[GraphError, ...] = Field(default=())


def read_past(github: Connection, owner: str, name: str, numbers: Sequence[int]) -> list[Past]:
    """At most `AT_ONCE` of them; those that GitHub does not show are left out.

    Raises `RetryLater`, and `Rejected` where there is no GraphQL, or a token is wanted.
    """
    aliases = "\n".join(f"p{n}: pullRequest(number: {int(n)}) {{ ...past }}" for n in numbers)
    query = f"""
query($owner: String!, $name: String!) {{
  repository(owner: $owner, name: $name) {{
    pullRequestTemplates {{ filename body }}
    defaultBranchRef {{ {TREE} }}
    {aliases}
  }}
}}
{_FIELDS}"""
    answer = narrow(_Answer, github.graphql(query, {"owner": owner, "name": name}).payload)
    if answer.data is None or answer.data.repository is None:
        raise failed(answer.errors[0]) if answer.errors else RetryLater(f"{UNREADABLE} (no data)")
    of_all = narrow(_Repository, answer.data.repository)
    # What GitHub had an error about is not known: of one pull request, or an issue of one.
    broken = {str(error.path[1]) for error in answer.errors if len(error.path) > 1}
    found = []
    for number in numbers:
        node = answer.data.repository.get(f"p{number}")
        if node is not None and f"p{number}" not in broken:
            found.append(_past(number, narrow(PullNode, node), of_all))
    return found


def _past(number: int, pull: PullNode, of_all: _Repository) -> Past:
    change = to_change(pull, of_all.pullRequestTemplates, of_all.defaultBranchRef)
    dates = [node.commit.committedDate for node in pull.commits.nodes]
    listed = pull.closingIssuesReferences
    nodes = [node for node in listed.nodes if node is not None] if listed else []
    issues = [_issue(n, i) for n, i in zip(nodes, change.issues or (), strict=False)]
    return Past(
        number=number,
        change=change,
        committed_at=max((d for d in dates if d is not None), default=None),
        forced=bool(pull.forced.nodes),
        issues=None if listed is None else tuple(issues),
    )


def _issue(node: IssueNode, issue: LinkedIssue) -> PastIssue:
    turns = [_turn(turn) for turn in node.turns.nodes]
    complete = not node.turns.pageInfo.hasNextPage and None not in turns
    known = tuple(turn for turn in turns if turn is not None)
    return PastIssue(issue=issue, created_at=node.createdAt, turns=known, complete=complete)


def _turn(node: TurnNode) -> Turn | None:
    kind = _KINDS.get(node.typename)
    if kind is None or node.createdAt is None:
        return None
    return Turn(
        at=node.createdAt,
        kind=kind,
        label=node.label.name if node.label else "",
        account_id=node.assignee.databaseId if node.assignee else None,
    )
