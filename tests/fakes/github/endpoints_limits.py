"""GitHub's own controls of a repository: who may open pull requests there, and how many."""

from datetime import timedelta

from tests.fakes.github.endpoints_repo import REPO
from tests.fakes.github.routes import Answer, Call, invalid, route
from tests.fakes.github.shapes_base import when

GROUPS = {"existing_users", "contributors_only", "collaborators_only"}
DAYS = {"one_day": 1, "three_days": 3, "one_week": 7, "one_month": 30, "six_months": 180}


@route("GET", REPO + "/interaction-limits", "installation")
def get_limits(call: Call) -> Answer:
    """The limit in force; an empty object where there is none."""
    repository = call.repository()
    call.may_write(repository, "administration")
    return Answer(200, repository.limit or {})


@route("PUT", REPO + "/interaction-limits", "installation")
def put_limits(call: Call) -> Answer:
    """Puts a limit on the repository."""
    repository = call.repository()
    call.may_write(repository, "administration")
    group, expiry = call.json.get("limit"), call.json.get("expiry", "one_day")
    if group not in GROUPS or expiry not in DAYS:
        raise invalid("InteractionLimit", "invalid", "limit")
    ends = call.world.now() + timedelta(days=DAYS[expiry])
    repository.limit = {"limit": group, "origin": "repository", "expires_at": when(ends)}
    return Answer(200, repository.limit)


@route("DELETE", REPO + "/interaction-limits", "installation")
def delete_limits(call: Call) -> Answer:
    """Takes the limit off."""
    repository = call.repository()
    call.may_write(repository, "administration")
    repository.limit = None
    return Answer(204, b"")


@route("PATCH", REPO, "installation")
def patch_repository(call: Call) -> Answer:
    """Who may open pull requests; nothing else of a repository is changed here."""
    repository = call.repository()
    call.may_write(repository, "administration")
    policy = call.json.get("pull_request_creation_policy")
    if policy not in {"all", "collaborators_only"}:
        raise invalid("Repository", "invalid", "pull_request_creation_policy")
    repository.creation_policy = policy
    return Answer(200, call.world.shapes.full_repository(repository))


@route("PATCH", REPO + "/interaction-limits/pulls/creation-cap", "installation")
def patch_cap(call: Call) -> Answer:
    """How many open pull requests each user may have."""
    repository = call.repository()
    call.may_write(repository, "administration")
    on, most = call.json["enabled"], call.json.get("max_open_pull_requests", 1)
    repository.creation_cap = most if on else None
    return Answer(200, {"enabled": on, "max_open_pull_requests": most})
