"""An accepted or assigned issue is required before a pull request."""

from typing import Self

from pydantic import Field, model_validator

from app.core.change import LinkedIssue
from app.core.config import LabelName, Message, PathPattern
from app.core.modes import Mode, ModeWord
from app.core.rules.base import Found, Rule, RuleConfig, Seen, worded
from app.core.said import Sentence, say


class AcceptedIssueRule(RuleConfig):
    """An accepted or assigned issue is required."""

    mode: ModeWord = Field(default=Mode.OFF, description="How far this rule may go.")
    labels: tuple[LabelName, ...] = Field(
        default=("accepted", "help wanted", "good first issue"),
        max_length=50,
        description="An open issue with one of these labels, in any case, is accepted.",
    )
    assigned: bool = Field(
        default=True,
        strict=True,
        description="An open issue that is assigned to the author counts as accepted.",
    )
    trivial_lines: int = Field(
        default=10,
        strict=True,
        ge=0,
        le=1000,
        description="Changes of at most so many lines, added and deleted together, need no issue.",
    )
    exempt_paths: tuple[PathPattern, ...] = Field(
        default=("*.md", "*.rst", "/docs/"),
        max_length=200,
        description="Changes of nothing but these paths need no issue; as in `.gitignore`.",
    )
    message: Message = Field(
        default="", description="Your own words for what is asked, in place of ours."
    )

    @model_validator(mode="after")
    def _can_be_met(self) -> Self:
        if not self.labels and not self.assigned:
            raise ValueError("without labels and with assigned: false no issue could ever do")
        return self


def _find(config: AcceptedIssueRule, seen: Seen) -> Found | None:
    change = seen.facts.change
    # An issue that GitHub did not show us may be the accepted one.
    if change is None or change.issues is None or _exempt(config, seen):
        return None
    here = seen.facts.pull.base.repo
    # Anybody has a repository of their own with issues that they accepted.
    ours = [i for i in change.issues if here is None or i.repository_id == here.id]
    if any(_accepted(config, issue, seen) for issue in ours):
        return None
    sentence = (
        say("It is for no issue that was accepted here.")
        if ours
        else say("It is linked to no issue.")
    )
    return Found(sentence=sentence, way=worded(config.message) or _way(config))


def _exempt(config: AcceptedIssueRule, seen: Seen) -> bool:
    change = seen.facts.change
    if change is None or not change.files or not change.has_all_files:
        return False
    lines = [f.additions + f.deletions for f in change.files]
    # GitHub counts no lines of binary files and of files that only moved.
    if all(lines) and sum(lines) <= config.trivial_lines:
        return True
    paths = [file.path for file in change.files]
    return len(seen.patterns.paths(config.exempt_paths, paths)) == len(paths)


def _accepted(config: AcceptedIssueRule, issue: LinkedIssue, seen: Seen) -> bool:
    author = seen.facts.author
    wanted = {label.casefold() for label in config.labels}
    labelled = any(label.casefold() in wanted for label in issue.labels)
    assigned = config.assigned and author is not None and author.id in issue.assignees
    return issue.open and (labelled or assigned)


def _way(config: AcceptedIssueRule) -> Sentence:
    labels = ", ".join(config.labels)
    if not config.labels:
        return say(
            "Ask in the issue to have it assigned to you, and write “Fixes #” and its number into "
            "the description. Once that is so, nothing more is asked."
        )
    if not config.assigned:
        return say(
            "Find an open issue with one of these labels: {labels}. Write “Fixes #” and its number "
            "into the description. Once that is so, nothing more is asked.",
            labels=labels,
        )
    return say(
        "Find an open issue with one of these labels: {labels}; or ask to have one assigned to "
        "you. Write “Fixes #” and its number into the description. Once that is so, nothing more "
        "is asked.",
        labels=labels,
    )


RULE = Rule(
    name="accepted_issue",
    config=AcceptedIssueRule,
    about=(
        "The pull request has to be for an open issue that maintainers accepted: by one of `labels`, "
        "or by assigning it to the author. GitHub's own link counts, by “Fixes #12” in the "
        "description or by the side bar. Trivial changes and changes of nothing but documentation "
        "are exempt. What it closed is opened again by itself once the issue is linked, labelled or "
        "assigned. Issues of other repositories count for nothing."
    ),
    find=_find,
    asks=lambda _: "There is an issue for it that a maintainer accepted or assigned to you.",
    needs=("change",),
)
