"""The lines of a Markdown text that somebody says, and does not quote or show as code."""

import re

from markdown_it import MarkdownIt

# Emphasis, links and the rest do not change what is said, and cost time on hostile text.
_MARKDOWN = MarkdownIt("zero").enable(
    [
        "fence",
        "code",
        "blockquote",
        "list",
        "heading",
        "lheading",
        "hr",
        "html_block",
        "backticks",
        "escape",
        "newline",
        "html_inline",
    ]
)
_MARKDOWN.options["html"] = True
# Marks the lines that are looked for, so that they are known again in the parsed text. Private
# use, hence nothing that a text needs.
_MARK = re.compile("\ue000([0-9]+)\ue001")
_BREAKS = {"softbreak", "hardbreak"}


def own_lines(body: str, start: re.Pattern[str]) -> tuple[str, ...]:
    """The lines that match `start`, in order, as GitHub's Markdown shows them at a line's start.

    Not those within a block quote, which goes on over lines without a mark of their own; within
    code, be it fenced, indented or a span over several lines; within an HTML comment, which nobody
    sees; nor those that open an item of a list. https://spec.commonmark.org/0.31.2/
    """
    # Not `splitlines`, which also breaks where Markdown does not: within a quote, say.
    lines = re.split(r"\r\n|\n|\r", body.replace("\ue000", " "))
    marked = [
        f"\ue000{number}\ue001{line}" if start.match(line) else line
        for number, line in enumerate(lines)
    ]
    found: list[int] = []
    quotes = 0
    for token in _MARKDOWN.parse("\n".join(marked)):
        quotes += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if token.type != "inline" or quotes:
            continue
        begins = True
        for child in token.children or ():
            at = _MARK.match(child.content) if begins and child.type == "text" else None
            if at:
                found.append(int(at.group(1)))
            begins = child.type in _BREAKS
    return tuple(lines[number] for number in found)
