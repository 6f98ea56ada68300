"""Whether somebody did something on a pull request since a time, in case a webhook was lost."""

from datetime import datetime

from app.adapters.github.connection import Connection, path
from app.adapters.github.errors import narrow
from app.core.errors import RetryLater
from app.core.github import Author, Moment, Narrow

_PAGES = 3  # of a hundred each; where there is more, the rest is not looked at


class _Said(Narrow):
    """A comment (`created_at`) or a review (`submitted_at`)."""

    user: Author = None
    created_at: Moment | None = None
    submitted_at: Moment | None = None

    @property
    def at(self) -> datetime | None:
        return self.created_at or self.submitted_at


def spoke_since(
    github: Connection, where: str, number: int, account_id: int, since: datetime
) -> datetime | None:
    """When the account last wrote after `since`; see `core.ports.Reader.spoke_since`."""
    asked = {"since": since.strftime("%Y-%m-%dT%H:%M:%SZ")}
    lists: tuple[tuple[str, dict[str, str]], ...] = (
        (where + path("issues", number, "comments"), asked),
        (where + path("pulls", number, "comments"), asked),
        (where + path("pulls", number, "reviews"), {}),
    )
    found = [
        said.at
        for url, query in lists
        for said in _said(github, url, query)
        if said.user is not None and said.user.id == account_id
    ]
    return max((at for at in found if at is not None and at > since), default=None)


def _said(github: Connection, url: str, query: dict[str, str]) -> list[_Said]:
    found: list[_Said] = []
    for count, page in enumerate(github.pages(url, query)):
        if not isinstance(page.payload, list):
            raise RetryLater("GitHub answered something we cannot read (not a list)")
        found += [narrow(_Said, item) for item in page.payload]
        if count + 1 >= _PAGES:
            break
    return found
