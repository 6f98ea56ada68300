"""What people (and other bots) do at GitHub, each with the webhooks that follow from it."""

from typing import Any

from tests.fakes.github.model import (
    CheckRun,
    Comment,
    Installation,
    Pull,
    Repository,
    User,
    node_id,
    sha_of,
)
from tests.fakes.github.shapes import when
from tests.fakes.github.world import World, locked


class Acts(World):
    """`World` with people in it."""

    @locked
    def open_pull(  # noqa: PLR0913 - a pull request has that many sides
        self,
        *,
        by: str,
        title: str = "Fix a thing",
        body: str | None = "It was broken.",
        repo: str | None = None,
        draft: bool = False,
        head_ref: str | None = None,
        fork: bool = True,
    ) -> Pull:
        """Somebody opens a pull request: from a fork, or from a branch of the repository."""
        repository, user = self.repository(repo), self.user(by)
        number, repository.next_number = repository.next_number, repository.next_number + 1
        sha, now = sha_of(repository.id, number), self.now()
        repository.shas.add(sha)
        pull = Pull(
            next(self.ids), number, title, body, user, head_ref or f"patch-{number}", sha,
            self._fork(repository, user) if fork else repository, repository.head_sha, now, now,
            draft,
        )  # fmt: skip
        repository.pulls[number] = pull
        self.tell_pull("opened", repository, pull, user)
        return pull

    def _fork(self, repository: Repository, user: User) -> Repository:
        for found in self.repositories:
            if found.parent is repository and found.owner is user and not found.deleted:
                return found
        made = self.add_repository(f"{user.login}/{repository.name}")
        made.parent = repository
        return made

    @locked
    def edit_pull(self, number: int, *, by: str, repo: str | None = None, **to: Any) -> Pull:
        """Change `title` or `body`."""
        repository, pull = self.repository(repo), self.pull(number, repo)
        changes = {key: {"from": getattr(pull, key) or ""} for key in to}
        for key, value in to.items():
            setattr(pull, key, value)
        return self._touch("edited", repository, pull, self.user(by), changes=changes)

    def _touch(
        self, action: str, repository: Repository, pull: Pull, sender: User, **more: Any
    ) -> Pull:
        pull.updated_at = self.now()
        self.tell_pull(action, repository, pull, sender, **more)
        return pull

    @locked
    def push(self, number: int, *, by: str | None = None, repo: str | None = None) -> Pull:
        """A new commit on the pull request's branch."""
        repository, pull = self.repository(repo), self.pull(number, repo)
        before, pull.head_sha = pull.head_sha, sha_of(pull.head_sha)
        repository.shas.add(pull.head_sha)
        sender = self.user(by) if by else pull.user
        return self._touch(
            "synchronize", repository, pull, sender, before=before, after=pull.head_sha
        )

    @locked
    def set_draft(self, number: int, draft: bool, *, by: str, repo: str | None = None) -> Pull:
        """Convert to draft, or mark as ready for review."""
        repository, pull = self.repository(repo), self.pull(number, repo)
        pull.draft = draft
        action = "converted_to_draft" if draft else "ready_for_review"
        return self._touch(action, repository, pull, self.user(by))

    @locked
    def close_pull(self, number: int, *, by: str, repo: str | None = None) -> Pull:
        """Close without merging."""
        return self.set_state(
            self.repository(repo), self.pull(number, repo), "closed", self.user(by)
        )

    @locked
    def reopen_pull(self, number: int, *, by: str, repo: str | None = None) -> Pull:
        """Open again."""
        return self.set_state(self.repository(repo), self.pull(number, repo), "open", self.user(by))

    @locked
    def set_state(self, repository: Repository, pull: Pull, state: str, sender: User) -> Pull:
        """Close or reopen; nothing happens, and nobody is told, where it is so already."""
        if pull.state == state:
            return pull
        pull.state, pull.closed_at = state, self.now() if state == "closed" else None
        return self._touch("closed" if state == "closed" else "reopened", repository, pull, sender)

    @locked
    def merge_pull(self, number: int, *, by: str, repo: str | None = None) -> Pull:
        """Merge."""
        repository, pull = self.repository(repo), self.pull(number, repo)
        pull.merged_at, pull.merged_by = self.now(), self.user(by)
        return self.set_state(repository, pull, "closed", pull.merged_by)

    @locked
    def lock_pull(self, number: int, *, by: str, repo: str | None = None) -> Pull:
        """Lock the conversation: comments are refused from now on."""
        repository, pull = self.repository(repo), self.pull(number, repo)
        pull.locked, pull.lock_reason = True, "spam"
        return self._touch("locked", repository, pull, self.user(by))

    @locked
    def label(self, number: int, name: str, *, by: str, repo: str | None = None) -> Pull:
        """Put a label on."""
        repository = self.repository(repo)
        return self.put_label(repository, self.pull(number, repo), name, self.user(by))

    @locked
    def put_label(self, repository: Repository, pull: Pull, name: str, sender: User) -> Pull:
        """Put a label on; nobody is told where it is there already."""
        label = self.label_named(repository, name)
        if label in pull.labels:
            return pull
        pull.labels.append(label)
        shape = self.shapes.label(repository, label)
        return self._touch("labeled", repository, pull, sender, label=shape)

    @locked
    def unlabel(self, number: int, name: str, *, by: str, repo: str | None = None) -> Pull:
        """Take a label off."""
        repository = self.repository(repo)
        return self.take_label(repository, self.pull(number, repo), name, self.user(by))

    @locked
    def take_label(self, repository: Repository, pull: Pull, name: str, sender: User) -> Pull:
        """Take a label off; KeyError where it is not on."""
        label = repository.labels[name.lower()]
        if label not in pull.labels:
            raise KeyError(name)
        pull.labels.remove(label)
        shape = self.shapes.label(repository, label)
        return self._touch("unlabeled", repository, pull, sender, label=shape)

    @locked
    def comment(self, number: int, body: str, *, by: str, repo: str | None = None) -> Comment:
        """Write a comment."""
        repository = self.repository(repo)
        return self.write_comment(repository, self.pull(number, repo), body, self.user(by))

    @locked
    def write_comment(
        self, repository: Repository, pull: Pull, body: str, sender: User, **more: Any
    ) -> Comment:
        """Write a comment, as a person or (`app=…`) as an App."""
        now = self.now()
        made = Comment(next(self.ids), pull.number, sender, body, now, now, **more)
        pull.comments.append(made)
        pull.updated_at = now
        self.tell_comment("created", repository, pull, made, sender)
        return made

    @locked
    def tell_comment(  # noqa: PLR0913
        self,
        action: str,
        repository: Repository,
        pull: Pull,
        comment: Comment,
        sender: User,
        **more: Any,
    ) -> None:
        """An `issue_comment` event."""
        parts = {
            "action": action,
            "issue": self.shapes.issue(repository, pull),
            "comment": self.shapes.comment(repository, comment),
            **more,
        }
        self.tell("issue_comment", repository, sender, parts)

    @locked
    def review(
        self,
        number: int,
        *,
        by: str,
        state: str = "approved",
        body: str = "",
        repo: str | None = None,
    ) -> None:
        """Submit a review: approved, changes_requested or commented."""
        repository, pull, user = self.repository(repo), self.pull(number, repo), self.user(by)
        pull.updated_at = self.now()
        page = f"{self.shapes.web}/{repository.full_name}/pull/{number}"
        made = next(self.ids)
        review = {
            "id": made,
            "node_id": node_id("PRR", made),
            "user": self.shapes.user(user),
            "body": body or None,
            "commit_id": pull.head_sha,
            "submitted_at": when(self.now()),
            "updated_at": when(self.now()),
            "state": state,
            "html_url": f"{page}#pullrequestreview-{made}",
            "pull_request_url": f"{self.shapes.api}/repos/{repository.full_name}/pulls/{number}",
            "author_association": self.shapes.association(repository, user),
            "_links": {"html": {"href": page}, "pull_request": {"href": page}},
        }
        short = self.shapes.short_pull(repository, pull)
        parts = {"action": "submitted", "review": review, "pull_request": short}
        self.tell("pull_request_review", repository, user, parts)

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
    def delete_user(self, login: str) -> None:
        """Delete an account: it is null in every answer from now on."""
        self.users[login.lower()].deleted = True

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
