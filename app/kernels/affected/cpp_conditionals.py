"""C++ files whose braces only match after the preprocessor chose its branches.

A grammar reads all branches of an `#if` at once; where one opens a brace that the other opens too,
the rest of the file falls apart. So such a file is read twice: with the first branch of each
conditional alone, and with the last one. What is left out becomes blanks: positions stay.
"""

import re

_DIRECTIVE = re.compile(
    rb"^[ \t]*+\#[ \t]*+(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b(?:[^\n\\]|\\.)*+",
    re.MULTILINE | re.DOTALL,
)
_VISIBLE = re.compile(rb"[^\n]")


def variants(source: bytes) -> list[bytes]:
    """The text with the first branches, and that with the last ones if it is another."""
    directives = [(m.start(), m.end(), m[1]) for m in _DIRECTIVE.finditer(source)]
    if not directives:
        return [source]
    last = _last_branches(directives)
    texts = [_keep(source, directives, [word not in _OTHERS for _, _, word in directives])]
    texts.append(_keep(source, directives, last))
    return list(dict.fromkeys(texts))


_OPENS = {b"if", b"ifdef", b"ifndef"}
_OTHERS = {b"elif", b"elifdef", b"elifndef", b"else"}


def _last_branches(directives: list[tuple[int, int, bytes]]) -> list[bool]:
    """For each directive, whether the branch behind it is the last of its conditional."""
    last = [True] * len(directives)
    open_: list[int] = []
    for at, (_, _, word) in enumerate(directives):
        if word in _OPENS:
            open_.append(at)
        elif word in _OTHERS and open_:
            last[open_[-1]] = False
            open_[-1] = at
        elif open_:
            open_.pop()
    return last


def _keep(source: bytes, directives: list[tuple[int, int, bytes]], kept: list[bool]) -> bytes:
    parts = []
    active: list[bool] = []
    at = 0
    for (start, end, word), keep in zip(directives, kept, strict=True):
        parts.append(source[at:start] if all(active[-1:]) else _blank(source[at:start]))
        parts.append(_blank(source[start:end]))
        at = end
        if word in _OPENS:
            active.append(keep and all(active[-1:]))
        elif word in _OTHERS and active:
            active[-1] = keep and all(active[-2:-1])
        elif active:
            active.pop()
    parts.append(source[at:] if all(active[-1:]) else _blank(source[at:]))
    return b"".join(parts)


def _blank(text: bytes) -> bytes:
    return _VISIBLE.sub(b" ", text)
