"""What the names of a Python file stand for: its imports, and aliases of `torch.ops`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node, Query, QueryCursor

from app.kernels.affected.grammars import PYTHON

_IMPORTS = Query(PYTHON, "(import_statement) @i (import_from_statement) @f")
_INDENTED = re.compile(rb"\n[ \t]++(?:import|from)\b")
_BEHIND = (b": import ", b"; import ", b";import ", b": from ", b"; from ", b";from ")
_ALIAS = re.compile(
    rb"^[ \t]*(\w+)[ \t]*=[ \t]*(torch\.ops(?:\.\w+)?)[ \t]*(?:\#.*)?\r?$", re.MULTILINE
)

_STARS = 8  # modules of `from … import *` that are remembered


@dataclass(slots=True)
class Bindings:
    """`names`: local name → dotted origin. `stars`: modules all of whose names were taken.

    `matter` are the names that can lead to an operator; set by the reader of the file.
    """

    names: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    matter: frozenset[bytes] = frozenset()


def bindings(root: Node, source: bytes) -> Bindings:
    """All imports of a file, wherever they stand; the last one of a name wins."""
    found = Bindings()
    plain, of_modules = _statements(root, source)
    for node in plain:
        for name, alias in _parts(node, source):
            if alias:
                found.names[alias] = name
            else:
                first = name.partition(".")[0]
                found.names[first] = first
    for node in of_modules:
        module = node.child_by_field_name("module_name")
        if module is None:
            continue
        base = _dotted(source, module)
        if any(child.type == "wildcard_import" for child in node.named_children):
            found.stars = [*found.stars[: _STARS - 1], base]
        joint = base if base.endswith(".") else f"{base}."
        for name, alias in _parts(node, source):
            found.names[alias or name] = joint + name
    if b"torch.ops" in source:
        for match in _ALIAS.finditer(source):
            found.names[match[1].decode()] = match[2].decode()
    return found


def _statements(root: Node, source: bytes) -> tuple[list[Node], list[Node]]:
    """`import …` and `from … import …`; the tree is searched only where some are indented."""
    if _INDENTED.search(source) or any(words in source for words in _BEHIND):
        captured = QueryCursor(_IMPORTS).captures(root)
        return captured.get("i", []), captured.get("f", [])
    children = root.named_children
    return (
        [node for node in children if node.type == "import_statement"],
        [node for node in children if node.type == "import_from_statement"],
    )


def _parts(node: Node, source: bytes) -> Iterator[tuple[str, str]]:
    """(name, alias) of each imported thing; the alias may be empty."""
    for part in node.children_by_field_name("name"):
        if part.type == "aliased_import":
            name, alias = part.child_by_field_name("name"), part.child_by_field_name("alias")
            if name is not None and alias is not None:
                yield _dotted(source, name), _dotted(source, alias)
        else:
            yield _dotted(source, part), ""


def _dotted(source: bytes, node: Node) -> str:
    return "".join(source[node.start_byte : node.end_byte].decode(errors="replace").split())
