"""Facts for the rules, made by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

from app.adapters.patterns import LinearPatterns
from app.core.change import Change, ChangedFile, Commit, LinkedIssue
from app.core.facts import Facts, OpenPull, Role
from app.core.github import Account, Branch, PullRequest
from app.core.rules.base import Found, Rule, Seen
from app.core.scoring import add_up

NOW = datetime(2026, 11, 16, 13, tzinfo=UTC)
AUTHOR = 7
UNKNOWN = add_up(-2.0, (), "x")
PATTERNS = LinearPatterns()


def pull(**more: Any) -> PullRequest:
    given = {
        "id": 1,
        "number": 5,
        "state": "open",
        "title": "A change",
        "body": "",
        "user": Account(id=AUTHOR, login="author"),
        "created_at": NOW,
        "updated_at": NOW,
        "head": Branch(ref="topic", sha="a" * 40),
        "base": Branch(ref="main", sha="c" * 40),
    }
    return PullRequest(**(given | more))


def facts(*, pull_: PullRequest | None = None, **more: Any) -> Facts:
    return Facts(
        pull=pull_ or pull(), role=Role.NONE, installed_at=NOW - timedelta(days=99), **more
    )


def change(
    *paths: str,
    status: str = "modified",
    lines: int = 20,
    issues: tuple[LinkedIssue, ...] | None = (),
    **more: Any,
) -> Change:
    files = tuple(
        ChangedFile(path=p, status=status, additions=lines, deletions=0)  # type: ignore[arg-type]
        for p in paths
    )
    return Change(
        **{
            "head_sha": "a" * 40,
            "files": files,
            "files_total": len(files),
            "issues": issues,
            **more,
        }
    )


def issue(number: int = 12, **more: Any) -> LinkedIssue:
    return LinkedIssue(**{"repository_id": 2, "number": number, "open": True, **more})


def commit(author: int | None, *, update: bool = False) -> Commit:
    return Commit(sha="b" * 40, author_id=author, parents=2 if update else 1, by_github=update)


def opened(*minutes: int, drafts: tuple[int, ...] = ()) -> tuple[OpenPull, ...]:
    """Open pull requests of the author: number 5 is the one that is looked at, at minute 0."""
    return tuple(
        OpenPull(number=5 if m == 0 else 100 + m, at=NOW + timedelta(minutes=m), draft=m in drafts)
        for m in minutes
    )


def found(rule: Rule[Any], given: Facts, config: dict[str, Any] | None = None) -> Found | None:
    """What a rule says of facts, under a configuration as it stands in the file."""
    checked = rule.config.model_validate(config or {}, context={"patterns": PATTERNS})
    return rule.find(checked, Seen(facts=given, score=UNKNOWN, patterns=PATTERNS, now=NOW))


def says(rule: Rule[Any], given: Facts, config: dict[str, Any] | None = None) -> str | None:
    """The sentence alone."""
    answer = found(rule, given, config)
    return None if answer is None else str(answer.sentence)
