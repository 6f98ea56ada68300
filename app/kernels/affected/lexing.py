"""Names in a piece of source, without its comments and strings; and digests that ignore comments.

tree-sitter says where definitions begin and end. For the names within, regular expressions are ten
times faster than asking the tree for each identifier. Every branch consumes what it has looked at,
so that the time is linear in the text whatever stands in it.
"""

import hashlib
import re

# Comments, and strings so that none is looked for within them.
_CPP = rb"""
    (?P<comment> //(?:[^\n\\]++|\\.)*+ | /\*.*?(?:\*/|\Z) )
  | R"(?P<mark>[^\s()\\"]{0,16}+)\(.*?(?:\)(?P=mark)"|\Z)
  | "(?:[^"\\\n]++|\\.)*+"?
  | (?<!\w)'(?:[^'\\\n]++|\\.)*+'?
"""
_PYTHON = rb"""
    (?P<comment> \#[^\n]*+ )
  | "(?: ""(?:[^"\\]++|\\.|"(?!""))*+(?:\"{3}|\Z)? | (?:[^"\\\n]++|\\.)*+"? )
  | '(?: ''(?:[^'\\]++|\\.|'(?!''))*+(?:'{3}|\Z)? | (?:[^'\\\n]++|\\.)*+'? )
"""
_MODE = re.VERBOSE | re.DOTALL
_CPP_NOISE = re.compile(_CPP, _MODE)
_PYTHON_NOISE = re.compile(_PYTHON, _MODE)
_CPP_NAME = re.compile(rb"\b[A-Za-z_]\w*+")
_PYTHON_NAME = re.compile(
    rb"(?<![\w.])([A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)*+) |" + _PYTHON.replace(b"?P<comment>", b"?:"),
    _MODE,
)
_OPERATOR_IN_STRING = re.compile(rb"""["']([A-Za-z_]\w*+)::([A-Za-z_]\w*+)["']""")
_BLANK = re.compile(rb"(?<![ \t])[ \t]*+\n(?:[ \t]*+\n)*+")


def cpp_names(text: bytes) -> set[bytes]:
    """Identifiers of a piece of C++, keywords too."""
    return set(_CPP_NAME.findall(_CPP_NOISE.sub(b" ", text)))


def python_names(text: bytes) -> set[bytes]:
    """Dotted names of a piece of Python, keywords too; `"ns::op"` reads as `torch.ops.ns.op`."""
    found = set(_PYTHON_NAME.findall(text))
    found.discard(b"")  # a comment or string
    if b"::" in text:
        found.update(b"torch.ops." + b".".join(m) for m in _OPERATOR_IN_STRING.findall(text))
    return found


def cpp_digest(*texts: bytes) -> str:
    """The same for the same code, whatever its comments, spaces and line breaks are."""
    plain = (b" ".join(_CPP_NOISE.sub(_without_comment, text).split()) for text in texts)
    return digest(b"\0".join(plain))


def python_digest(*texts: bytes) -> str:
    """The same for the same code, whatever its comments and empty lines are; indents count."""
    plain = (_BLANK.sub(b"\n", _PYTHON_NOISE.sub(_without_comment, text)).strip() for text in texts)
    return digest(b"\0".join(plain))


def outside(source: bytes, holes: list[tuple[int, int]]) -> bytes:
    """What is left of a text without the given spans (start, end), which may overlap.

    A line break stands for each span, so that one more of them is no other rest.
    """
    left, at = [], 0
    for start, end in sorted(holes):
        if start > at:
            left.append(source[at:start])
        at = max(at, end)
    return b"\n".join((*left, source[at:]))


def _without_comment(match: re.Match[bytes]) -> bytes:
    return b" " if match.lastgroup == "comment" else match[0]


def digest(plain: bytes) -> str:
    return hashlib.blake2b(plain, digest_size=9).hexdigest()
