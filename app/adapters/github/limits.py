"""GitHub's own interaction limits of a repository: for a time only some accounts may open anything."""

from app.adapters.github.connection import Connection, path
from app.core.effects import LimitInteractions, Receipt


def limit_interactions(github: Connection, where: str, effect: LimitInteractions) -> Receipt:
    """Puts a limit on the repository at `where`, unless there is one already.

    One that a maintainer put on, be it stricter or not, stays as it is. GitHub takes ours off by
    itself at its end. `Rejected` (403) without the grant *administration: write*.
    """
    limits = where + path("interaction-limits")
    there = github.read(limits).payload
    if isinstance(there, dict) and there.get("limit"):
        return Receipt(changed=False)
    github.write("PUT", limits, {"limit": effect.group, "expiry": effect.expiry})
    return Receipt()
