"""Whether an answer touches the question: names what the question named, or nearly.

Names of a change stay as they are in every language and in every translation, which is why they are
all that is looked for. It is evidence for a maintainer to read beside the latency: an answer that
touches nothing says nothing, for it may be a good one in other words.
"""

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Literal

Touch = Literal["touches", "unclear"]

_LONGEST = 20_000  # characters of an answer that are looked at
_QUOTE = re.compile(r"^\s*>.*$", re.MULTILINE)
_TOKEN = re.compile(r"[a-z0-9_]+")
_PARTS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}|\d+")
_THOUSANDS = re.compile(r"(?<=\d)[,_'\u2019\u202f\u00a0 ](?=\d{3}(?!\d))")
_NEAR = 0.84
_MOST_TOKENS = 600


def touch(answer: str, names: Sequence[str]) -> Touch:
    """Whether an answer names one of the names, a part that stands for it, or one misspelt.

    What is quoted of the question does not count.
    """
    plain = _QUOTE.sub("", answer[:_LONGEST])
    text = _THOUSANDS.sub("", unicodedata.normalize("NFKC", plain)).casefold()
    tokens = tuple(dict.fromkeys(_TOKEN.findall(text)))[:_MOST_TOKENS]
    return "touches" if any(_named(name, text, tokens) for name in names) else "unclear"


def _named(name: str, text: str, tokens: Sequence[str]) -> bool:
    whole = unicodedata.normalize("NFKC", name).casefold()
    if not whole:
        return False
    if re.fullmatch(r"-?[\d.]+(?:e-?\d+)?", whole):
        # A number within another one is not it; without spaces (Chinese) there are no words.
        return re.search(rf"(?<![\d.]){re.escape(whole)}(?!\.?\d)", text) is not None
    forms = {whole, PurePosixPath(whole).name, PurePosixPath(whole).stem}
    if any(len(form) >= 4 and form in text for form in forms):
        return True
    # `num_kv_heads` as "kv heads", `maxBatchSize` as "batch size": two of its words in a row.
    parts = [one.casefold() for one in _PARTS.findall(PurePosixPath(name).stem)]
    pairs = pairwise(parts)
    if any(re.search(rf"{a}[\s_-]?{b}", text) for a, b in pairs):
        return True
    stem = PurePosixPath(whole).stem
    return len(stem) >= 6 and any(_near(stem, token) for token in tokens)


def _near(one: str, other: str) -> bool:
    if abs(len(one) - len(other)) > 3 or len(one) > 60:
        return False
    match = SequenceMatcher(None, one, other, autojunk=False)
    return match.quick_ratio() >= _NEAR and match.ratio() >= _NEAR
