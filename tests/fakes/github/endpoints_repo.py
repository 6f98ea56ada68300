"""Endpoints of a repository: reads and the App's writes on pull requests."""

from typing import Any

from tests.fakes.github.model import CheckRun, Comment, Repository, User
from tests.fakes.github.routes import Answer, Call, Refusal, invalid, route
from tests.fakes.github.shapes_base import when

REPO = "/repos/{owner}/{repo}"
BODY_LIMIT = 65536  # characters of a comment; GitHub's


@route("GET", REPO)
def get_repository(call: Call) -> Answer:
    """One repository."""
    return Answer(200, call.world.shapes.full_repository(call.repository()))


@route("GET", REPO + "/collaborators/{username}/permission")
def permission(call: Call) -> Answer:
    """Somebody's permission: 404 for a login that nobody has."""
    repository = call.repository()
    try:
        user = call.world.user(call.params["username"])
    except KeyError:
        raise Refusal(404, f"{call.params['username']} is not a user") from None
    return Answer(200, call.world.shapes.permission(repository, user))


@route("GET", REPO + "/contents/{path}")
def contents(call: Call) -> Answer:
    """A file of the default branch, as JSON or raw."""
    repository = call.repository()
    files = dict(repository.files)
    if ref := call.query.get("ref"):
        pull = next((p for p in repository.pulls.values() if p.head_sha == ref), None)
        files |= call.found(pull).head_files
    content = call.found(files.get(call.params["path"]))
    if "raw" in call.headers.get("accept", ""):
        return Answer(200, content, media="application/vnd.github.raw+json; charset=utf-8")
    return Answer(200, call.world.shapes.file(repository, call.params["path"], content))


# Pull requests


@route("GET", REPO + "/pulls")
def list_pulls(call: Call) -> Answer:
    """Pull requests, the newest first unless asked otherwise."""
    repository, query = call.repository(), call.query
    state, sort = query.get("state", "open"), query.get("sort", "created")
    pulls = [p for p in repository.pulls.values() if state in {"all", p.state}]
    if "head" in query:
        pulls = [p for p in pulls if f"{p.user.login}:{p.head_ref}" == query["head"]]
    ascending = query.get("direction", "desc" if sort == "created" else "asc") == "asc"
    pulls.sort(
        key=lambda p: (p.updated_at if sort == "updated" else p.created_at, p.number),
        reverse=not ascending,
    )
    items, links = call.page(pulls)
    return Answer(200, [call.world.shapes.short_pull(repository, p) for p in items], links)


@route("GET", REPO + "/pulls/{pull_number}")
def get_pull(call: Call) -> Answer:
    """One pull request."""
    repository = call.repository()
    return Answer(200, call.world.shapes.pull(repository, call.pull(repository)))


@route("PATCH", REPO + "/pulls/{pull_number}")
def update_pull(call: Call) -> Answer:
    """Title, body, and open or closed. What was merged stays so."""
    repository = call.repository()
    call.may_write(repository, "pull_requests")
    pull, asked = call.pull(repository), call.json
    wanted = asked.get("state", pull.state)
    if wanted == "open" and pull.state == "closed":
        if pull.merged_at:
            raise invalid("PullRequest", "invalid", "state")
        if pull.head_repo is None or pull.head_repo.deleted:
            words = (
                f"state cannot be changed. The repository that submitted {pull.number} was deleted."
            )
            raise invalid("PullRequest", "custom", "state", message=words)
    text = {k: asked[k] for k in ("title", "body") if k in asked and asked[k] != getattr(pull, k)}
    if text:
        login, name = call.actor.login, repository.full_name
        call.world.edit_pull(pull.number, by=login, repo=name, **text)
    call.world.set_state(repository, pull, wanted, call.actor)
    return Answer(200, call.world.shapes.pull(repository, pull))


# Labels


def _labels(call: Call, repository: Repository) -> list[dict[str, Any]]:
    return [call.world.shapes.label(repository, x) for x in call.pull(repository).labels]


@route("GET", REPO + "/issues/{issue_number}/labels")
def issue_labels(call: Call) -> Answer:
    """Labels of a pull request."""
    items, links = call.page(_labels(call, call.repository()))
    return Answer(200, items, links)


