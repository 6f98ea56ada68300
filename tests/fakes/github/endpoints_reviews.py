"""Reviews and review comments of a pull request, to read."""

from tests.fakes.github.endpoints_repo import REPO
from tests.fakes.github.routes import Answer, Call, route


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
