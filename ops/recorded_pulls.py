"""Pull requests and their deliveries in GitHub's shape, for the recorded day."""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from ops import recorded_story as story

DAY = datetime(2026, 11, 16, tzinfo=UTC)
INSTALLATION = 990000700
OWNER = {"login": "northlight", "id": 990000500, "type": "Organization"}
REPOSITORIES = {"lumen": 990000601, "lumen-kernels": 990000602}

Json = dict[str, Any]
Row = tuple[datetime, str, Json]


class Life:
    """One pull request as it changes over the day."""

    def __init__(self, pull: story.Pull, number: int, at: datetime) -> None:
        self.pull, self.number, self.opened, self.comments = pull, number, at, 0
        who, name = story.PEOPLE[pull.author], f"{OWNER['login']}/{pull.repository}"
        # People with rights push to the repository itself, everybody else to a fork.
        owner = (
            OWNER
            if who.role or pull.author.endswith("[bot]")
            else {"login": pull.author, "id": who.id}
        )
        self.state: Json = {
            "url": f"https://api.github.com/repos/{name}/pulls/{number}",
            "id": 990100000 + number * 10 + (pull.repository != "lumen"),
            "html_url": f"https://github.com/{name}/pull/{number}",
            "number": number,
            "state": "open",
            "locked": False,
            "title": pull.title,
            "user": person(pull.author),
            "body": pull.body,
            "created_at": iso(at),
            "updated_at": iso(at),
            "closed_at": None,
            "merged_at": None,
            "merge_commit_sha": None,
            "assignees": [],
            "requested_reviewers": [],
            "labels": [],
            "draft": pull.draft,
            "head": branch(owner, pull.ref, self.sha(at), pull.repository, fork=owner is not OWNER),
            "base": branch(
                OWNER, "main", digest(f"main {at:%H}")[:40], pull.repository, fork=False
            ),
            "author_association": who.association,
            "merged": False,
            "comments": 0,
            "commits": 1,
        }

    def sha(self, at: datetime) -> str:
        """The head commit that was pushed at a time."""
        return digest(f"{self.pull.repository} {self.number} {at}")[:40]

    def rows(self, steps: tuple[story.Step, ...], random: Random) -> Iterator[Row]:
        """It is opened, and then each step."""
        yield self.event(self.opened, "opened", self.pull.author)
        last = self.opened
        for step in steps:
            last = max(clock(step.time, random), last + timedelta(seconds=3))
            yield self.step(step, last)

    def step(self, step: story.Step, at: datetime) -> Row:
        """One thing that happens."""
        match step.verb:
            case "comment":
                return self.comment(step, at)
            case "review" | "approve":
                return self.review(step, at)
            case "push":
                self.push(at)
                return self.event(at, "synchronize", step.who)
            case "ready":
                self.state["draft"] = False
                return self.event(at, "ready_for_review", step.who)
            case "edit":
                changes = {"changes": {"title": {"from": self.state["title"]}}}
                self.state["title"] = step.text
                return self.event(at, "edited", step.who, changes)
            case "label":
                return self.label(step, at)
            case "deleted":
                # GitHub shows a deleted account as null, from whatever happens next.
                self.state["user"] = None
                return self.label(step, at)
            case "merge":
                merged = {
                    "merged": True,
                    "merged_at": iso(at),
                    "merge_commit_sha": digest(f"merge {at}")[:40],
                }
                self.state |= {"state": "closed", "closed_at": iso(at), **merged}
                return self.event(at, "closed", step.who, {}, {"merged_by": person(step.who)})
            case "close":
                self.state |= {"state": "closed", "closed_at": iso(at)}
                return self.event(at, "closed", step.who)
        raise ValueError(f"the story has no verb {step.verb}")

    def push(self, at: datetime) -> None:
        """The head moves."""
        self.state["head"] = {**self.state["head"], "sha": self.sha(at)}
        self.state["commits"] += 1

    def label(self, step: story.Step, at: datetime) -> Row:
        """A label is put on."""
        label = {
            "id": int(digest(step.text)[:7], 16),
            "name": step.text,
            "color": "c5def5",
            "default": False,
        }
        self.state["labels"] = [*self.state["labels"], label]
        return self.event(at, "labeled", step.who, {"label": label})

    def event(
        self,
        at: datetime,
        action: str,
        who: str,
        more: Json | None = None,
        also: Json | None = None,
    ) -> Row:
        """A `pull_request` delivery of the state as it is now."""
        self.state["updated_at"] = iso(at)
        state = {**self.state, **(also or {})}
        return (
            at,
            "pull_request",
            self.around(
                {"action": action, "number": self.number, "pull_request": state, **(more or {})},
                who,
            ),
        )

    def comment(self, step: story.Step, at: datetime) -> Row:
        """An `issue_comment` delivery."""
        self.comments += 1
        self.state |= {"comments": self.comments, "updated_at": iso(at)}
        pull = self.state
        names = (
            "id",
            "html_url",
            "number",
            "title",
            "user",
            "labels",
            "state",
            "locked",
            "comments",
            "created_at",
            "updated_at",
        )
        issue = {n: pull[n] for n in names} | {
            "author_association": pull["author_association"],
            "body": pull["body"],
        }
        issue["pull_request"] = {
            "url": pull["url"],
            "html_url": pull["html_url"],
            "merged_at": pull["merged_at"],
        }
        payload = {
            "action": "created",
            "issue": issue,
            "comment": self.words(step, at, "issuecomment-"),
        }
        return at, "issue_comment", self.around(payload, step.who)

    def review(self, step: story.Step, at: datetime) -> Row:
        """A `pull_request_review` delivery."""
        self.state["updated_at"] = iso(at)
        words = self.words(step, at, "pullrequestreview-")
        state = {"approve": "approved", "review": "changes_requested"}[step.verb]
        words |= {"submitted_at": iso(at), "state": state, "commit_id": self.state["head"]["sha"]}
        if not step.text:
            words["body"] = None
        payload = {"action": "submitted", "review": words, "pull_request": self.state}
        return at, "pull_request_review", self.around(dict(payload), step.who)

    def words(self, step: story.Step, at: datetime, anchor: str) -> Json:
        """What somebody wrote."""
        id_ = int(digest(f"{self.pull.repository} {self.number} {at} {step.who}")[:8], 16)
        return {
            "id": id_,
            "html_url": f"{self.state['html_url']}#{anchor}{id_}",
            "user": person(step.who),
            "author_association": story.PEOPLE[step.who].association,
            "created_at": iso(at),
            "updated_at": iso(at),
            "body": step.text,
        }

    def around(self, payload: Json, who: str) -> Json:
        """What every delivery carries."""
        # A copy of now: the state goes on changing.
        copy: Json = json.loads(json.dumps(payload))
        return copy | {
            "repository": repository(self.pull.repository),
            "organization": {"login": OWNER["login"], "id": OWNER["id"]},
            "sender": person(who),
            "installation": {"id": INSTALLATION},
        }


