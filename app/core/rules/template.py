"""The description: the sections that are asked for, and not the untouched template."""

import re
from collections.abc import Iterator, Sequence

from pydantic import Field

from app.core.config import LabelName, Message
from app.core.modes import Mode, ModeWord
from app.core.rules.base import Found, Rule, RuleConfig, Seen, worded
from app.core.said import say

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MOST_MARKS = 6
_BOLD = ("**", "__")
_UNTICKED = re.compile(r"^\s*[-*+]\s+\[ \]")
_MARKS = re.compile(r"[\W_]+")


class TemplateRule(RuleConfig):
    """The description lacks sections that are asked for, or is the untouched template."""

    mode: ModeWord = Field(default=Mode.OFF, description="How far this rule may go.")
    sections: tuple[LabelName, ...] = Field(
        default=(),
        max_length=30,
        description="Headings that must be there, in any case and at any level, with something "
        "written below them.",
    )
    filled: bool = Field(
        default=True,
        strict=True,
        description="The description must not be empty, nor only the repository's template.",
    )
    message: Message = Field(
        default="", description="Your own words for what is asked, in place of ours."
    )


def _find(config: TemplateRule, seen: Seen) -> Found | None:
    body = seen.facts.pull.body
    change = seen.facts.change
    templates = [t.body for t in change.templates] if change else []
    own = [_text(t) for t in templates]
    missing = [s for s in config.sections if not _is_filled(s, body, templates)]
    if missing:
        return Found(
            sentence=say(
                "The description lacks these sections, or they are empty: {sections}.",
                sections=", ".join(missing),
            ),
            way=worded(config.message) or say("Edit the description and fill them in."),
        )
    if config.filled and (not _text(body) or _text(body) in own):
        return Found(
            sentence=say("The description says nothing yet about this change."),
            way=worded(config.message)
            or say("Edit the description: what the change is for, and how you tried it out."),
        )
    return None


def _lines(text: str) -> Iterator[str]:
    """The lines that a reader sees: no comments, no blank ones, line ends of any kind."""
    plain = _COMMENT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return (line.strip() for line in plain.split("\n") if line.strip())


def _text(text: str) -> str:
    """What somebody wrote, without headings, boxes that nobody ticked, and marks."""
    kept = (line for line in _lines(text) if not _heading(line) and not _UNTICKED.match(line))
    return _plain(" ".join(kept))


def _plain(text: str) -> str:
    return _MARKS.sub(" ", text).strip().casefold()


def _heading(line: str) -> str | None:
    """The words of a heading, or of a line that is bold as a whole.

    Without regular expressions: what takes them a cube of its length is a stranger's to write.
    """
    text = line.strip()
    bare = text.lstrip("#")
    if bare != text and len(text) - len(bare) <= _MOST_MARKS and bare[:1].isspace():
        return _plain(bare.strip().rstrip("#"))
    text = text.removesuffix(":").rstrip()
    for mark in _BOLD:
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            return _plain(text[len(mark) : -len(mark)])
    return None


def _is_filled(section: str, body: str, templates: Sequence[str]) -> bool:
    """Whether the section is there with words that are not the template's own."""
    wanted = _plain(section)
    hints = {_plain(line) for template in templates for line in _lines(template)}
    inside = False
    for line in _lines(body):
        heading = _heading(line)
        if heading is not None:
            inside = heading == wanted
        elif inside and not _UNTICKED.match(line) and _plain(line) not in hints | {""}:
            return True
    return False


RULE = Rule(
    name="template",
    config=TemplateRule,
    about=(
        "Each heading of `sections` has to stand in the description with something below it; with "
        "`filled`, a description that is empty or only the repository's own template does not do. "
        "Hints in comments, boxes that nobody ticked and the template's own lines count as nothing. "
        "Line ends, the level of a heading, and sections of the template that are not asked for do "
        "not matter. Editing the description is enough: what it closed is opened again by itself."
    ),
    needs=("change",),
    find=_find,
    asks=lambda _: "Its description is filled in.",
)
