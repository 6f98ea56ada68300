"""Whether a pull request says itself that an agent wrote it, and by which exact form.

Disclosure informs and lowers friction; it never adds suspicion. The forms stand in
`disclosure_table`. What is quoted, in a code block or in an HTML comment (a template's own words)
says nothing.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from app.core.disclosure_table import FORMS, FormKind
from app.core.github import PullRequest
from app.core.text import one_line

# Trailers that a person or a tool writes to say it: the kernel's `Assisted-by` and its kin.
_SAID = re.compile(r"^(?:assisted-by|generated-by|ai-assisted-by|co-developed-with-ai):(.{1,300})$")
# Trailers that name somebody with an address.
_NAMED = re.compile(
    r"^(?:co-authored-by|co-developed-by|signed-off-by|author):[^<>]{0,200}<([^<>\s]{3,200})>\s*$"
)
_NOREPLY = re.compile(r"^(\d{1,12})\+[^@\s]{1,80}@users\.noreply\.github\.com$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")
_BEFORE_FOOTER = re.compile(r"^[\s*_>🤖💘✨()\[\]-]{0,12}")
_BOX = re.compile(r"^\s{0,6}[-*+] \[x\] (.{3,400})$", re.IGNORECASE)
_BY_AI = re.compile(
    r"(?:\b(?:used|use|using|assisted|generated|written|created|with (?:the )?help|help from)\b"
    r".{0,60}?\b(?:AI|LLMs?|large language models?)\b"
    r"|\b(?:AI|LLM)[- ](?:assisted|generated|written|authored))",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\b(?:no|not|none|never|without|if|neither|nor|cannot|policy|where|any|whether)\b|n['’]t\b",
    re.IGNORECASE,
)
_MOST_LINES = 3000
BOX = "an AI tool (ticked box)"


class Disclosure(NamedTuple):
    """One thing said. `name` is safe to show; `form` is what was matched."""

    name: str
    kind: FormKind | Literal["said", "box"]
    form: str


def _of(kind: FormKind) -> dict[str, str]:
    return {form.value: form.name for form in FORMS if form.kind == kind}


_EMAILS, _IDS, _APPS = _of("email"), _of("noreply"), _of("app")
_BRANCHES, _TRAILERS, _FOOTERS = _of("branch"), _of("trailer"), _of("footer")


def disclosed(pull: PullRequest, trailers: Iterable[str] = ()) -> str | None:
    """Who helped, in the words of the pull request itself; None where it says nothing.

    `trailers`: lines of the commits' messages.
    """
    return next((found.name for found in disclosures(pull, trailers)), None)


def disclosures(pull: PullRequest, trailers: Iterable[str] = ()) -> Iterator[Disclosure]:
    """All that is said: account, branch, body and commits, in this order. Linear in the text."""
    if pull.user is not None and (name := _APPS.get(str(pull.user.id))):
        yield Disclosure(name, "app", str(pull.user.id))
    for prefix, name in _BRANCHES.items():
        if pull.head.ref.startswith(prefix):
            yield Disclosure(name, "branch", prefix)
    yield from said_in(pull.body)
    for line in trailers:
        found = _trailer(line)
        if found is not None:
            yield found


def said_in(body: str) -> Iterator[Disclosure]:
    """What a description says: trailers, footers and ticked boxes outside of code and comments."""
    for line in spoken_lines(body):
        found = _trailer(line) or _footer(line) or _box(line)
        if found is not None:
            yield found


def spoken_lines(body: str) -> Iterator[str]:
    """The lines that are its author's own: no quotes, code blocks or HTML comments."""
    fence, comment = "", False
    for line in body.split("\n", _MOST_LINES)[:_MOST_LINES]:
        mark = _FENCE.match(line)
        if comment:
            comment = "-->" not in line
        elif fence:
            fence = "" if mark and mark[1] == fence else fence
        elif mark:
            fence = mark[1]
        elif line.lstrip().startswith("<!--"):
            comment = "-->" not in line
        elif not line.lstrip().startswith(">"):
            yield line


def _trailer(line: str) -> Disclosure | None:
    low = line[:400].rstrip().lower()
    said = _SAID.match(low)
    if said:
        words = one_line(line[:400].rstrip().partition(":")[2], 80)
        return Disclosure(words, "said", low.partition(":")[0]) if words else None
    named = _NAMED.match(low)
    if named:
        address = named[1]
        if name := _EMAILS.get(address):
            return Disclosure(name, "email", address)
        number = _NOREPLY.match(address)
        if number and (name := _IDS.get(number[1])):
            return Disclosure(name, "noreply", number[1])
        return None
    for start, name in _TRAILERS.items():
        if low.startswith(start):
            return Disclosure(name, "trailer", start)
    return None


def _footer(line: str) -> Disclosure | None:
    low = _BEFORE_FOOTER.sub("", line[:400].lower(), count=1)
    for start, name in _FOOTERS.items():
        # A link may stand behind words: "Link to Devin run: https://…", "[Task](https://…".
        at = low.find(start) if start.startswith("https://") else low.find(start, 0, len(start))
        if at >= 0:
            return Disclosure(name, "footer", start)
    return None


def _box(line: str) -> Disclosure | None:
    ticked = _BOX.match(line)
    if ticked and _BY_AI.search(ticked[1]) and not _OTHERWISE.search(ticked[1]):
        return Disclosure(BOX, "box", "ticked box")
    return None
