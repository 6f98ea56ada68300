"""Interaction limits of a repository."""

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
