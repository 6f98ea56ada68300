"""Who is asked to answer an appeal: the first in turn who has the right to, as of now."""

from collections.abc import Callable

from app.core.appeals import in_turn
from app.core.due_process import Appeals
from app.core.facts import Role
from app.core.github import Account
from app.db import appeals
from app.db.engine import Database

# Each costs up to two requests.
MOST_ASKED = 5


def who_answers(  # noqa: PLR0913 - what it rests on
    database: Database,
    repository_id: int,
    config: Appeals,
    author: str,
    account_of: Callable[[str], Account | None],
    role_of: Callable[[Account], Role | None],
) -> str | None:
    """Their login; None where nobody of the list could carry out what is asked of them.

    Raises what the two reads raise.
    """
    with database.begin() as tx:
        last_named = appeals.loads(tx, repository_id, config.maintainers)
    for login in in_turn(config.maintainers, last_named, author)[:MOST_ASKED]:
        account = account_of(login)
        role = role_of(account) if account is not None and not account.is_app else None
        if role is not None and role >= Role.TRIAGE:
            return login
    return None
