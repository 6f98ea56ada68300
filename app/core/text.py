"""Hostile text made safe to store, to print and to post.

Everything that comes from GitHub or mail was typed by somebody who may want to break us, to ping
people through our comment, or to make a line read differently from what it says.
"""

import re
import unicodedata

TITLE_LIMIT = 300
BODY_LIMIT = 70_000  # GitHub's own limit is 65,536 characters

# C0 and C1 controls but for tab and newline, and lone surrogates, which no database can store.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# Marks that change the order in which a line is shown (Unicode TR 36, "Trojan source"), and
# invisible characters that hide in names: fillers, joiners, tags, shorthand and annotation marks.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+\-!|~&$])")
# What GitHub turns into a link or a mention wherever it stands: there is no escape for it.
_LINKS = re.compile(r"@|\\#|:|\\\$|www(?=\.)|GH\\-", re.IGNORECASE)


def clean(text: str | None, limit: int = BODY_LIMIT) -> str:
    r"""Text that a database stores and a page shows: no NUL, no control characters, bounded.

    Line ends become ``\n``. A None (GitHub's empty body) becomes the empty string.
    """
    if not text:
        return ""
    return _CONTROL.sub("", text[: limit * 2].replace("\r\n", "\n").replace("\r", "\n"))[:limit]


def one_line(text: str | None, limit: int = TITLE_LIMIT) -> str:
    """A title, branch or login on one line, without marks that reorder or hide it."""
    plain = _INVISIBLE.sub("", clean(text, limit * 2))
    return unicodedata.normalize("NFC", " ".join(plain.split()))[:limit].rstrip()


def markdown(text: str | None, limit: int = TITLE_LIMIT) -> str:
    """Somebody's words inside our Markdown: shown as typed, pinging and linking nobody.

    An `@` gets a word joiner (U+2060) behind it, since GitHub has no escape for a mention; so does
    all else that would become a link, a reference or a formula: `#1`, `GH-1`, `www.`, `:`, `$`.
    """
    escaped = _MARKDOWN.sub(r"\\\1", one_line(text, limit))
    return _LINKS.sub("\\g<0>\u2060", escaped)
