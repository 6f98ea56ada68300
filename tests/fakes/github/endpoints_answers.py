"""Reactions to comments, and assignees."""

from tests.fakes.github.endpoints_repo import REPO
from tests.fakes.github.model import Comment, Repository
from tests.fakes.github.routes import Answer, Call, invalid, route
from tests.fakes.github.shapes_base import when

CONTENTS = {"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}


def _react(call: Call, repository: Repository, comments: list[Comment]) -> Answer:
    number = int(call.params["comment_id"])
    comment = call.found(next((c for c in comments if c.id == number), None))
    content = call.json.get("content")
    if content not in CONTENTS:
        raise invalid("Reaction", "invalid", "content")
    key = (call.actor.login, content)
    new = key not in comment.reactions
    if new:
        comment.reactions.append(key)
    made = {
        "id": comment.id + 1,
        "node_id": f"REA_{comment.id}",
        "user": call.world.shapes.user(call.actor),
        "content": content,
        "created_at": when(call.world.now()),
    }
    return Answer(201 if new else 200, made)


@route("POST", REPO + "/issues/comments/{comment_id}/reactions")
def react_to_comment(call: Call) -> Answer:
    """React to a comment; 200 where the reaction was there."""
    repository = call.repository()
    call.may_write(repository, "issues", "pull_requests")
    return _react(call, repository, [c for p in repository.pulls.values() for c in p.comments])


@route("POST", REPO + "/pulls/comments/{comment_id}/reactions")
def react_to_note(call: Call) -> Answer:
    """React to a comment on a line."""
    repository = call.repository()
    call.may_write(repository, "pull_requests")
    return _react(call, repository, [c for p in repository.pulls.values() for c in p.notes])


@route("POST", REPO + "/issues/{issue_number}/assignees")
def assign(call: Call) -> Answer:
    """Assign people; who has no rights there is left out without a word."""
    repository = call.repository()
    call.may_write(repository, "issues", "pull_requests")
    pull = call.pull(repository)
    for login in call.json.get("assignees", ()):
        user = call.world.users.get(login.lower())
        if user is not None and repository.at_least(user, "triage") and user not in pull.assignees:
            pull.assignees.append(user)
    issue = call.world.shapes.issue(repository, pull)
    return Answer(201, {k: v for k, v in issue.items() if k != "state_reason"})
