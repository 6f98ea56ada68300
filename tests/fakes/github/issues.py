"""What people do to issues, each with its `issues` webhook."""

from typing import Any

from tests.fakes.github.acts import Acts as PullActs
from tests.fakes.github.model import Issue, Repository, User
from tests.fakes.github.world import locked


class Acts(PullActs):
    """`Acts` on pull requests, and on issues."""

    @locked
    def open_issue(
        self, *, by: str | User, title: str = "It breaks", repo: str | None = None, **more: Any
    ) -> Issue:
        """Somebody opens an issue, or (`app=…`) an App does."""
        repository = self.repository(repo)
        user = by if isinstance(by, User) else self.user(by)
        number, repository.next_number = repository.next_number, repository.next_number + 1
        now = self.now()
        made = repository.issues[number] = Issue(
            next(self.ids), number, title, user, now, now, **more
        )
        self._tell_issue("opened", repository, made, user)
        return made

    @locked
    def label_issue(self, number: int, name: str, *, by: str, repo: str | None = None) -> None:
        """Put a label on an issue."""
        repository = self.repository(repo)
        issue, label = repository.issues[number], self.label_named(repository, name)
        issue.labels.append(label)
        issue.turns.append(("LabeledEvent", self.now(), label.name))
        shape = self.shapes.label(repository, label)
        self._tell_issue("labeled", repository, issue, self.user(by), label=shape)

    @locked
    def assign_issue(self, number: int, login: str, *, by: str, repo: str | None = None) -> None:
        """Assign somebody."""
        repository, who = self.repository(repo), self.user(login)
        issue = repository.issues[number]
        issue.assignees.append(who)
        issue.turns.append(("AssignedEvent", self.now(), who))
        shape = self.shapes.user(who)
        self._tell_issue("assigned", repository, issue, self.user(by), assignee=shape)

    @locked
    def link(self, pull: int, issue: int, *, repo: str | None = None) -> None:
        """Link an issue by the side bar, of which GitHub tells no App."""
        self.pull(pull, repo).closes.append(issue)

    def _tell_issue(
        self, action: str, repository: Repository, issue: Issue, sender: User, **more: Any
    ) -> None:
        issue.updated_at = self.now()
        parts = {"action": action, "issue": self.shapes.plain_issue(repository, issue), **more}
        self.tell("issues", repository, sender, parts)
