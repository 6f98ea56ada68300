"""Issues: opened by an App, and listed."""

from typing import Any

from tests.fakes.github.endpoints_repo import REPO
from tests.fakes.github.model import Issue, Repository
from tests.fakes.github.routes import Answer, Call, invalid, route


@route("POST", REPO + "/issues", "installation")
def create_issue(call: Call) -> Answer:
    """Opens an issue."""
    repository = call.repository()
    call.may_write(repository, "issues")
    title, body = call.json.get("title"), call.json.get("body")
    if not title:
        raise invalid("Issue", "missing_field", "title")
    made = call.world.open_issue(
        by=call.actor, title=title, repo=repository.full_name, body=body, app=call.app
    )
    return Answer(201, _issue(call, repository, made))


def _issue(call: Call, repository: Repository, issue: Issue) -> dict[str, Any]:
    """As the REST API has it: without a reason where it was never closed."""
    shape = call.world.shapes.plain_issue(repository, issue)
    return {key: value for key, value in shape.items() if key != "state_reason"}


@route("GET", REPO + "/issues", "installation")
def list_issues(call: Call) -> Answer:
    """Issues, the newest first; pull requests, which GitHub lists too, are left out."""
    repository = call.repository()
    creator, state = call.query.get("creator"), call.query.get("state", "open")
    found = [
        issue
        for issue in sorted(repository.issues.values(), key=lambda i: -i.number)
        if creator in {None, issue.user.login} and state in {"all", issue.state}
    ]
    items, links = call.page(found)
    return Answer(200, [_issue(call, repository, i) for i in items], links)
