"""Names of functions in one line of code, in the languages that are common on GitHub."""

import re

_SCRIPT = {
    "py": r"^\s*(?:async\s+)?def\s+(\w+)\s*\(",
    "pyx": r"^\s*(?:async\s+)?(?:def|cpdef|cdef\s+\w+)\s+(\w+)\s*\(",
    "rb": r"^\s*def\s+(?:self\.)?(\w+)",
    "go": r"^func\s+(?:\([^)]{1,80}\)\s*)?(\w+)\s*[\[(]",
    "rs": r"^\s*(?:pub(?:\([a-z]+\))?\s+)?(?:async\s+|const\s+|unsafe\s+)*fn\s+(\w+)\s*[<(]",
    "js": r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(\w+)\s*[<(]"
    r"|^\s*(?:export\s+)?const\s+(\w+)\s*=\s*(?:async\s*)?(?:\([^()]{0,120}\)|\w+)\s*(?::[^=]{1,60})?=>",
    "php": r"^\s*(?:(?:public|private|protected|static)\s+)*function\s+(\w+)\s*\(",
    "kt": r"^\s*(?:\w+\s+){0,3}fun\s+(?:<[^>]{1,40}>\s*)?(?:\w+\.)?(\w+)\s*\(",
    "swift": r"^\s*(?:\w+\s+){0,3}func\s+(\w+)\s*[<(]",
    "java": r"^\s*(?:(?:public|private|protected|static|final|abstract|override|async)\s+){1,4}"
    r"[\w<>\[\], ?.]{1,60}\s(\w+)\s*\([^;]{0,150}$",
    # At the margin alone: within a body the same words are a call or a declaration of a variable.
    "c": r"^(?:[A-Za-z_][\w:<>,]{0,60}[\s*&]{1,9}){1,6}(?:\w+::)?([A-Za-z_]\w+)\s*\([^;=]{0,150}$",
}
_SAME = {
    "pyi": "py",
    "jsx": "js",
    "mjs": "js",
    "ts": "js",
    "tsx": "js",
    "cs": "java",
    "scala": "kt",
}
_C = frozenset(["c", "h", "cc", "cpp", "cxx", "hpp", "cu", "cuh", "hip", "metal", "cl", "m", "mm"])
_DEFINED = {ending: re.compile(pattern) for ending, pattern in _SCRIPT.items()}
_NO_NAMES = frozenset(
    [
        "if",
        "for",
        "while",
        "switch",
        "return",
        "sizeof",
        "else",
        "case",
        "do",
        "new",
        "delete",
        "throw",
        "catch",
        "defined",
        "main",
        "init",
        "run",
        "setup",
        "get",
        "set",
        "call",
        "apply",
        "constructor",
        "render",
        "test",
        "forward",
    ]
)
_PARAMETERS = re.compile(r"\(([^()]{1,200})")
_NAME = re.compile(r"[A-Za-z_]\w{1,40}")


def defined(line: str, file_name: str) -> str | None:
    """The function that a line defines; None where it defines none that says anything."""
    ending = file_name.rpartition(".")[2].lower()
    pattern = _DEFINED.get("c" if ending in _C else _SAME.get(ending, ending))
    found = pattern.match(line[:300]) if pattern else None
    name = next((g for g in found.groups() if g), None) if found else None
    if name is None or len(name.strip("_")) < 4 or name in _NO_NAMES or not name.isascii():
        return None
    return name[:60]


def parameters(line: str) -> tuple[str, ...]:
    """The names of the parameters on the line that defines a function, types left out."""
    found = _PARAMETERS.search(line[:300])
    if found is None:
        return ()
    names = []
    for one in found[1].split(","):
        # `name: type = default` in most, `type name` in C, Java and Go's reverse.
        words = _NAME.findall(one.partition("=")[0].replace("::", " ").partition(":")[0])
        names += words[:1] if ":" in one.replace("::", " ") else words
    return tuple(names)
