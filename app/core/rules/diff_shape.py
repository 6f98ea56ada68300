"""The shape of the change: whole projects, exercises, everything at once, many authors."""

from collections import defaultdict
from pathlib import PurePosixPath

from pydantic import Field

from app.core.change import Change, ChangedFile
from app.core.modes import Mode, ModeWord
from app.core.rules.base import Found, Rule, RuleConfig, Seen
from app.core.said import Sentence, say

# What stands at the top of a project of its own.
_PROJECT = {
    *("package.json", "pyproject.toml", "setup.py", "requirements.txt", "cargo.toml", "go.mod"),
    *("pom.xml", "build.gradle", "build.gradle.kts", "gemfile", "composer.json", "cmakelists.txt"),
    *("makefile", "dockerfile", "license", "license.md", "license.txt", "readme.md", "readme"),
}
_PROJECT_FILES = 5
_PROJECT_MARKS = 2
# File names of exercises, without their ending. Each alone may be honest; see `_is_homework`.
_EXERCISE = {
    *("hello", "helloworld", "hello_world", "hello-world", "test", "tests1", "demo", "first"),
    *("assignment", "assignment1", "homework", "homework1", "exercise", "lab", "lab1", "practice"),
    *("sample", "myfile", "my_file", "newfile", "new_file", "untitled", "file", "file1", "abc"),
    *("index", "script", "calculator", "todo", "contributors"),
}
_EXERCISE_LINES = 60


class DiffShapeRule(RuleConfig):
    """The change has the shape of something that was not made for this repository."""

    mode: ModeWord = Field(default=Mode.OFF, description="How far this rule may go.")
    standalone_project: bool = Field(
        default=True,
        strict=True,
        description="A whole project of its own in a new directory at the top.",
    )
    homework: bool = Field(
        default=True,
        strict=True,
        description="Nothing but one or two new files at the top with names as exercises have them.",
    )
    top_directories: int | None = Field(
        default=5,
        strict=True,
        ge=2,
        le=1000,
        description="So many directories at the top, or more, are touched. `null`: any number.",
    )
    authors: int | None = Field(
        default=4,
        strict=True,
        ge=2,
        le=100,
        description="So many accounts, or more, wrote its commits. `null`: any number.",
    )


def _find(config: DiffShapeRule, seen: Seen) -> Found | None:
    change = seen.facts.change
    if change is None:
        return None
    sentence = _shape(config, change)
    if sentence is None:
        return None
    return Found(
        sentence=sentence,
        way=say("If it is meant like that, say here what it is for; else open a smaller one."),
    )


def _shape(config: DiffShapeRule, change: Change) -> Sentence | None:
    project = _project(change) if config.standalone_project else None
    if project is not None:
        return say(
            "It adds a whole project of its own in the new directory {directory}.",
            directory=project,
        )
    if config.homework and _is_homework(change):
        return say("It adds nothing but a file at the top, named as in exercises.")
    directories = {top for top in map(_top, change.files) if top}
    if config.top_directories and len(directories) >= config.top_directories:
        return say(
            "It touches {count} directories at the top of the repository at once.",
            count=len(directories),
        )
    # "Update branch" is nobody's work, and a co-author in a trailer is nobody we know.
    authors = {c.author_id for c in change.commits if c.author_id and not c.is_update}
    if config.authors and len(authors) >= config.authors:
        return say("Its commits are by {count} different accounts.", count=len(authors))
    return None


def _top(file: ChangedFile) -> str:
    """The directory at the top that a file lies in; "" for a file at the top itself."""
    parts = PurePosixPath(file.path).parts
    return parts[0] if len(parts) > 1 else ""


def _project(change: Change) -> str | None:
    """The new directory at the top that holds a project of its own and nearly all of the change."""
    if not change.top_level:
        return None  # nothing is known of what was there before
    there = {name.casefold() for name in change.top_level}
    added: dict[str, list[ChangedFile]] = defaultdict(list)
    for file in change.files:
        if file.status == "added" and _top(file).casefold() not in there | {""}:
            added[_top(file)].append(file)
    for directory, files in sorted(added.items()):
        marks = {
            PurePosixPath(f.path).name.casefold()
            for f in files
            if len(PurePosixPath(f.path).parts) == 2
        } & _PROJECT
        others = len(change.files) - len(files)
        if len(files) >= _PROJECT_FILES and len(marks) >= _PROJECT_MARKS and others <= 1:
            return directory
    return None


def _is_homework(change: Change) -> bool:
    """One or two short new files at the top with names of exercises, and nothing else."""
    if not change.has_all_files or not 1 <= len(change.files) <= 2:
        return False
    return all(
        file.status == "added"
        and not _top(file)
        and file.additions <= _EXERCISE_LINES
        and PurePosixPath(file.path).stem.casefold() in _EXERCISE
        for file in change.files
    )


RULE = Rule(
    name="diff_shape",
    config=DiffShapeRule,
    about=(
        "The change looks as if it was not made for this repository: a project of its own "
        f"(at least {_PROJECT_FILES} new files in a new directory at the top with two or more of a "
        "README, licence, manifest or build file, and next to nothing else); one or two short files "
        "at the top with names from exercises; directories at the top touched all over; commits by "
        "many accounts, not counting what “Update branch” makes. Each can be switched off. Shape is "
        "no proof of anything, so that by its nature the rule asks."
    ),
    find=_find,
    asks=lambda _: "It changes this project and does not put another one beside it.",
    natural=Mode.ASK,
    needs=("change",),
)