@route("POST", REPO + "/issues/{issue_number}/labels")
def add_labels(call: Call) -> Answer:
    """Put labels on; unknown ones come into being."""
    repository = call.repository()
    call.may_write(repository, "pull_requests", "issues")
    pull = call.pull(repository)
    for given in call.json.get("labels", ()):
        name = given if isinstance(given, str) else given["name"]
        call.world.put_label(repository, pull, name, call.actor)
    return Answer(200, _labels(call, repository))


@route("DELETE", REPO + "/issues/{issue_number}/labels/{name}")
def remove_label(call: Call) -> Answer:
    """Take a label off; 404 where it is not on."""
    repository = call.repository()
    call.may_write(repository, "pull_requests", "issues")
    try:
        call.world.take_label(repository, call.pull(repository), call.params["name"], call.actor)
    except KeyError:
        raise Refusal(404, "Label does not exist") from None
    return Answer(200, _labels(call, repository))


@route("GET", REPO + "/labels")
def list_labels(call: Call) -> Answer:
    """Labels of the repository."""
    repository = call.repository()
    items, links = call.page(list(repository.labels.values()))
    return Answer(200, [call.world.shapes.label(repository, x) for x in items], links)


@route("GET", REPO + "/labels/{name}")
def get_label(call: Call) -> Answer:
    """One label."""
    repository = call.repository()
    found = call.found(repository.labels.get(call.params["name"].lower()))
    return Answer(200, call.world.shapes.label(repository, found))


@route("POST", REPO + "/labels")
def create_label(call: Call) -> Answer:
    """A new label; 422 where there is one of that name in any case."""
    repository, asked = call.repository(), call.json
    call.may_write(repository, "pull_requests", "issues")
    if asked["name"].lower() in repository.labels:
        raise invalid("Label", "already_exists", "name")
    label = call.world.label_named(repository, asked["name"])
    label.color = asked.get("color", label.color)
    label.description = asked.get("description")
    return Answer(201, call.world.shapes.label(repository, label))


# Comments


@route("GET", REPO + "/issues/{issue_number}/comments")
def list_comments(call: Call) -> Answer:
    """Comments of a pull request or issue, the oldest first."""
    repository = call.repository()
    since = call.query.get("since", "")
    wanted = [c for c in call.thread(repository).comments if (when(c.updated_at) or "") >= since]
    items, links = call.page(wanted)
    return Answer(200, [call.world.shapes.comment(repository, c) for c in items], links)


def _text(call: Call) -> str:
    body = call.json.get("body")
    if not isinstance(body, str) or not body.strip():
        raise invalid("IssueComment", "missing_field", "body")
    if len(body) > BODY_LIMIT:
        words = "body is too long (maximum is 65536 characters)"
        raise invalid("IssueComment", "unprocessable", "data", message=words)
    return body


@route("POST", REPO + "/issues/{issue_number}/comments")
def create_comment(call: Call) -> Answer:
    """Write a comment; 403 where the conversation is locked."""
    repository = call.repository()
    call.may_write(repository, "pull_requests", "issues")
    thread, text = call.thread(repository), _text(call)
    if thread.locked:
        raise Refusal(403, "Unable to create comment because issue is locked.")
    made = call.world.write_comment(repository, thread, text, call.actor, app=call.app)
    return Answer(201, call.world.shapes.comment(repository, made))


@route("GET", REPO + "/issues/{issue_number}/events")
def list_events(call: Call) -> Answer:
    """When a pull request was closed, reopened and labelled, by whom; the oldest first."""
    repository = call.repository()
    items, links = call.page(call.pull(repository).turns)
    return Answer(200, [call.world.shapes.turn(repository, t) for t in items], links)


def _comment(call: Call, repository: Repository) -> Comment:
    number = int(call.params["comment_id"])
    everything = (c for p in repository.pulls.values() for c in p.comments)
    return call.found(next((c for c in everything if c.id == number), None))


@route("GET", REPO + "/issues/comments/{comment_id}")
def get_comment(call: Call) -> Answer:
    """One comment."""
    repository = call.repository()
    return Answer(200, call.world.shapes.comment(repository, _comment(call, repository)))


