"""Accounts, repositories, Apps and installations as JSON, whole."""

import base64
import hashlib
from datetime import UTC, datetime
from typing import Any

from tests.fakes.github.model import (
    App,
    Installation,
    Label,
    Repository,
    User,
    node_id,
)

Json = dict[str, Any]
REPOSITORY_URLS = {
    "forks": "/forks", "keys": "/keys{/key_id}", "collaborators": "/collaborators{/collaborator}",
    "teams": "/teams", "hooks": "/hooks", "issue_events": "/issues/events{/number}",
    "events": "/events", "assignees": "/assignees{/user}", "branches": "/branches{/branch}",
    "tags": "/tags", "blobs": "/git/blobs{/sha}", "git_tags": "/git/tags{/sha}",
    "git_refs": "/git/refs{/sha}", "trees": "/git/trees{/sha}", "statuses": "/statuses/{sha}",
    "languages": "/languages", "stargazers": "/stargazers", "contributors": "/contributors",
    "subscribers": "/subscribers", "subscription": "/subscription", "commits": "/commits{/sha}",
    "git_commits": "/git/commits{/sha}", "comments": "/comments{/number}",
    "issue_comment": "/issues/comments{/number}", "contents": "/contents/{+path}",
    "compare": "/compare/{base}...{head}", "merges": "/merges", "deployments": "/deployments",
    "archive": "/{archive_format}{/ref}", "downloads": "/downloads", "issues": "/issues{/number}",
    "pulls": "/pulls{/number}", "milestones": "/milestones{/number}", "labels": "/labels{/name}",
    "notifications": "/notifications{?since,all,participating}", "releases": "/releases{/id}",
}  # fmt: skip
USER_URLS = {
    "followers": "/followers", "following": "/following{/other_user}", "gists": "/gists{/gist_id}",
    "starred": "/starred{/owner}{/repo}", "subscriptions": "/subscriptions",
    "organizations": "/orgs", "repos": "/repos", "events": "/events{/privacy}",
    "received_events": "/received_events",
}  # fmt: skip


