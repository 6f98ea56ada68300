"""What stands above the list of decisions, and in its place where it is empty."""

from dataclasses import dataclass

from app.core.errors import UserError
from app.db import brakes, inbox, reports
from app.flows.spending import SPENT
from app.web.sight import Sight
from app.web.viewer import Viewer
from app.wiring.web import WebParts


@dataclass(frozen=True)
class Note:
    """A line above the list. `href` is empty where there is nothing to open."""

    text: str
    href: str = ""
    link: str = ""


def notes(parts: WebParts, viewer: Viewer, seen: Sight) -> tuple[Note, ...]:
    """What holds for the whole page."""
    found: list[Note] = []
    try:
        configured = parts.base.app_credentials() is not None
    except UserError as error:
        found.append(Note(f"{error.message}. {error.hint}"))
        configured = True
    if not configured:
        found.append(
            Note(
                "No GitHub App is configured, so nothing comes in yet. The terminal that Pulsegate "
                "runs in shows the link that makes one.",
                "/setup",
                "Set up",
            )
        )
    elif viewer.session is None and not viewer.demo:
        found.append(
            Note("Decisions are for the maintainers of each repository.", "/login", "Sign in")
        )
    elif viewer.session is None:
        found.append(
            Note("Sign in to see the decisions about your repositories.", "/login", "Sign in")
        )
    with parts.base.database.begin() as tx:
        ids = [p.id for p in seen.places]
        wrong = reports.policy_errors(tx, ids)
        stopped = brakes.of_repositories(tx, ids)
        over, until = inbox.waiting(tx, ids, SPENT)
    for name, why in wrong:
        found.append(
            Note(f"The configuration of {name} is wrong, so the last good one is in force: {why}")
        )
    for name, rule in stopped:
        what = f"the rule {rule} only observes" if rule else "the gate only observes"
        found.append(
            Note(f"In {name} {what}: it stopped by itself.", f"/fairness/{name}", "See why")
        )
    if over and until is not None:
        found.append(
            Note(
                f"{over} pull requests wait since the day's budget is spent, until "
                f"{until:%Y-%m-%d %H:%M} UTC. Those of the team, and what maintainers ask for, go on."
            )
        )
    if seen.unanswered:
        found.append(
            Note(
                f"GitHub did not answer for {seen.unanswered} of the repositories; nothing of "
                "them is shown. Reload the page in a minute."
            )
        )
    if seen.more:
        found.append(
            Note(f"{seen.more} more repositories were not asked about; name one to see it.")
        )
    return tuple(found)


def empty(parts: WebParts, viewer: Viewer, seen: Sight, *, filtered: bool) -> tuple[str, str]:
    """What an empty list says, and what to do next."""
    if filtered:
        return (
            "Nothing here.",
            "No decision fits these filters. Choose “all”, or another repository.",
        )
    if viewer.session is None and not viewer.demo:
        return (
            "Nothing to show without sign-in.",
            "Sign in with the GitHub account that you maintain with.",
        )
    if seen.unanswered:
        return "GitHub did not answer.", "Without its word on your permissions nothing is shown."
    with parts.base.database.begin() as tx:
        installed = reports.anything_installed(tx)
    if viewer.session is None:
        return (
            "No recorded day yet.",
            "It is being replayed right now, or Pulsegate runs without it: reload in some seconds.",
        )
    if not installed:
        page = parts.base.app_page()
        where = f": {page}/installations/new" if page else " in GitHub's settings"
        return "The GitHub App is installed nowhere.", f"Install it on a repository{where}"
    return (
        "No decisions for you.",
        "Either no pull request came in since the installation, or you have less than triage "
        "permission on the repositories that have the App.",
    )
