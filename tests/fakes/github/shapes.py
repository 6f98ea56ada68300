"""GitHub's objects as JSON: whole, as the API and the webhooks carry them."""

from tests.fakes.github.model import CheckRun, Comment, Issue, Pull, Repository, Turn, User, node_id
from tests.fakes.github.shapes_base import BaseShapes, Json, when

__all__ = ["Json", "Shapes", "when"]


class Shapes(BaseShapes):
    """Pull requests and what hangs on them; the rest is in `BaseShapes`."""

    def association(self, repository: Repository, user: User, pull: Pull | None = None) -> str:
        """GitHub's hint at who somebody is: private members of an organization look like NONE."""
        if pull is not None and pull.association is not None:
            return pull.association
        if user is repository.owner:
            return "OWNER"
        if user.id in repository.roles:
            return "MEMBER" if repository.owner.type == "Organization" else "COLLABORATOR"
        merged = any(p.merged_at and p.user is user for p in repository.pulls.values())
        return "CONTRIBUTOR" if merged else "NONE"

    def _branch(self, repository: Repository | None, owner: User, ref: str, sha: str) -> Json:
        gone = repository is None or repository.deleted
        return {
            "label": f"{owner.login}:{ref}",
            "ref": ref,
            "sha": sha,
            "user": self.maybe(owner),
            "repo": None if repository is None or gone else self.repository(repository),
        }

    def short_pull(self, repository: Repository, pull: Pull) -> Json:
        """`pull-request-simple`, as lists carry it."""
        own = f"{self.api}/repos/{repository.full_name}"
        page = f"{self.web}/{repository.full_name}/pull/{pull.number}"
        links = {
            "self": f"{own}/pulls/{pull.number}",
            "html": page,
            "issue": f"{own}/issues/{pull.number}",
            "comments": f"{own}/issues/{pull.number}/comments",
            "review_comments": f"{own}/pulls/{pull.number}/comments",
            "review_comment": f"{own}/pulls/comments{{/number}}",
            "commits": f"{own}/pulls/{pull.number}/commits",
            "statuses": f"{own}/statuses/{pull.head_sha}",
        }
        head_owner = pull.head_repo.owner if pull.head_repo else pull.user
        return {
            "url": links["self"],
            "id": pull.id,
            "node_id": node_id("PR", pull.id),
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "issue_url": links["issue"],
            "number": pull.number,
            "state": pull.state,
            "locked": pull.locked,
            "title": pull.title,
            "user": self.maybe(pull.user),
            "body": pull.body,
            "created_at": when(pull.created_at),
            "updated_at": when(pull.updated_at),
            "closed_at": when(pull.closed_at),
            "merged_at": when(pull.merged_at),
            "merge_commit_sha": pull.merged_at and pull.head_sha,
            **dict.fromkeys(("assignee", "milestone", "auto_merge")),
            **{key: [] for key in ("assignees", "requested_reviewers", "requested_teams")},
            "labels": [self.label(repository, label) for label in pull.labels],
            "draft": pull.draft,
            "commits_url": links["commits"],
            "review_comments_url": links["review_comments"],
            "review_comment_url": links["review_comment"],
            "comments_url": links["comments"],
            "statuses_url": links["statuses"],
            "head": self._branch(pull.head_repo, head_owner, pull.head_ref, pull.head_sha),
            "base": self._branch(
                repository, repository.owner, repository.default_branch, pull.base_sha
            ),
            "_links": {key: {"href": href} for key, href in links.items()},
            "author_association": self.association(repository, pull.user, pull),
            "active_lock_reason": pull.lock_reason,
        }

    def pull(self, repository: Repository, pull: Pull) -> Json:
        """`pull-request`, the answer about one and what its webhooks carry."""
        return self.short_pull(repository, pull) | {
            "merged": pull.merged_at is not None,
            "mergeable": None if pull.merged_at else True,
            "rebaseable": None if pull.merged_at else True,
            "mergeable_state": "unknown" if pull.merged_at else "clean",
            "merged_by": self.maybe(pull.merged_by),
            "comments": len(pull.comments),
            "review_comments": 0,
            "maintainer_can_modify": False,
            "commits": 1,
            "additions": 1,
            "deletions": 1,
            "changed_files": 1,
        }

    def issue(self, repository: Repository, pull: Pull) -> Json:
        """The issue side of a pull request, as `issue_comment` carries it."""
        own = f"{self.api}/repos/{repository.full_name}"
        issue = f"{own}/issues/{pull.number}"
        short = self.short_pull(repository, pull)
        same = ("id", "number", "title", "user", "labels", "state", "locked", "assignee",
                "assignees", "milestone", "created_at", "updated_at", "closed_at", "draft", "body",
                "author_association", "active_lock_reason")  # fmt: skip
        return {
            **{key: short[key] for key in same},
            "node_id": short["node_id"],
            "url": issue,
            "repository_url": own,
            "labels_url": f"{issue}/labels{{/name}}",
            "comments_url": f"{issue}/comments",
            "events_url": f"{issue}/events",
            "timeline_url": f"{issue}/timeline",
            "html_url": short["html_url"],
            "comments": len(pull.comments),
            "pull_request": {
                "url": short["url"],
                **{key: short[key] for key in ("html_url", "diff_url", "patch_url", "merged_at")},
            },
            "reactions": self._reactions(issue),
            "state_reason": None,
            "performed_via_github_app": None,
        }

    def plain_issue(self, repository: Repository, issue: Issue) -> Json:
        """`issue` of the `issues` webhook."""
        own = f"{self.api}/repos/{repository.full_name}/issues/{issue.number}"
        assignees = [self.user(user) for user in issue.assignees]
        return {
            "id": issue.id,
            "node_id": node_id("I", issue.id),
            "number": issue.number,
            "title": issue.title,
            "user": self.maybe(issue.user),
            "labels": [self.label(repository, label) for label in issue.labels],
            "state": issue.state,
            "state_reason": None,
            "locked": issue.locked,
            "assignee": assignees[0] if assignees else None,
            "assignees": assignees,
            "milestone": None,
            "comments": len(issue.comments),
            "created_at": when(issue.created_at),
            "updated_at": when(issue.updated_at),
            "closed_at": None,
            "author_association": self.association(repository, issue.user),
            "active_lock_reason": None,
            "body": issue.body,
            "url": own,
            "repository_url": f"{self.api}/repos/{repository.full_name}",
            "labels_url": f"{own}/labels{{/name}}",
            "comments_url": f"{own}/comments",
            "events_url": f"{own}/events",
            "timeline_url": f"{own}/timeline",
            "html_url": f"{self.web}/{repository.full_name}/issues/{issue.number}",
            "reactions": self._reactions(own),
            "performed_via_github_app": issue.app and self.app(issue.app),
        }

    def _reactions(self, owner: str) -> Json:
        names = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
        return {"url": f"{owner}/reactions", "total_count": 0, **dict.fromkeys(names, 0)}

    def note(self, repository: Repository, note: Comment) -> Json:
        """`pull-request-review-comment`: a comment on a line."""
        own = f"{self.api}/repos/{repository.full_name}/pulls"
        page = f"{self.web}/{repository.full_name}/pull/{note.number}"
        sha = repository.pulls[note.number].head_sha
        return {
            **{k: v for k, v in self.comment(repository, note).items() if "issue" not in k},
            "node_id": node_id("PRRC", note.id),
            "url": f"{own}/comments/{note.id}",
            "html_url": f"{page}#discussion_r{note.id}",
            "pull_request_url": f"{own}/{note.number}",
            "pull_request_review_id": None,
            "diff_hunk": "@@ -1 +1 @@",
            "path": "README.md",
            "commit_id": sha,
            "original_commit_id": sha,
            "_links": {
                "self": {"href": own},
                "html": {"href": page},
                "pull_request": {"href": own},
            },
        }

    def comment(self, repository: Repository, comment: Comment) -> Json:
        """`issue-comment`."""
        own = f"{self.api}/repos/{repository.full_name}/issues"
        page = f"{self.web}/{repository.full_name}/pull/{comment.number}"
        return {
            "url": f"{own}/comments/{comment.id}",
            "html_url": f"{page}#issuecomment-{comment.id}",
            "issue_url": f"{own}/{comment.number}",
            "id": comment.id,
            "node_id": node_id("IC", comment.id),
            "user": self.maybe(comment.user),
            "created_at": when(comment.created_at),
            "updated_at": when(comment.updated_at),
            "author_association": self.association(repository, comment.user),
            "body": comment.body,
            "reactions": self._reactions(f"{own}/comments/{comment.id}"),
            "performed_via_github_app": comment.app and self.app(comment.app),
        }

    def turn(self, repository: Repository, turn: Turn) -> Json:
        """`issue-event` of a pull request that was closed, reopened or labelled."""
        label = turn.label
        more: Json = {"state_reason": None}
        if label is not None:
            more = {"label": {"name": label.name, "color": label.color}}
        return {
            "id": turn.id,
            "node_id": node_id("CE", turn.id),
            "url": f"{self.api}/repos/{repository.full_name}/issues/events/{turn.id}",
            "actor": self.maybe(turn.actor),
            "event": turn.event,
            "commit_id": None,
            "commit_url": None,
            "created_at": when(turn.at),
            **more,
            "performed_via_github_app": turn.app and self.app(turn.app),
        }

    def check_run(self, repository: Repository, run: CheckRun) -> Json:
        """`check-run`. GitHub lists no pull requests of forks here, and ours come from forks."""
        own = f"{self.api}/repos/{repository.full_name}/check-runs/{run.id}"
        output = {key: run.output.get(key) for key in ("title", "summary", "text")}
        return {
            "id": run.id,
            "node_id": node_id("CR", run.id),
            "head_sha": run.head_sha,
            "external_id": run.external_id or "",
            "url": own,
            "html_url": f"{self.web}/{repository.full_name}/runs/{run.id}",
            "details_url": run.details_url or self.web,
            "status": run.status,
            "conclusion": run.conclusion,
            "started_at": when(run.started_at),
            "completed_at": when(run.completed_at),
            "output": {
                **output,
                "annotations_count": len(run.output.get("annotations", ())),
                "annotations_url": f"{own}/annotations",
            },
            "name": run.name,
            "check_suite": {"id": run.id + 1},
            "app": self.app(run.app),
            "pull_requests": [],
        }
