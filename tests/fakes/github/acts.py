"""What people (and other bots) do to pull requests, each with the webhooks that follow."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.fakes.github.admin import Admin
from tests.fakes.github.model import (
    Comment,
    Issue,
    Label,
    Pull,
    PullCommit,
    Repository,
    Turn,
    User,
    node_id,
    sha_of,
)
from tests.fakes.github.shapes import when
from tests.fakes.github.world import locked


class Acts(Admin):
    """`World` with people in it."""

    @locked
    def open_pull(
        self,
        *,
        by: str,
        title: str = "Fix a thing",
        body: str | None = "It was broken.",
        repo: str | None = None,
        draft: bool = False,
        head_ref: str | None = None,
        fork: bool = True,
        files: Sequence[str | tuple[str, int, int, str]] = (),
        closes: Sequence[int] = (),
        head_files: Mapping[str, str] | None = None,
        patches: Mapping[str, str] | None = None,
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
        pull.files = [(f, 20, 2, "MODIFIED") if isinstance(f, str) else f for f in files]
        for path, text in (head_files or {}).items():
            pull.head_files[path] = text.encode()
            pull.files.append((path, 1, 1, "MODIFIED"))
        for path, text in (patches or {}).items():
            pull.patches[path] = text
            rows = [row[:1] for row in text.split("\n")]
            pull.files.append((path, rows.count("+"), rows.count("-"), "MODIFIED"))
        pull.commits, pull.closes = [PullCommit(sha, user, at=now)], list(closes)
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
    def push(
        self,
        number: int,
        *,
        by: str | None = None,
        repo: str | None = None,
        update: bool = False,
    ) -> Pull:
        """A new commit on the pull request's branch; `update`: by the button "Update branch"."""
        repository, pull = self.repository(repo), self.pull(number, repo)
        before, pull.head_sha = pull.head_sha, sha_of(pull.head_sha)
        repository.shas.add(pull.head_sha)
        sender = self.user(by) if by else pull.user
        pull.commits.append(PullCommit(pull.head_sha, sender, update, self.now()))
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
        event = "closed" if state == "closed" else "reopened"
        self._note_turn(pull, event, sender)
        return self._touch(event, repository, pull, sender)

    def _note_turn(self, pull: Pull, event: str, sender: User, label: Label | None = None) -> None:
        app = next((a for a in self.apps if a.bot is sender), None)
        pull.turns.append(Turn(next(self.ids), event, sender, app, self.now(), label))

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
        self._note_turn(pull, "labeled", sender, label)
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
        self._note_turn(pull, "unlabeled", sender, label)
        shape = self.shapes.label(repository, label)
        return self._touch("unlabeled", repository, pull, sender, label=shape)

    @locked
    def comment(self, number: int, body: str, *, by: str, repo: str | None = None) -> Comment:
        """Write a comment."""
        repository = self.repository(repo)
        return self.write_comment(repository, self.pull(number, repo), body, self.user(by))

    @locked
    def write_comment(
        self, repository: Repository, thread: Pull | Issue, body: str, sender: User, **more: Any
    ) -> Comment:
        """Write a comment, as a person or (`app=…`) as an App."""
        now = self.now()
        made = Comment(next(self.ids), thread.number, sender, body, now, now, **more)
        thread.comments.append(made)
        thread.updated_at = now
        self.tell_comment("created", repository, thread, made, sender)
        return made

    @locked
    def tell_comment(
        self,
        action: str,
        repository: Repository,
        thread: Pull | Issue,
        comment: Comment,
        sender: User,
        **more: Any,
    ) -> None:
        """An `issue_comment` event."""
        plain = isinstance(thread, Issue)
        issue = self.shapes.plain_issue if plain else self.shapes.issue
        parts: dict[str, Any] = {
            "action": action,
            "issue": issue(repository, thread),
            "comment": self.shapes.comment(repository, comment),
            **more,
        }
        self.tell("issue_comment", repository, sender, parts)

    @locked
    def edit_comment(
        self, number: int, comment_id: int, body: str, *, by: str, repo: str | None = None
    ) -> Comment:
        """Change a comment."""
        repository, pull = self.repository(repo), self.pull(number, repo)
        comment = next(c for c in pull.comments if c.id == comment_id)
        changes = {"body": {"from": comment.body}}
        comment.body, comment.updated_at = body, self.now()
        self.tell_comment("edited", repository, pull, comment, self.user(by), changes=changes)
        return comment

    @locked
    def write_note(self, number: int, body: str, *, by: str, repo: str | None = None) -> Comment:
        """Write a comment on a line of the diff."""
        repository, pull, user = self.repository(repo), self.pull(number, repo), self.user(by)
        now = self.now()
        made = Comment(next(self.ids), number, user, body, now, now)
        pull.notes.append(made)
        pull.updated_at = now
        parts = {
            "action": "created",
            "comment": self.shapes.note(repository, made),
            "pull_request": self.shapes.short_pull(repository, pull),
        }
        self.tell("pull_request_review_comment", repository, user, parts)
        return made

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
        review: dict[str, Any] = {
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
        pull.reviews.append(review)
        short = self.shapes.short_pull(repository, pull)
        parts = {"action": "submitted", "review": review, "pull_request": short}
        self.tell("pull_request_review", repository, user, parts)