def clock(time: str, random: Random) -> datetime:
    """`HH:MM` of the day, at some second of it."""
    hour, minute = time.split(":")
    return DAY.replace(hour=int(hour), minute=int(minute), second=random.randrange(60))


def iso(at: datetime) -> str:
    """As GitHub writes times."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def digest(text: str) -> str:
    """Hexadecimal digits that look like a commit's."""
    return hashlib.sha256(text.encode()).hexdigest()


def person(login: str) -> Json:
    """An account of the story."""
    who = story.PEOPLE[login]
    return account({"login": login, "id": who.id, "type": who.type})


def account(who: Json) -> Json:
    """An account as payloads show it."""
    return {**who, "html_url": f"https://github.com/{who['login']}", "site_admin": False}


def repository(name: str) -> Json:
    """A repository as payloads show it."""
    full_name = f"{OWNER['login']}/{name}"
    return {
        "id": REPOSITORIES[name],
        "name": name,
        "full_name": full_name,
        "private": False,
        "owner": account(OWNER),
        "html_url": f"https://github.com/{full_name}",
        "fork": False,
        "default_branch": "main",
        "visibility": "public",
    }


def branch(owner: Json, ref: str, sha: str, name: str, *, fork: bool) -> Json:
    """One side of a pull request."""
    id_ = (
        int(digest(f"{owner['login']}/{name}")[:7], 16) + 990200000 if fork else REPOSITORIES[name]
    )
    return {
        "label": f"{owner['login']}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": {"login": owner["login"], "id": owner["id"]},
        "repo": {
            "id": id_,
            "name": name,
            "full_name": f"{owner['login']}/{name}",
            "fork": fork,
            "private": False,
        },
    }
