"""The policy in force in a repository: read from its default branch, the last good one kept."""

from collections.abc import Callable
from datetime import datetime

from app.core.errors import Rejected, UserError
from app.core.facts import RepositoryRef
from app.core.policy import Policy
from app.core.ports import Reader
from app.core.text import clean
from app.db import installations
from app.db.engine import Database


def refresh_policy(
    database: Database,
    reader: Reader,
    parse_policy: Callable[[str], Policy],
    repository: RepositoryRef,
    now: datetime,
) -> None:
    """Reads the file anew. Raises `RetryLater` where GitHub does not answer; nothing changes."""
    try:
        found = reader.policy_file(repository)
        policy = parse_policy(found.text) if found else None
    except (Rejected, UserError) as error:
        with database.begin() as tx:
            installations.policy_failed(tx, repository.id, clean(str(error)), now)
        return
    with database.begin() as tx:
        installations.put_policy(tx, repository.id, policy, found.sha if found else None, now)
