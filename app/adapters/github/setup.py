"""Making the GitHub App from a manifest, with the least permissions that do the work."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from app.adapters.github.client import AppCredentials, public
from app.adapters.github.connection import path
from app.adapters.github.errors import narrow
from app.core.errors import Rejected, UserError
from app.core.github import Account, Id, Line, Narrow

PERMISSIONS: Mapping[str, str] = {
    "pull_requests": "write",
    "issues": "write",
    "checks": "write",
    "contents": "read",
    "metadata": "read",
    "members": "read",
}
# The permission without which GitHub refuses a subscription, and with it the whole manifest.
# `merge_group` and the workflow events therefore come only with a grant beyond the least ones.
EVENT_NEEDS: Mapping[str, str] = {
    "push": "contents",
    "issues": "issues",
    "issue_comment": "issues",
    "member": "members",
    "pull_request": "pull_requests",
    "pull_request_review": "pull_requests",
    "pull_request_review_comment": "pull_requests",
    "repository": "metadata",
    "check_run": "checks",
    "merge_group": "merge_queues",
    "workflow_run": "actions",
    "workflow_job": "actions",
}
MAX_NAME = 34
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class _Conversion(Narrow):
    id: Id
    slug: Line
    client_id: str
    client_secret: str
    webhook_secret: str
    pem: str
    html_url: str
    owner: Account | None = None


@dataclass(frozen=True)
class NewApp:
    """A GitHub App just made. Its secrets are told this once, and do not show in the repr."""

    credentials: AppCredentials
    webhook_secret: str = field(repr=False)
    html_url: str
    owner: str


def events(permissions: Mapping[str, str]) -> list[str]:
    """The events of Pulsegate that an App with these permissions may subscribe to."""
    return [event for event, needs in EVENT_NEEDS.items() if needs in permissions]


def manifest(  # noqa: PLR0913 - one argument for each address that GitHub asks for
    *,
    name: str,
    url: str,
    hook_url: str,
    redirect_url: str,
    callback_url: str,
    setup_url: str,
    web_url: str = "https://github.com",
    more: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The manifest as GitHub's form takes it (`json.dumps` it into the field `manifest`).

    `more` adds optional permissions, such as `{"actions": "write"}` or `{"merge_queues": "read"}`,
    and with them the events that need them. `UserError` where GitHub cannot reach `hook_url`.
    """
    if _is_local(hook_url) and not _is_local(web_url):
        raise UserError(
            f"GitHub cannot deliver webhooks to {hook_url}, an address of this machine only.",
            hint="Set PUBLIC_URL to an address that GitHub reaches, then open /setup again.",
        )
    permissions = {**PERMISSIONS, **(more or {})}
    return {
        "name": name[:MAX_NAME].strip(),
        "url": url,
        "description": "Asks who stands behind a pull request, and keeps the queue readable.",
        "public": False,
        "hook_attributes": {"url": hook_url, "active": True},
        "redirect_url": redirect_url,
        "callback_urls": [callback_url],
        "setup_url": setup_url,
        "request_oauth_on_install": False,
        "default_permissions": permissions,
        "default_events": events(permissions),
    }


def form_target(web_url: str, state: str, organisation: str | None = None) -> str:
    """Where the browser posts the manifest: the user's own settings, or an organisation's."""
    owner = f"/organizations/{quote(organisation, safe='')}" if organisation else ""
    return f"{web_url.rstrip('/')}{owner}/settings/apps/new?{urlencode({'state': state})}"


def convert(api_url: str, code: str) -> NewApp:
    """The new App's credentials for the code that GitHub sent the browser back with.

    A code works once, within an hour: `UserError` where it does not. `RetryLater` where GitHub
    did not answer; with `maybe_done` the code may be used up.
    """
    try:
        with public(api_url) as github:
            answer = github.write("POST", path("app-manifests", code, "conversions"))
    except Rejected as refusal:
        raise UserError(
            f"GitHub does not take this code ({refusal.reason}).",
            hint="A code works once, within an hour. Start again at /setup.",
        ) from refusal
    new = narrow(_Conversion, answer.payload, maybe_done=True)
    return NewApp(
        credentials=AppCredentials(
            app_id=new.id,
            private_key=new.pem,
            client_id=new.client_id,
            client_secret=new.client_secret,
            slug=new.slug,
        ),
        webhook_secret=new.webhook_secret,
        html_url=new.html_url,
        owner=new.owner.login if new.owner else "",
    )


def _is_local(url: str) -> bool:
    return urlsplit(url).hostname in _LOOPBACK
