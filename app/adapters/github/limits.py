"""GitHub's own controls of a repository: who may open pull requests there, and how many."""

from app.adapters.github.connection import Connection, path
from app.core.effects import LimitInteractions, Receipt, SetControl


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


def set_control(github: Connection, where: str, effect: SetControl) -> Receipt:
    """Puts one of GitHub's controls on or off; as often as it is repeated, the same comes of it.

    `Rejected` (403) without the grant *administration: write*, (405) where GitHub does not offer it.
    """
    limits = where + path("interaction-limits")
    match effect.control:
        case "interaction_limit" if effect.on:
            github.write("PUT", limits, {"limit": "existing_users", "expiry": "one_day"})
        case "interaction_limit":
            github.write("DELETE", limits)
        case "collaborators_only":
            policy = "collaborators_only" if effect.on else "all"
            github.write("PATCH", where, {"pull_request_creation_policy": policy})
        case "pull_cap":
            cap = {
                "enabled": effect.on,
                **({"max_open_pull_requests": effect.most} if effect.on else {}),
            }
            github.write("PATCH", limits + path("pulls", "creation-cap"), cap)
    return Receipt()
