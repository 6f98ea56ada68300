"""The probe: what could usefully be asked about a very change.

It names a path, a symbol or a value of the diff. It is no trick and has no right answer: whoever
stands behind the change knows, in any language, what it was run with and why it is there. All text
of the diff is hostile: only what looks like a name, a number or a short condition is ever shown.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from app.core.fact import Fact
from app.core.proofs.diff import MOST_LINES, Line, Patch, lines
from app.core.proofs.symbols import defined, parameters
from app.core.said import Said, say

Kind = Literal[
    "value", "condition", "caught", "empty", "dependency", "removed", "added", "file", "touched"
]
_PLAIN_PATH = re.compile(r"^[\w./+-]{1,100}$", re.ASCII)
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,9}(?:\.\d{1,6})?(?:e-?\d{1,3})?(?![\w.])", re.IGNORECASE)
_NAME_BEFORE = re.compile(
    r"([A-Za-z_]\w{2,40})\"?'?\s*(?::\s*[\w.\[\]| ]{1,30})?\s*(?:=|:|\()[^=]*$"
)
# A condition that can be shown: names, numbers and operators, no words of the author's own.
_IF = re.compile(
    r"^\s*(?:\}?\s*else\s+)?(?:if|elif|while)\b\s*(?:constexpr\s*)?(.{3,90}?)\s*[:{]?\s*$"
)
_PLAIN_CONDITION = re.compile(r"^[\w\s.\[\]()<>=!&|+\-*%,]{3,70}$", re.ASCII)
_COMPARES = re.compile(r"[<>]=?|==|!=|\bis\b|\bnot\b|\bin\b|!\w|&&|\|\|")
_EXCEPT = re.compile(r"^\s*(?:except\s+\(?|\}?\s*catch\s*\(\s*(?:const\s+)?)([A-Za-z_][\w.]{2,60})")
_ANY_ERROR = frozenset(
    {"error", "Exception", "BaseException", "ImportError", "ModuleNotFoundError"}
)
_MANY = re.compile(
    r"^(?:items|batch|batches|rows|values|tokens|tensors|inputs|prompts|requests|messages|files|"
    r"paths|names|keys|entries|records|lines|chunks|(?!num_|max_|min_|n_|total_|\w*_per_)\w*_(?:list|ids|batch|items|tokens))$"
)
_REQUIREMENTS = re.compile(
    r"(?:^|/)(?:requirements[^/]*\.(?:txt|in)|package\.json|pyproject\.toml|Cargo\.toml|go\.mod)$"
)
_NEEDED = re.compile(
    r"^\s*\"?([A-Za-z@][\w./@-]{1,60}?)\"?\s*(?:\[[\w,]+\]\"?\s*)?(?:[=~<>^!]=?|:|\s+v\d)\s*\S"
)
_NO_NAMES = frozenset({
    "version", "name", "description", "requires-python", "python", "license", "type", "main",
    "private", "scripts", "edition", "authors", "homepage", "repository", "readme", "module", "go",
    "dependencies", "devDependencies", "engines", "node", "line-length",
})  # fmt: skip
# What changes with every release or every year says nothing about the change.
_DULL = re.compile(
    r"version|copyright|license|\bdate\b|sha|hash|digest|https?:|\bport\b", re.IGNORECASE
)


class Probe(Fact):
    """A question. `names` are what of the diff it names: an answer that names one touches it."""

    kind: Kind
    sentence: Said
    names: tuple[str, ...]


def candidates(patches: Sequence[Patch]) -> Iterator[Probe]:
    """All that could be asked of a change, in the order of its files."""
    left = MOST_LINES
    asked = [p for p in patches if _PLAIN_PATH.match(p.path) and not p.is_made]
    for patch in asked:
        found = list(lines(patch, left))
        left -= len(found)
        if patch.is_test:
            continue
        for kind in _FROM_LINES:
            yield from kind(patch, found)
        if left <= 0:
            break
    yield from _far_file(asked)


def _value(patch: Patch, found: Sequence[Line]) -> Iterator[Probe]:
    """One number in place of another on a line that else stayed as it was."""
    if not (patch.is_code or patch.is_settings):
        return
    for old, new in pairwise(found):
        if (old.sign, new.sign) != ("-", "+") or _DULL.search(new.text) or _is_comment(new.text):
            continue
        before, after = _NUMBER.findall(old.text), _NUMBER.findall(new.text)
        same = _NUMBER.sub("0", old.text) == _NUMBER.sub("0", new.text)
        turned = [(a, b) for a, b in zip(before, after, strict=False) if a != b]
        if not same or len(before) != len(after) or len(turned) != 1:
            continue
        was, now = turned[0]
        at = next(
            m.start() for m, b in zip(_NUMBER.finditer(new.text), before, strict=True) if m[0] != b
        )
        named = _NAME_BEFORE.search(new.text[:at])
        if named is None:
            continue
        yield Probe(
            kind="value",
            sentence=say(
                "In **{path}**, **{name}** goes from {old} to {new}. How did you come to {new}, and what "
                "changes when you run it?",
                path=patch.path,
                name=named[1],
                old=was,
                new=now,
            ),
            names=(now, named[1], patch.path, was),
        )


def _condition(patch: Patch, found: Sequence[Line]) -> Iterator[Probe]:
    if not patch.is_code or patch.status == "added":
        return
    old = {line.text.strip() for line in found if line.sign != "+"}
    for line in found:
        met = _IF.match(line.text) if line.sign == "+" else None
        condition = met[1].strip() if met else ""
        while condition.startswith("(") and condition.endswith(")") and "(" not in condition[1:]:
            condition = condition[1:-1].strip()
        plain = _PLAIN_CONDITION.match(condition) and _COMPARES.search(condition)
        balanced = condition.count("(") == condition.count(")")
        if not plain or not balanced or line.text.strip() in old or "__name__" in condition:
            continue
        if condition.endswith((" and", " or", "&&", "||")) or "TYPE_CHECKING" in condition:
            continue
        yield Probe(
            kind="condition",
            sentence=say(
                "There is a new condition in **{path}**: {condition}. With which input did you see it "
                "hold?",
                path=patch.path,
                condition=condition,
            ),
            names=(condition, *_words(condition), patch.path),
        )


def _caught(patch: Patch, found: Sequence[Line]) -> Iterator[Probe]:
    old = {m[1] for line in found if line.sign != "+" if (m := _EXCEPT.match(line.text))}
    for line in found:
        met = _EXCEPT.match(line.text) if line.sign == "+" and patch.is_code else None
        if met is None or met[1] in old or len(met[1]) < 4 or met[1] in _ANY_ERROR:
            continue
        yield Probe(
            kind="caught",
            sentence=say(
                "**{path}** handles **{error}** now. When did you see it raised?",
                path=patch.path,
                error=met[1],
            ),
            names=(met[1], patch.path),
        )


def _functions(patch: Patch, found: Sequence[Line]) -> Iterator[Probe]:
    """Functions that came, went, or take many things."""
    if not patch.is_code:
        return
    came = {n: line for line in found if line.sign == "+" if (n := defined(line.text, patch.name))}
    went = {n for line in found if line.sign == "-" if (n := defined(line.text, patch.name))}
    text = "\n".join(line.text for line in found if line.sign == "+")
    for name, line in came.items():
        if name in went or name.startswith(("__", "test")):
            continue
        many = next((p for p in parameters(line.text) if _MANY.match(p)), None)
        guarded = many and re.search(rf"(?:not|!|len\(|is_empty|size\(\))\s*\(?{many}", text)
        if many and not guarded:
            yield Probe(
                kind="empty",
                sentence=say(
                    "What does **{name}** in **{path}** do when {many} is empty?",
                    name=name,
                    path=patch.path,
                    many=many,
                ),
                names=(name, many, patch.path),
            )
        yield Probe(
            kind="added",
            sentence=say(
                "**{name}** in **{path}** is new. Which input did you run it with, and what came out?",
                name=name,
                path=patch.path,
            ),
            names=(name, patch.path),
        )
    for name in went - set(came):
        if patch.status == "modified" and not name.startswith("_"):
            yield Probe(
                kind="removed",
                sentence=say(
                    "**{name}** is gone from **{path}**. What used it, and how did you find out that "
                    "nothing needs it any more?",
                    name=name,
                    path=patch.path,
                ),
                names=(name, patch.path),
            )


def _dependency(patch: Patch, found: Sequence[Line]) -> Iterator[Probe]:
    if not _REQUIREMENTS.search(patch.path) or patch.status == "added":
        return
    old = {m[1] for line in found if line.sign != "+" if (m := _NEEDED.match(line.text))}
    for line in found:
        met = _NEEDED.match(line.text) if line.sign == "+" else None
        if met is None or met[1] in old or met[1].casefold() in _NO_NAMES:
            continue
        # A setting of a tool looks like a dependency there; a dependency stands in quotes.
        setting = patch.name == "pyproject.toml" and not line.text.lstrip().startswith('"')
        if setting or not re.search(r"\d", line.text):
            continue
        yield Probe(
            kind="dependency",
            sentence=say(
                "**{path}** asks for **{name}** now. What is it needed for, and did you try it without?",
                path=patch.path,
                name=met[1],
            ),
            names=(met[1], patch.path),
        )


def _touched(patch: Patch, found: Sequence[Line]) -> Iterator[Probe]:
    """An existing function whose lines changed, where GitHub's heading names it."""
    if not patch.is_code or patch.status != "modified":
        return
    for line in found:
        if line.sign == " " or not line.text.strip() or _is_comment(line.text):
            continue
        name = defined(line.heading, patch.name)
        if name is None or name.startswith("__"):
            continue
        yield Probe(
            kind="touched",
            sentence=say(
                "The change in **{path}** touches **{name}**. Which input did you run it with, before and "
                "after?",
                path=patch.path,
                name=name,
            ),
            names=(name, patch.path),
        )


def _far_file(patches: Sequence[Patch]) -> Iterator[Probe]:
    """One file of code far from all the others."""
    code = [p for p in patches if p.is_code and not p.is_test and p.folder]
    folders = [p.folder for p in code]
    for patch in code:
        home = max(folders, key=folders.count)
        alone = folders.count(patch.folder) == 1 and folders.count(home) >= max(3, len(code) - 1)
        if alone and patch.status == "modified":
            yield Probe(
                kind="file",
                sentence=say(
                    "Most of this change is in **{home}**. Why does it need **{path}** too?",
                    home=home,
                    path=patch.path,
                ),
                names=(patch.path, home),
            )


_FROM_LINES: tuple[Callable[[Patch, Sequence[Line]], Iterator[Probe]], ...] = (
    _value,
    _condition,
    _caught,
    _functions,
    _dependency,
    _touched,
)


def _is_comment(text: str) -> bool:
    return text.lstrip().startswith(("#", "//", "*", "/*", "--", '"""', "'''"))


def _words(condition: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(re.findall(r"[A-Za-z_]\w{3,40}", condition)))[:5]
