"""Reviews and review comments of a pull request, to read."""

from typing import Any
from urllib.parse import quote

from tests.fakes.github.endpoints_repo import REPO
from tests.fakes.github.model import Pull, Repository
from tests.fakes.github.routes import Answer, Call, route
from tests.fakes.github.world import sha_of


@route("GET", REPO + "/pulls/{pull_number}/reviews")
def list_reviews(call: Call) -> Answer:
    """All reviews, the oldest first."""
    repository = call.repository()
    items, links = call.page(call.pull(repository).reviews)
    return Answer(200, items, links)


@route("GET", REPO + "/pulls/{pull_number}/comments")
def list_review_comments(call: Call) -> Answer:
    """All comments on lines, the oldest first."""
    repository = call.repository()
    items, links = call.page(call.pull(repository).notes)
    shapes = call.world.shapes
    return Answer(200, [shapes.note(repository, note) for note in items], links)


@route("GET", REPO + "/pulls/{pull_number}/files")
def list_files(call: Call) -> Answer:
    """The diff, file by file."""
    repository = call.repository()
    pull = call.pull(repository)
    items, links = call.page(pull.files)
    return Answer(200, [_file(call, repository, pull, one) for one in items], links)


def _file(
    call: Call, repository: Repository, pull: Pull, one: tuple[str, int, int, str]
) -> dict[str, Any]:
    path, additions, deletions, change = one
    here = f"{call.world.shapes.api}/repos/{repository.full_name}/contents/{quote(path)}"
    shown = {
        "sha": sha_of(repository.id, pull.number),
        "filename": path,
        "status": change.lower().replace("deleted", "removed"),
        "additions": additions,
        "deletions": deletions,
        "changes": additions + deletions,
        "blob_url": here,
        "raw_url": here,
        "contents_url": here,
    }
    return {**shown, "patch": pull.patches[path]} if path in pull.patches else shown
