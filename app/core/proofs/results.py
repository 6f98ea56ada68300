"""`Authentication-Results` (RFC 8601): what a mail server says that it found out about a mail."""

import re
from collections.abc import Mapping

from app.core.fact import Fact

MOST_CHARACTERS = 10_000
MOST_METHODS = 30
_TOKEN = re.compile(
    r'"((?:[^"\\]|\\.)*)"|([;=])|([^\s;="()]+)|\s+', re.DOTALL
)  # quoted, sign, word, space
_NESTED = 20


class Method(Fact):
    """One finding, such as dkim=pass. `properties` by their names, such as `header.d`, lower case."""

    name: str
    result: str
    properties: Mapping[str, str]


class Results(Fact):
    """One header. `by` is the name of the server that speaks, lower case."""

    by: str
    methods: tuple[Method, ...]


def parse(value: str) -> Results | None:
    """The header's value; None for what does not follow the grammar, so that nothing is guessed."""
    if len(value) > MOST_CHARACTERS:
        return None
    bare = _without_comments(value)
    parts = _split(bare) if bare is not None else []
    if not parts or not parts[0]:
        return None
    head, *rest = parts
    if head[0].startswith("i="):  # ARC puts its instance before the name
        if not rest:
            return None
        head, *rest = rest
    methods = [_method(words) for words in rest[:MOST_METHODS] if words and words != ["none"]]
    if not head or any(one is None for one in methods):
        return None
    return Results(by=head[0].lower(), methods=tuple(m for m in methods if m is not None))


def _without_comments(value: str) -> str | None:
    """The value without what stands in (nested) brackets outside of quotes; None where one is open."""
    kept, depth, quoted, skip = [], 0, False, False
    for c in value:
        if skip:
            skip = False
        elif c == "\\":
            skip = True
        elif c == '"' and not depth:
            quoted = not quoted
        elif c == "(" and not quoted:
            depth += 1
            if depth > _NESTED:
                return None
            continue
        elif c == ")" and not quoted:
            depth -= 1
            if depth < 0:
                return None
            kept.append(" ")
            continue
        if not depth:
            kept.append(c)
    return None if depth or quoted else "".join(kept)


def _split(bare: str) -> list[list[str]]:
    """The words of each part between semicolons; `a = b` is one word `a=b`. [] where it is unclear."""
    parts: list[list[str]] = [[]]
    at, glue = 0, False
    while at < len(bare):
        words, found = parts[-1], _TOKEN.match(bare, at)
        if found is None:
            return []
        at = found.end()
        quoted, sign, word = found.groups()
        text = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else word
        if sign == ";":
            parts.append([])
            glue = False
        elif sign == "=":
            if not words:
                return []
            glue = "=" not in words[-1]  # a second one is the end of a value in base64
            words[-1] += "="
        elif text is not None:
            if glue:
                words[-1] += text
            else:
                words.append(text)
            glue = False
    return parts


def _method(words: list[str]) -> Method | None:
    name, equals, result = words[0].partition("=")
    properties: dict[str, str] = {}
    for word in words[1:]:
        key, sign, value = word.partition("=")
        # The first one counts: a server that says two things of one kind says nothing new by the second.
        if sign:
            properties.setdefault(key.lower(), value)
    if not equals or not name or not result:
        return None
    plain = name.lower().partition("/")[0]  # a version of the method may follow
    return Method(name=plain, result=result.lower(), properties=properties)
