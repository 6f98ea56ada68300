"""What owners and maintainers do to repositories, check runs and installations."""

from typing import Any, Literal

from tests.fakes.github.model import CheckRun, Installation, Repository, User, node_id, sha_of
from tests.fakes.github.shapes import when
from tests.fakes.github.world import World, locked


class Admin(World):
    """`World` with owners in it."""

    # The repository and its people

    @locked
    def change_role(self, login: str, role: str, *, by: str, repo: str | None = None) -> None:
        """Give somebody another role, with the `member` webhook."""
        repository, user = self.repository(repo), self.user(login)
        known = user.id in repository.roles
        before = self.shapes.permission(repository, user)["permission"]
        self.set_role(login, role, repo)
        after = self.shapes.permission(repository, user)["permission"]
        action = "removed" if role == "none" else "edited" if known else "added"
        parts: dict[str, Any] = {"action": action, "member": self.shapes.user(user)}
        if action == "edited":
            parts["changes"] = {"permission": {"from": before, "to": after}}
        self.tell("member", repository, self.user(by), parts)

    @locked
    def rename_repository(self, to: str, *, by: str, repo: str | None = None) -> Repository:
        """Rename; the old name answers with a redirect from now on."""
        repository = self.repository(repo)
        old, self.moved[repository.full_name.lower()] = repository.name, repository
        repository.name = to
        changes = {"repository": {"name": {"from": old}}}
        self.tell(
            "repository", repository, self.user(by), {"action": "renamed", "changes": changes}
        )
        return repository

    @locked
    def change_default_branch(
        self, to: str, *, files: dict[str, str], by: str, repo: str | None = None
    ) -> Repository:
        """Another branch becomes the default one; `files` are what it holds."""
        repository = self.repository(repo)
        old, repository.default_branch = repository.default_branch, to
        repository.files = {path: text.encode() for path, text in files.items()}
        parts = {"action": "edited", "changes": {"default_branch": {"from": old}}}
        self.tell("repository", repository, self.user(by), parts)
        return repository

    @locked
    def transfer_repository(self, to: str, *, by: str, repo: str | None = None) -> Repository:
        """Give the repository to another account. Installations of the old one lose it."""
        repository = self.repository(repo)
        self.moved[repository.full_name.lower()] = repository
        before, repository.owner = repository.owner, self.user(to)
        side = "organization" if before.type == "Organization" else "user"
        shape = self.shapes.organization if side == "organization" else self.shapes.user
        changes = {"owner": {"from": {side: shape(before)}}}
        parts = {"action": "transferred", "changes": changes}
        self.tell("repository", repository, self.user(by), parts)
        return repository

    @locked
    def delete_repository(self, repo: str) -> None:
        """Delete a repository, such as a fork that pull requests came from; nobody is told."""
        self.repository(repo).deleted = True

    @locked
    def rename_user(self, login: str, to: str) -> User:
        """Rename an account: its old login is free for anybody."""
        user = self.users.pop(login.lower())
        user.login = to
        self.users[to.lower()] = user
        return user

    @locked
    def delete_user(self, login: str, shown: Literal["null", "ghost"] = "null") -> None:
        """Delete an account. GitHub has been seen to show null, and the account `ghost`."""
        self.users[login.lower()].deleted = shown

    @locked
    def push_files(
        self, files: dict[str, str | None], *, by: str, repo: str | None = None
    ) -> Repository:
        """Write files to the default branch (None deletes one), with the `push` webhook."""
        repository, user = self.repository(repo), self.user(by)
        groups: dict[str, list[str]] = {"added": [], "modified": [], "removed": []}
        for path, text in files.items():
            if text is None:
                del repository.files[path]
                groups["removed"].append(path)
            else:
                groups["modified" if path in repository.files else "added"].append(path)
                repository.files[path] = text.encode()
        before, repository.head_sha = repository.head_sha, sha_of(repository.head_sha, files)
        repository.shas.add(repository.head_sha)
        person = {
            "name": user.login,
            "email": f"{user.login}@users.example",
            "username": user.login,
        }
        page = f"{self.shapes.web}/{repository.full_name}"
        commit = {
            "id": repository.head_sha,
            "tree_id": sha_of("tree", repository.head_sha),
            "distinct": True,
            "message": "Change files",
            "timestamp": when(self.now()),
            "url": f"{page}/commit/{repository.head_sha}",
            "author": person,
            "committer": person,
            **groups,
        }
        parts = {
            "ref": f"refs/heads/{repository.default_branch}",
            "before": before,
            "after": repository.head_sha,
            **dict.fromkeys(("created", "deleted", "forced"), False),
            "base_ref": None,
            "compare": f"{page}/compare/{before[:12]}...{repository.head_sha[:12]}",
            "commits": [commit],
            "head_commit": commit,
            "pusher": {"name": user.login, "email": person["email"]},
        }
        self.tell("push", repository, user, parts)
        return repository

    @locked
    def queue_merge(self, *, by: str, repo: str | None = None) -> str:
        """The merge queue asks for checks on a commit of its own, whose id is returned."""
        repository = self.repository(repo)
        sha = sha_of("merge", repository.head_sha, next(self.ids))
        repository.shas.add(sha)
        branch = f"refs/heads/{repository.default_branch}"
        person = {"name": by, "email": f"{by}@users.example"}
        group = {
            "head_sha": sha,
            "head_ref": f"refs/heads/gh-readonly-queue/{repository.default_branch}/pr-1-{sha}",
            "base_sha": repository.head_sha,
            "base_ref": branch,
            "head_commit": {
                "id": sha,
                "tree_id": sha_of("tree", sha),
                "message": "Merge",
                "timestamp": when(self.now()),
                "author": person,
                "committer": person,
            },
        }
        parts = {"action": "checks_requested", "merge_group": group}
        self.tell("merge_group", repository, self.user(by), parts)
        return sha

    # The App's check runs

    @locked
    def tell_check(
        self, action: str, repository: Repository, run: CheckRun, sender: User, **more: Any
    ) -> None:
        """A `check_run` event; GitHub sends an App those of its own check runs."""
        shape = self.shapes.check_run(repository, run)
        suite = {
            "id": run.id + 1,
            "node_id": node_id("CS", run.id + 1),
            "head_branch": None,
            "head_sha": run.head_sha,
            "status": "completed",
            "conclusion": run.conclusion,
            "url": f"{self.shapes.api}/repos/{repository.full_name}/check-suites/{run.id + 1}",
            **dict.fromkeys(("before", "after")),
            "pull_requests": [],
            "app": shape["app"],
            "created_at": shape["started_at"],
            "updated_at": shape["started_at"],
        }
        parts = {"action": action, "check_run": shape | {"check_suite": suite}, **more}
        self.tell("check_run", repository, sender, parts)

    @locked
    def press(self, run_id: int, identifier: str, *, by: str, repo: str | None = None) -> None:
        """Press a button of a check run; KeyError where it has no such button."""
        repository = self.repository(repo)
        run = next(r for r in repository.checks if r.id == run_id)
        if identifier not in {a["identifier"] for a in run.actions}:
            raise KeyError(identifier)
        action = {"identifier": identifier}
        user = self.user(by)
        self.tell_check("requested_action", repository, run, user, requested_action=action)

    @locked
    def rerequest(self, run_id: int, *, by: str, repo: str | None = None) -> None:
        """Press "Re-run" on a check run."""
        repository = self.repository(repo)
        run = next(r for r in repository.checks if r.id == run_id)
        self.tell_check("rerequested", repository, run, self.user(by))

    # Installations

    def _tell_installation(
        self, event: str, installation: Installation, by: str, parts: dict[str, Any]
    ) -> None:
        payload = parts | {
            "installation": self.shapes.installation(installation),
            "sender": self.shapes.user(self.user(by)),
        }
        self.hooks.emit(
            event, payload, app=installation.app, at=self.now(), installation=installation
        )

    def _named(self, repositories: list[Repository]) -> list[dict[str, Any]]:
        keys = ("id", "node_id", "name", "full_name", "private")
        shapes = [self.shapes.repository(r) for r in repositories]
        return [{key: shape[key] for key in keys} for shape in shapes]

    def _change(self, action: str, installation: Installation, by: str) -> Installation:
        installation.updated_at = self.now()
        covered = self._named(installation.covered(self.repositories))
        parts = {"action": action, "repositories": covered, "requester": None}
        if action not in {"created", "deleted"}:
            del parts["requester"]
        self._tell_installation("installation", installation, by, parts)
        return installation

    @locked
    def install(
        self, account: str, *, by: str, repositories: list[str] | None = None
    ) -> Installation:
        """Somebody installs the App."""
        return self._change("created", self.add_installation(account, repositories), by)

    @locked
    def uninstall(self, installation: Installation, *, by: str) -> None:
        """Somebody removes the App: its tokens die."""
        self._change("deleted", installation, by)
        installation.deleted = True

    @locked
    def suspend(self, installation: Installation, *, by: str) -> None:
        """The owner suspends the App."""
        installation.suspended_at, installation.suspended_by = self.now(), self.user(by)
        self._change("suspend", installation, by)

    @locked
    def unsuspend(self, installation: Installation, *, by: str) -> None:
        """The owner lets it go on."""
        installation.suspended_at = installation.suspended_by = None
        self._change("unsuspend", installation, by)

    @locked
    def choose_repositories(
        self, installation: Installation, repositories: list[str], *, by: str
    ) -> None:
        """The owner chooses which repositories the App may reach."""
        before = installation.covered(self.repositories)
        installation.repositories = [self.repository(r) for r in repositories]
        after = installation.covered(self.repositories)
        added = [r for r in after if r not in before]
        removed = [r for r in before if r not in after]
        for action, which in (("added", added), ("removed", removed)):
            if which:
                parts = {
                    "action": action,
                    "repository_selection": "selected",
                    "repositories_added": self._named(added if action == "added" else []),
                    "repositories_removed": self._named(removed if action == "removed" else []),
                    "requester": None,
                }
                self._tell_installation("installation_repositories", installation, by, parts)
