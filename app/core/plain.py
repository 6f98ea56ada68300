"""A pull request's text made plain before it is measured: what hides or names is taken out first.

Bounded: no more than `TITLE_MOST` and `BODY_MOST` characters are looked at, whatever comes in.
Applying it twice changes nothing more.
"""

import re
import unicodedata
from typing import NamedTuple

from app.core.disclosure_table import FORMS
from app.core.text import clean, one_line

TITLE_MOST = 300
BODY_MOST = 12_000

# Zero-width and reordering characters, variation selectors and other format characters.
_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
# Letters of other scripts that look like Latin ones (Unicode TR 39's confusables, the common ones).
_LOOK = str.maketrans(
    "аеорсухіјѕԁһԛԝѵкмтвнАВЕКМНОРСТУХІЈЅҮαοριυντκεηγΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhqwvkmtbhABEKMHOPCTYXIJSYaopiuvtkenyABEZHIKMNOPTYX",
)
_LATIN = re.compile("[A-Za-z]")
_LETTER = re.compile(r"[^\W\d_]")
_WORD_MIXED = re.compile("[A-Za-zЀ-ӿͰ-Ͽ]{1,40}")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_URL = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]\"']{1,600}|<url>?", re.IGNORECASE)
_EMAIL = re.compile(r"<?[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}>?|<+email>+", re.IGNORECASE)
_MENTION = re.compile(r"(?<![\w`])@[A-Za-z0-9][\w-]{0,38}(?:\[bot\])?")
_SHA = re.compile(r"\b[0-9a-f]{7,40}\b")
_TRAILER = re.compile(
    r"^[ \t]*(?:co-authored-by|signed-off-by|assisted-by|generated-by|ai-assisted-by|reviewed-by|"
    r"claude-session|amp-thread(?:-id)?|ai-agent|change-id|co-developed-by)[ \t]*:.*$",
    re.IGNORECASE | re.MULTILINE,
)
_FOOTER = re.compile(
    r"^.{0,12}(?:generated (?:with|by)|created (?:with|by|automatically by)|made with|"
    r"pr created automatically by|link to TOOL (?:run|session)|requested by)\b.{0,300}$",
    re.IGNORECASE | re.MULTILINE,
)
_NAMES = sorted(
    {form.name.split()[0].lower() for form in FORMS}
    | {"chatgpt", "openai", "anthropic", "openhands", "aider", "qwen", "jules", "gpt-4", "gpt-5"}
    | {"claude", "codex", "copilot", "cursor", "devin", "gemini", "windsurf", "sonnet", "opus"}
)
# A name at a word's edge; `cursor` is an everyday word of programs, and masked all the same.
_VENDOR = re.compile(
    r"\b(?:"
    + "|".join(re.escape(n) for n in _NAMES if n not in {"continue", "amp", "crush"})
    + r")(?:[ -](?:code|cli|ai|agent|bot|swe))?\b",
    re.IGNORECASE,
)
# What review bots and Copilot's own page put below a description, up to its end.
_APPENDED = re.compile(
    r"^(?:#{1,6} *Summary by (?:CodeRabbit|Sourcery|mrge|cubic)\b|.{0,6}Share your feedback on TOOL|"
    r".{0,6}You can make TOOL smarter|> \[!WARNING\]\n>\s*\n> <details>\n> <summary>Firewall rules).*\Z",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_LINK_END = re.compile(r"\]\( *URL(?: *\))?[.,:;]?")
_LONE_URL = re.compile(r"^[ \t]*(?:URL|EMAIL)(?: ?<id>)?[ \t]*$", re.MULTILINE)
_BLANKS = re.compile(r"[ \t]+\n")
_MANY_LINES = re.compile(r"\n{3,}")
_RULE_AT_END = re.compile(r"(?:\n\s*(?:-{3,}|\*{3,}|_{3,})\s*)+\Z")


class Plain(NamedTuple):
    """Title and body as they are measured; `cut` says that the body was longer."""

    title: str
    body: str
    cut: bool


def plain(title: str, body: str) -> Plain:
    """Text without what hides (homoglyphs, zero width) or names (vendors, links, trailers)."""
    short = clean(body, BODY_MOST)
    return Plain(
        _names_out(_shown(one_line(title, TITLE_MOST))), _body(short), len(body) > BODY_MOST
    )


def _shown(text: str) -> str:
    """As a reader sees it: compatibility forms folded, hidden characters gone, look-alikes Latin."""
    text = _HIDDEN.sub("", text)
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    letters = len(_LETTER.findall(text))
    latin = 2 * len(_LATIN.findall(text)) > letters
    words = _WORD_MIXED.sub(lambda word: _latin(word[0], among_latin=latin), text)
    return words.translate(_PUNCTUATION)


_PUNCTUATION = str.maketrans("‐‑‒–—−‘’‚“”„…", "------'''\"\"\".")


def _latin(word: str, *, among_latin: bool) -> str:
    """A word with its look-alikes as Latin letters, where it is Latin or only pretends not to be.

    A word of Cyrillic or Greek among its like is a word of that language.
    """
    changed = word.translate(_LOOK)
    if _LATIN.search(word) or (among_latin and changed.isascii()):
        return changed
    return word


def _body(text: str) -> str:
    text = _COMMENT.sub("", _shown(text))
    text = _names_out(_TRAILER.sub("", text))
    text = _LONE_URL.sub("", _APPENDED.sub("", _LINK_END.sub("](URL)", text)))
    text = _MANY_LINES.sub("\n\n", _BLANKS.sub("\n", _FOOTER.sub("", text)))
    return _RULE_AT_END.sub("", text.strip()).strip()


def _names_out(text: str) -> str:
    text = _EMAIL.sub(" EMAIL ", _URL.sub(" URL ", text))
    text = _SHA.sub("SHA", _MENTION.sub("USER", text))
    return re.sub(r"[ \t]{2,}(?=\S)", " ", _VENDOR.sub("TOOL", text)).strip()
