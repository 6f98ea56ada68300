"""The description: the sections that are asked for, and not the untouched template."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import Field

from app.core.config import LabelName, Message
from app.core.modes import Mode, ModeWord
from app.core.rules.base import Found, Rule, RuleConfig, Seen, worded
from app.core.said import say

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MOST_MARKS = 6
# Of a heading whose line stands above: https://spec.commonmark.org/0.31.2/#setext-headings
_UNDERLINES = {"=": 1, "-": 2}
_NO_PARAGRAPH = "-*+>|#"  # such a line is no heading, whatever stands below it
_BOLD = ("**", "__")
_FENCES = ("`", "~")
_LEAST_FENCE = 3
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
    missing = _missing(config.sections, body, templates)
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


class _Line(NamedTuple):
    """A line as its reader sees it. `level`: of a heading, 1 the highest; 0: it is text."""

    level: int
    text: str


def _lines(text: str) -> list[_Line]:
    """The lines that a reader sees: no comments, no blank ones, line ends of any kind."""
    plain = _COMMENT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    found: list[_Line] = []
    before = fence = ""
    for raw in plain.split("\n"):
        line = raw.strip()
        if fence or _fence(line):
            # Within a block of code nothing is a heading: `#` begins a comment there.
            if fence and not _ends(line, fence):
                found += [_Line(0, line)] if line else []
            else:
                fence = "" if fence else _fence(line)
            before = ""
            continue
        below = _UNDERLINES.get(line[:1]) if line and line == line[0] * len(line) else None
        if below and before and before[0] not in _NO_PARAGRAPH and found[-1].level == 0:
            found[-1] = _Line(below, _plain(before))
            line = ""
        elif line:
            found.append(_heading(line) or _Line(0, line))
        before = line
    return found


def _fence(line: str) -> str:
    """The marks that a block of code begins with; "" where none does.

    https://spec.commonmark.org/0.31.2/#fenced-code-blocks
    """
    for mark in _FENCES:
        rest = line.lstrip(mark)
        if len(line) - len(rest) >= _LEAST_FENCE and not (mark == "`" and mark in rest):
            return line[: len(line) - len(rest)]
    return ""


def _ends(line: str, fence: str) -> bool:
    return len(line) >= len(fence) and line == line[:1] * len(line) and line[0] == fence[0]


def _text(text: str) -> str:
    """What somebody wrote, without headings, boxes that nobody ticked, and marks."""
    kept = (n.text for n in _lines(text) if not n.level and not _UNTICKED.match(n.text))
    return _plain(" ".join(kept))


def _plain(text: str) -> str:
    return _MARKS.sub(" ", text).strip().casefold()


def _heading(line: str) -> _Line | None:
    """A heading, or a line that is bold as a whole, which stands below all headings.

    Without regular expressions: what takes them a cube of its length is a stranger's to write.
    """
    text = line.strip()
    bare = text.lstrip("#")
    if bare != text and len(text) - len(bare) <= _MOST_MARKS and bare[:1].isspace():
        return _Line(len(text) - len(bare), _plain(bare.strip().rstrip("#")))
    text = text.removesuffix(":").rstrip()
    for mark in _BOLD:
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            return _Line(_MOST_MARKS + 1, _plain(text[len(mark) : -len(mark)]))
    return None


def _missing(sections: Sequence[str], body: str, templates: Sequence[str]) -> list[str]:
    """The sections that are not there, or hold no words but the template's own.

    What stands below a heading of a lower level belongs to the section above it as well, unless
    that heading is a section that is asked for itself.
    """
    wanted = {_plain(section) for section in sections}
    hints = {_plain(line.text) for template in templates for line in _lines(template)}
    filled: set[str] = set()
    inside: _Line | None = None
    for line in _lines(body):
        if line.level:
            if line.text in wanted:
                inside = line
            elif inside and line.level <= inside.level:
                inside = None
        elif inside and not _UNTICKED.match(line.text) and _plain(line.text) not in hints | {""}:
            filled.add(inside.text)
    return [section for section in sections if _plain(section) not in filled]


RULE = Rule(
    name="template",
    config=TemplateRule,
    about=(
        "Each heading of `sections` has to stand in the description with something below it; with "
        "`filled`, a description that is empty or only the repository's own template does not do. "
        "Hints in comments, boxes that nobody ticked and the template's own lines count as nothing. "
        "What stands below a heading of a lower level belongs to the section above it. "
        "Line ends, the level of a heading, and sections of the template that are not asked for do "
        "not matter. Editing the description is enough: what it closed is opened again by itself."
    ),
    needs=("change",),
    find=_find,
    asks=lambda _: "Its description is filled in.",
)