@route("PATCH", REPO + "/issues/comments/{comment_id}")
def update_comment(call: Call) -> Answer:
    """Edit a comment."""
    repository = call.repository()
    call.may_write(repository, "pull_requests", "issues")
    comment, text = _comment(call, repository), _text(call)
    before, comment.body, comment.updated_at = comment.body, text, call.world.now()
    pull = repository.pulls[comment.number]
    pull.updated_at = comment.updated_at
    if before != text:
        changes = {"body": {"from": before}}
        call.world.tell_comment("edited", repository, pull, comment, call.actor, changes=changes)
    return Answer(200, call.world.shapes.comment(repository, comment))


# Check runs


def _fill(call: Call, run: CheckRun, asked: dict[str, Any]) -> None:
    for key in ("name", "external_id", "details_url", "output", "actions", "status", "conclusion"):
        if key in asked:
            setattr(run, key, asked[key])
    if asked.get("conclusion"):
        run.status = "completed"
    if run.status == "completed":
        if run.conclusion is None:
            raise invalid("CheckRun", "missing_field", "conclusion")
        run.completed_at = run.completed_at or call.world.now()


@route("POST", REPO + "/check-runs", "installation")
def create_check(call: Call) -> Answer:
    """A check run on a commit that the repository knows."""
    repository, asked = call.repository(), call.json
    call.may_write(repository, "checks")
    assert call.app is not None
    sha = asked["head_sha"]
    if sha not in repository.shas:
        raise Refusal(422, f"No commit found for SHA: {sha}")
    run = CheckRun(next(call.world.ids), asked["name"], sha, call.app, call.world.now())
    _fill(call, run, asked)
    repository.checks.append(run)
    _tell_check(call, repository, run, "created", call.actor)
    return Answer(201, call.world.shapes.check_run(repository, run))


def _tell_check(call: Call, repository: Repository, run: CheckRun, action: str, by: User) -> None:
    call.world.tell_check(action, repository, run, by)
    if run.status == "completed" and action == "created":
        call.world.tell_check("completed", repository, run, by)


def _check(call: Call, repository: Repository) -> CheckRun:
    number = int(call.params["check_run_id"])
    return call.found(next((r for r in repository.checks if r.id == number), None))


@route("GET", REPO + "/check-runs/{check_run_id}")
def get_check(call: Call) -> Answer:
    """One check run."""
    repository = call.repository()
    return Answer(200, call.world.shapes.check_run(repository, _check(call, repository)))


@route("PATCH", REPO + "/check-runs/{check_run_id}", "installation")
def update_check(call: Call) -> Answer:
    """Change a check run of one's own."""
    repository = call.repository()
    call.may_write(repository, "checks")
    run = _check(call, repository)
    if run.app is not call.app:
        raise Refusal(403, "Invalid app_id `0` - check run can only be modified by its GitHub App")
    done = run.status == "completed"
    _fill(call, run, call.json)
    if not done and run.status == "completed":
        _tell_check(call, repository, run, "completed", call.actor)
    return Answer(200, call.world.shapes.check_run(repository, run))


@route("GET", REPO + "/commits/{ref}/check-runs")
def list_checks(call: Call) -> Answer:
    """Check runs on a commit: of each name the latest, unless all are asked for."""
    repository, ref = call.repository(), call.params["ref"]
    if ref not in repository.shas:
        raise Refusal(422, f"No commit found for SHA: {ref}")
    runs = [r for r in repository.checks if r.head_sha == ref]
    if "check_name" in call.query:
        runs = [r for r in runs if r.name == call.query["check_name"]]
    if "app_id" in call.query:
        runs = [r for r in runs if str(r.app.id) == call.query["app_id"]]
    if call.query.get("filter", "latest") == "latest":
        runs = list({(r.app.id, r.name): r for r in runs}.values())
    runs.reverse()
    items, links = call.page(runs)
    shapes = [call.world.shapes.check_run(repository, r) for r in items]
    return Answer(200, {"total_count": len(runs), "check_runs": shapes}, links)
