"""The shape of a pull request's text in numbers: structure, not style.

`STYLE` counts what maintainers report as unfair (emoji, spelling, grammar, vocabulary). It is measured
so that the cost of leaving it out can be said, and no model that ships reads it.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

from app.core.plain import Plain

SHAPE_VERSION = 1

_HEADING = re.compile(r"^(#{1,6}) +(.*)$")
_BULLET = re.compile(r"^( *)(?:[-*+]|\d{1,3}[.)]) +(.*)$")
_BOX = re.compile(r"^ *[-*+] +\[([ xX])\]")
_BOLD_LEAD = re.compile(r"^\*\*[^*\n]{1,80}\*\*:?")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_CODE = re.compile(r"`[^`\n]{1,200}`")
_PATH = re.compile(
    r"`[^`\n]{0,120}(?:/|\.(?:py|js|ts|tsx|go|rs|java|md|json|yml|yaml|c|cpp|h|rb|cs))`"
)
_CALL = re.compile(r"`[^`\n]{0,120}\(\)?[^`\n]{0,60}`")
_CLOSES = re.compile(
    r"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?):? +(?:[\w./-]{0,80})?#\d", re.IGNORECASE
)
_CONVENTIONAL = re.compile(r"^(\w{2,12})(\([^)\n]{1,40}\))?!?: ")
_FIRST = re.compile(r"\b(?:I|we|my|our|me|us|I'm|I've|we're|we've|let's)\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:maybe|probably|perhaps|guess|seems?|think|hopefully|not sure|tbh)\b", re.IGNORECASE
)
_EMOJI = re.compile("[\u2190-\u21ff\u2300-\u2bff\U0001f000-\U0001faff]")
_PARENTHESES = re.compile(r"\([^()\n]{1,200}\)")
_TAG = re.compile(r"</?[a-z][a-z0-9]{0,12}\b", re.IGNORECASE)
_FAILED = re.compile(r"\((?:fails?|failed|passes|passed)\b|\*\((?:fails?|failed)")

_SECTIONS = (
    "summary", "overview", "description", "changes", "change", "testing", "tests", "test plan", "test",
    "problem", "solution", "what", "why", "how", "motivation", "context", "background", "notes",
    "checklist", "type of change", "features", "benefits", "implementation", "files", "usage",
    "example", "before", "after", "result", "verification", "related", "impact", "key", "review",
    "human", "screenshots", "fix", "root cause", "technical", "details",
)  # fmt: skip
_OPENERS = (
    "this pr", "this pull request", "this change", "this commit", "fixes", "closes", "add", "the ",
    "i ", "we ", "when ", "currently", "see ", "part of", "related", "follow", "as ", "to ", "in ",
)  # fmt: skip
_MIDDLE = ("ensur", "compreh", "enhanc", "improv", "implement", "updated", "added", "removed")


def _scaled(count: float) -> float:
    return round(math.log1p(max(0.0, count)), 4)


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0


def shape(text: Plain) -> dict[str, float]:
    """All features by name: counts as ln(1 + n), shares in 0..1. Linear in the text, never raises."""
    lines = text.body.split("\n") if text.body else []
    found = _title(text.title)
    found |= _lines(lines)
    found |= _marks(text.body)
    found |= _sections(lines)
    found |= _words(text)
    return found


def _title(title: str) -> dict[str, float]:
    words = title.split()
    kind = _CONVENTIONAL.match(title)
    rest = title[kind.end() :] if kind else title
    return {
        "title_chars": _scaled(len(title)),
        "title_words": _scaled(len(words)),
        "title_conventional": float(kind is not None),
        "title_scope": float(bool(kind and kind[2])),
        "title_upper_first": float(rest[:1].isupper()),
        "title_capitals": _share(sum(w[:1].isupper() for w in words), len(words)),
        "title_code": float("`" in title),
        "title_bracket": float(title[:1] == "["),
        "title_wip": float(title[:5].lower() == "[wip]"),
        "title_number": float(any(c.isdigit() for c in title)),
        "title_issue": float(bool(re.search(r"#\d", title))),
        "title_colon": float(":" in rest),
        "title_and": float(" and " in title),
        "title_for": float(" for " in title),
        "title_to": float(" to " in title),
        "title_dots": float(title.endswith((".", "…"))),
        "title_slash": float("/" in title),
        "title_under": float("_" in title),
    }


def _lines(lines: Sequence[str]) -> dict[str, float]:
    full = [line for line in lines if line.strip()]
    bullets = [m for m in map(_BULLET.match, full) if m]
    boxes = [m for m in map(_BOX.match, full) if m]
    heads = [m for m in map(_HEADING.match, full) if m]
    prose = [x for x in full if not (_BULLET.match(x) or _HEADING.match(x) or x[:1] in ">|<`")]
    lengths = [min(len(line), 1000) for line in full]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    spread = math.sqrt(sum((n - mean) ** 2 for n in lengths) / len(lengths)) if lengths else 0.0
    texts = [m[2] for m in bullets]
    return {
        "line_count": _scaled(len(full)),
        "line_blank": _share(len(lines) - len(full), len(lines)),
        "line_mean": _scaled(mean),
        "line_spread": _scaled(spread),
        "line_longest": _scaled(max(lengths, default=0)),
        "line_prose": _scaled(len(prose)),
        "line_prose_share": _share(len(prose), len(full)),
        "line_first_heading": float(bool(full) and full[0].startswith("#")),
        "line_first_bullet": float(bool(full) and bool(_BULLET.match(full[0]))),
        "line_last_bullet": float(bool(full) and bool(_BULLET.match(full[-1]))),
        "line_single": float(len(full) == 1),
        "line_none": float(not full),
        "bullet_count": _scaled(len(bullets)),
        "bullet_share": _share(len(bullets), len(full)),
        "bullet_star": _share(sum(m[0].lstrip()[:1] == "*" for m in bullets), len(bullets)),
        "bullet_numbered": _share(sum(m[0].lstrip()[:1].isdigit() for m in bullets), len(bullets)),
        "bullet_nested": _share(sum(len(m[1]) > 0 for m in bullets), len(bullets)),
        "bullet_bold": _share(sum(bool(_BOLD_LEAD.match(t)) for t in texts), len(bullets)),
        "bullet_lower": _share(sum(t[:1].islower() for t in texts), len(bullets)),
        "bullet_code": _share(sum("`" in t for t in texts), len(bullets)),
        "bullet_dot": _share(sum(t.rstrip().endswith(".") for t in texts), len(bullets)),
        "bullet_ed": _share(sum(t.split(" ", 1)[0].endswith("ed") for t in texts), len(bullets)),
        "bullet_wide": _scaled(sum(map(len, texts)) / len(texts) if texts else 0.0),
        "box_ticked": _scaled(sum(m[1] in "xX" for m in boxes)),
        "box_open": _scaled(sum(m[1] == " " for m in boxes)),
        "head_count": _scaled(len(heads)),
        "head_share": _share(len(heads), len(full)),
        "head_one": _scaled(sum(len(m[1]) == 1 for m in heads)),
        "head_two": _scaled(sum(len(m[1]) == 2 for m in heads)),
        "head_three": _scaled(sum(len(m[1]) == 3 for m in heads)),
        "head_deep": _scaled(sum(len(m[1]) > 3 for m in heads)),
        "head_capitals": _share(sum(m[2].istitle() for m in heads), len(heads)),
        "head_colon": _share(sum(m[2].rstrip().endswith(":") for m in heads), len(heads)),
        "head_bold": _scaled(sum(bool(_BOLD_LEAD.match(x)) for x in full)),
    }


def _marks(body: str) -> dict[str, float]:
    size = len(body)
    code = len(_CODE.findall(body))
    return {
        "body_chars": _scaled(size),
        "mark_code": _scaled(code),
        "mark_code_rate": _share(100 * code, size),
        "mark_path": _scaled(len(_PATH.findall(body))),
        "mark_call": _scaled(len(_CALL.findall(body))),
        "mark_fence": _scaled(body.count("```")),
        "mark_bold": _scaled(body.count("**") / 2),
        "mark_table": _scaled(body.count("\n|")),
        "mark_image": _scaled(body.count("![") + body.lower().count("<img")),
        "mark_link": _scaled(body.count("](")),
        "mark_url": _scaled(body.count("URL")),
        "mark_user": _scaled(body.count("USER")),
        "mark_tool": float("TOOL" in body),
        "mark_issue": _scaled(len(re.findall(r"(?<!\w)#\d", body))),
        "mark_closes": float(bool(_CLOSES.search(body))),
        "mark_quote": _scaled(body.count("\n>")),
        "mark_tag": _scaled(len(_TAG.findall(body))),
        "mark_details": float("<details" in body.lower()),
        "mark_rule": _scaled(body.count("\n---")),
        "mark_colon": _share(100 * body.count(":"), size),
        "mark_comma": _share(100 * body.count(","), size),
        "mark_quote_sign": _share(100 * body.count('"'), size),
        "mark_paren": _share(100 * len(_PARENTHESES.findall(body)), size),
        "mark_question": _scaled(body.count("? ") + body.count("?\n")),
        "mark_arrow": _scaled(body.count("->") + body.count("=>") + body.count("→")),
        "mark_dash": _scaled(body.count(" - ")),
        "mark_failed": _scaled(len(_FAILED.findall(body))),
        "mark_number": _share(100 * len(re.findall(r"\b\d+\b", body)), size),
        "mark_ellipsis": _scaled(body.count("...")),
    }


def _sections(lines: Sequence[str]) -> dict[str, float]:
    heads = [m[2].strip().lower() for m in map(_HEADING.match, lines) if m]
    bold = [x.strip("* :").lower() for x in lines if _BOLD_LEAD.match(x) and len(x) < 60]
    found: dict[str, float] = {}
    for name in _SECTIONS:
        starts = any(h.lstrip("*_ ").startswith(name) for h in (*heads, *bold))
        found[f"section_{name.replace(' ', '_')}"] = float(starts)
    first = next((x.strip().lower() for x in lines if x.strip() and not x.startswith("#")), "")
    for opener in _OPENERS:
        found[f"opens_{opener.strip().replace(' ', '_')}"] = float(first.startswith(opener))
    return found


def _words(text: Plain) -> dict[str, float]:
    words = [w.lower() for w in _WORD.findall(text.body[:8000])]
    count = len(words)
    title = {w.lower() for w in _WORD.findall(text.title)}
    ends = len(_SENTENCE_END.findall(text.body))
    often = Counter(words)

    def which(test: Callable[[str], bool]) -> int:
        return sum(n for word, n in often.items() if test(word))

    found = {
        "words_count": _scaled(count),
        "words_long": _share(which(lambda w: len(w) > 9), count),
        "words_mean": min(40.0, _share(sum(map(len, words)), count)),
        "words_first_person": _share(100 * len(_FIRST.findall(text.body)), count),
        "words_ing": _share(which(lambda w: w.endswith("ing")), count),
        "words_ed": _share(which(lambda w: w.endswith("ed")), count),
        "words_per_sentence": _scaled(_share(count, ends)),
        "words_title_seen": _share(len(title & set(words)), len(title)),
    }
    stems = dict.fromkeys(_MIDDLE, 0)
    for word, n in often.items():
        for stem in _MIDDLE:
            if word.startswith(stem):
                stems[stem] += n
    for stem, n in stems.items():
        found[f"stem_{stem}"] = _share(100 * n, count)
    return found


STYLE = (
    "style_emoji", "style_contractions", "style_hedges", "style_variety", "style_lower_start",
    "style_other_script", "style_exclaims", "style_double_space", "style_capitals",
)  # fmt: skip


def style(text: Plain) -> dict[str, float]:
    """What is left out of every model that ships. Measured for the ablation alone."""
    both = f"{text.title}\n{text.body[:8000]}"
    words = _WORD.findall(both)
    letters = sum(c.isalpha() for c in both)
    starts = [s[:1] for s in re.split(r"(?:[.!?]\s+|\n+)", both) if s[:1].isalpha()]
    values = (
        _scaled(len(_EMOJI.findall(both))),
        _share(100 * sum("'" in w for w in words), len(words)),
        _share(100 * len(_HEDGE.findall(both)), len(words)),
        _share(len({w.lower() for w in words[:200]}), min(200, len(words))),
        _share(sum(c.islower() for c in starts), len(starts)),
        _share(sum(c.isalpha() and not c.isascii() for c in both), letters),
        _scaled(both.count("!")),
        _scaled(len(re.findall(r"\S {2,}\S", both))),
        _share(sum(w.isupper() and len(w) > 1 for w in words), len(words)),
    )
    return dict(zip(STYLE, values, strict=True))
