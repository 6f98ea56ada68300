"""`POST /graphql`: any query, carried out by graphql-core against GitHub's own schema.

The schema is the npm package `@octokit/graphql-schema`; without it there is no such endpoint, as on an
old server. What a resolver does not know is an error of the stand-in, seen as a violation.
"""

from datetime import datetime
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from graphql import GraphQLError, GraphQLSchema, build_ast_schema, execute_sync, parse, validate

from tests.fakes.github.model import Issue, Pull, PullCommit, Repository, User
from tests.fakes.github.routes import Answer, Call, Refusal, route
from tests.fakes.github.shapes_base import when
from tests.fakes.node import package, require_package_in_ci

GRAPHQL_SCHEMA = "@octokit/graphql-schema"


@cache
def schema() -> GraphQLSchema | None:
    """GitHub's schema, in half a second; None where the package is not installed."""
    require_package_in_ci(GRAPHQL_SCHEMA)
    folder = package(GRAPHQL_SCHEMA)
    if folder is None:
        return None
    document = parse((folder / "schema.graphql").read_text(), no_location=True)
    return build_ast_schema(document, assume_valid=True, assume_valid_sdl=True)


@route("POST", "/graphql", "token")
def graphql(call: Call) -> Answer:
    """200 with `data` and `errors`, whatever went wrong with the query."""
    known = schema()
    if known is None:
        raise Refusal(404, "Not Found")
    query = parse(call.json["query"])
    wrong = validate(known, query)
    if wrong:
        raise ValueError(f"GitHub's schema has no such query: {wrong}")
    done = execute_sync(
        known, query, _Root(call), variable_values=call.json.get("variables"),
        type_resolver=lambda value, *_: value.kind,
    )  # fmt: skip
    answer: dict[str, Any] = {"data": done.data}
    if done.errors:
        answer["errors"] = [_shown(error) for error in done.errors]
    return Answer(200, answer)


def _shown(error: GraphQLError) -> dict[str, Any]:
    kind = (error.extensions or {}).get("type")
    if kind is None:
        raise error  # a fault of the stand-in
    return {"type": kind, "path": error.path, "message": error.message}


class _Root:
    def __init__(self, call: Call) -> None:
        self._call = call

    def repository(self, _info: Any, owner: str, name: str, **_: Any) -> Any:
        call = self._call
        call.params = {"owner": owner, "repo": name}
        try:
            return _Repository(call.repository())
        except Refusal:
            words = f"Could not resolve to a Repository with the name '{owner}/{name}'."
            raise GraphQLError(words, extensions={"type": "NOT_FOUND"}) from None


class _Repository:
    kind = "Repository"

    def __init__(self, of: Repository) -> None:
        self._of = of
        self.databaseId = of.id

    def pullRequestTemplates(self, _info: Any) -> Any:
        return [
            {"filename": PurePosixPath(path).name, "body": content.decode()}
            for path, content in self._of.files.items()
            if path.lower().removeprefix(".github/") == "pull_request_template.md"
        ]

    @property
    def defaultBranchRef(self) -> Any:
        return {"target": _Base(self._of)}

    def pullRequest(self, _info: Any, number: int) -> Any:
        pull = self._of.pulls.get(number)
        if pull is None:
            words = f"Could not resolve to a PullRequest with the number of {number}."
            raise GraphQLError(words, extensions={"type": "NOT_FOUND"})
        return _Pull(self._of, pull)


class _Pull:
    kind = "PullRequest"

    def __init__(self, repository: Repository, of: Pull) -> None:
        self._repository, self._of = repository, of
        self.headRefOid = of.head_sha
        self.changedFiles = len(of.files)
        self.baseRef = {"target": _Base(repository)}

    def files(self, _info: Any, first: int, **_: Any) -> Any:
        keys = ("path", "additions", "deletions", "changeType")
        return {"nodes": [dict(zip(keys, f, strict=True)) for f in self._of.files[:first]]}

    def commits(self, _info: Any, last: int, **_: Any) -> Any:
        nodes = [{"commit": _commit(c)} for c in self._of.commits[-last:]]
        return {"totalCount": len(self._of.commits), "nodes": nodes}

    def timelineItems(self, _info: Any, **_: Any) -> Any:
        return {"nodes": [], "pageInfo": {"hasNextPage": False}}

    def closingIssuesReferences(self, _info: Any, first: int, **_: Any) -> Any:
        issues = [self._repository.issues[n] for n in self._of.closes[:first]]
        return {"nodes": [_Issue(self._repository, i) for i in issues]}


class _Base:
    kind = "Commit"

    def __init__(self, repository: Repository) -> None:
        tops = sorted({path.split("/")[0] for path in repository.files})
        self.tree = {"entries": [{"name": top} for top in tops]}


def _commit(commit: PullCommit) -> dict[str, Any]:
    return {
        "oid": commit.sha,
        "committedDate": when(commit.at),
        "message": commit.message,
        "committedViaWeb": commit.update,
        "parents": {"totalCount": 2 if commit.update else 1},
        "author": {"user": _user(commit.author)},
    }


class _Issue:
    def __init__(self, repository: Repository, of: Issue) -> None:
        self._of = of
        self.number = of.number
        self.state = of.state.upper()
        self.repository = {"databaseId": repository.id}
        self.author = _user(of.user)
        self.createdAt = when(of.created_at)

    def timelineItems(self, _info: Any, first: int, **_: Any) -> Any:
        nodes = [_Turn(*turn) for turn in self._of.turns]
        return {"nodes": nodes[:first], "pageInfo": {"hasNextPage": len(nodes) > first}}

    def labels(self, _info: Any, first: int, **_: Any) -> Any:
        if self._of.hidden:
            raise GraphQLError("Resource not accessible", extensions={"type": "FORBIDDEN"})
        return {"nodes": [{"name": label.name} for label in self._of.labels[:first]]}

    def assignees(self, _info: Any, first: int, **_: Any) -> Any:
        return {"nodes": [_user(user) for user in self._of.assignees[:first]]}


class _Turn:
    def __init__(self, kind: str, at: datetime, what: str | User | None) -> None:
        self.kind, self.createdAt = kind, when(at)
        self.label = {"name": what}
        self.assignee = _user(what) if isinstance(what, User) else None


class _User:
    def __init__(self, of: User) -> None:
        self.kind = {"Bot": "Bot"}.get(of.type, "User")
        self.databaseId = of.id


def _user(user: User | None) -> _User | None:
    return None if user is None or user.deleted else _User(user)