def when(at: datetime | None) -> str | None:
    """GitHub's dates have whole seconds."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else None


GHOST = User(10137, "ghost", datetime(2008, 5, 14, tzinfo=UTC))


class BaseShapes:
    """Renders records. `api` and `web` are the base addresses, without a slash at the end."""

    def __init__(self, api: str, web: str) -> None:
        self.api = api
        self.web = web

    def user(self, user: User) -> Json:
        """`simple-user`."""
        own = f"{self.api}/users/{user.login}"
        return {
            "login": user.login,
            "id": user.id,
            "node_id": node_id("U", user.id),
            "avatar_url": f"{self.web}/avatars/u/{user.id}?v=4",
            "gravatar_id": "",
            "url": own,
            "html_url": f"{self.web}/{user.login}",
            **{f"{key}_url": own + tail for key, tail in USER_URLS.items()},
            "type": user.type,
            "user_view_type": "public",
            "site_admin": False,
        }

    def maybe(self, user: User | None) -> Json | None:
        """A user; of a deleted one what GitHub shows instead."""
        if user is None or user.deleted == "null":
            return None
        return self.user(GHOST if user.deleted else user)

    def profile(self, user: User) -> Json:
        """`public-user`."""
        nothing = ("company", "location", "hireable", "bio", "twitter_username")
        counts = ("public_repos", "public_gists", "followers", "following")
        return {
            **self.user(user),
            "name": user.name,
            "blog": "",
            "email": user.email,
            **dict.fromkeys(nothing),
            **dict.fromkeys(counts, 0),
            "created_at": when(user.created_at),
            "updated_at": when(user.created_at),
        }

    def rights(self, repository: Repository, user: User) -> dict[str, bool]:
        """`permissions` of a user on a repository."""
        names = (("admin", "admin"), ("maintain", "maintain"), ("push", "write"),
                 ("triage", "triage"), ("pull", "read"))  # fmt: skip
        return {name: repository.at_least(user, role) for name, role in names}

    def repository(self, repository: Repository, viewer: User | None = None) -> Json:
        """`repository`, as lists and webhooks carry it; with the viewer's rights, if any."""
        own = f"{self.api}/repos/{repository.full_name}"
        page = f"{self.web}/{repository.full_name}"
        open_issues = sum(p.state == "open" for p in repository.pulls.values())
        shape: Json = {
            "id": repository.id,
            "node_id": node_id("R", repository.id),
            "name": repository.name,
            "full_name": repository.full_name,
            "private": repository.private,
            "owner": self.user(repository.owner),
            "html_url": page,
            "description": None,
            "fork": repository.parent is not None,
            "url": own,
            **{f"{key}_url": own + tail for key, tail in REPOSITORY_URLS.items()},
            "created_at": when(repository.created_at),
            "updated_at": when(repository.created_at),
            "pushed_at": when(repository.created_at),
            "git_url": f"git://{page.partition('//')[2]}.git",
            "ssh_url": f"git@{page.partition('//')[2].replace('/', ':', 1)}.git",
            "clone_url": f"{page}.git",
            "svn_url": page,
            **dict.fromkeys(("homepage", "language", "mirror_url", "license")),
            **dict.fromkeys(("has_issues", "has_projects", "has_downloads", "has_wiki"), True),
            **dict.fromkeys(("has_pages", "has_discussions", "archived", "disabled"), False),
            **dict.fromkeys(("is_template", "web_commit_signoff_required"), False),
            **dict.fromkeys(("size", "stargazers_count", "watchers_count", "watchers"), 0),
            **dict.fromkeys(("forks_count", "forks"), 0),
            **dict.fromkeys(("open_issues_count", "open_issues"), open_issues),
            "allow_forking": True,
            "topics": [],
            "visibility": "private" if repository.private else "public",
            "default_branch": repository.default_branch,
        }
        return shape if viewer is None else shape | {"permissions": self.rights(repository, viewer)}

    def full_repository(self, repository: Repository) -> Json:
        """`full-repository`, the answer about one repository."""
        shape = self.repository(repository) | {"network_count": 0, "subscribers_count": 0}
        if repository.owner.type == "Organization":
            shape["organization"] = self.user(repository.owner)
        return shape

    def organization(self, org: User) -> Json:
        """`organization-simple`, as webhooks carry it."""
        own = f"{self.api}/orgs/{org.login}"
        tails = {"repos": "/repos", "events": "/events", "hooks": "/hooks", "issues": "/issues",
                 "members": "/members{/member}", "public_members": "/public_members{/member}"}  # fmt: skip
        return {
            "login": org.login,
            "id": org.id,
            "node_id": node_id("O", org.id),
            "url": own,
            **{f"{key}_url": own + tail for key, tail in tails.items()},
            "avatar_url": f"{self.web}/avatars/u/{org.id}?v=4",
            "description": "",
        }

    def label(self, repository: Repository, label: Label) -> Json:
        """`label`."""
        return {
            "id": label.id,
            "node_id": node_id("LA", label.id),
            "url": f"{self.api}/repos/{repository.full_name}/labels/{label.name}",
            "name": label.name,
            "color": label.color,
            "default": False,
            "description": label.description,
        }

    def app(self, app: App) -> Json:
        """`integration`."""
        return {
            "id": app.id,
            "client_id": app.client_id,
            "slug": app.slug,
            "node_id": node_id("A", app.id),
            "owner": self.user(app.owner),
            "name": app.name,
            "description": "",
            "external_url": self.web,
            "html_url": f"{self.web}/apps/{app.slug}",
            "created_at": when(app.created_at),
            "updated_at": when(app.created_at),
            "permissions": dict(app.permissions),
            "events": list(app.events),
        }

    def installation(self, installation: Installation) -> Json:
        """`installation`."""
        everything = installation.repositories is None
        return {
            "id": installation.id,
            "client_id": installation.app.client_id,
            "account": self.user(installation.account),
            "repository_selection": "all" if everything else "selected",
            "access_tokens_url": f"{self.api}/app/installations/{installation.id}/access_tokens",
            "repositories_url": f"{self.api}/installation/repositories",
            "html_url": f"{self.web}/settings/installations/{installation.id}",
            "app_id": installation.app.id,
            "app_slug": installation.app.slug,
            "target_id": installation.account.id,
            "target_type": installation.account.type,
            "permissions": dict(installation.permissions),
            "events": list(installation.app.events),
            "created_at": when(installation.created_at),
            "updated_at": when(installation.updated_at),
            "single_file_name": None,
            "has_multiple_single_files": False,
            "single_file_paths": [],
            "suspended_by": self.maybe(installation.suspended_by),
            "suspended_at": when(installation.suspended_at),
        }

    def permission(self, repository: Repository, user: User) -> Json:
        """`repository-collaborator-permission`: `permission` knows four words, `role_name` all."""
        base = repository.base_role(user)
        old = {"maintain": "write", "triage": "read"}.get(base, base)
        role = repository.role(user)
        rights = self.rights(repository, user)
        return {
            "permission": old,
            "user": self.user(user) | {"permissions": rights, "role_name": role},
            "role_name": role,
        }

    def file(self, repository: Repository, path: str, content: bytes) -> Json:
        """`content-file`, in base64 broken into lines of sixty as GitHub's is."""
        head = f"blob {len(content)}\0".encode()
        sha = hashlib.sha1(head + content, usedforsecurity=False).hexdigest()
        branch = repository.default_branch
        own = f"{self.api}/repos/{repository.full_name}"
        page = f"{self.web}/{repository.full_name}/blob/{branch}/{path}"
        text = base64.b64encode(content).decode()
        lines = "".join(text[i : i + 60] + "\n" for i in range(0, len(text), 60))
        url, git = f"{own}/contents/{path}?ref={branch}", f"{own}/git/blobs/{sha}"
        return {
            "name": path.rpartition("/")[2],
            "path": path,
            "sha": sha,
            "size": len(content),
            "url": url,
            "html_url": page,
            "git_url": git,
            "download_url": f"{self.web}/{repository.full_name}/raw/{branch}/{path}",
            "type": "file",
            "content": lines,
            "encoding": "base64",
            "_links": {"self": url, "git": git, "html": page},
        }
