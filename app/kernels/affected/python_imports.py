"""What the names of a Python file stand for: its imports, and aliases of `torch.ops`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

_KINDS = {"import_statement", "import_from_statement"}
_WITHIN = re.compile(rb"(?:\n[ \t]++|[:;][ \t]?)(?:import|from)\b")
_NEAR = 2000  # bytes of one import statement
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
    for node in _statements(root, source):
        _enter(node, source, found)
    if b"torch.ops" in source:
        for match in _ALIAS.finditer(source):
            found.names[match[1].decode()] = match[2].decode()
    return found


def _enter(node: Node, source: bytes, found: Bindings) -> None:
    if node.type == "import_statement":
        for name, alias in _parts(node, source):
            if alias:
                found.names[alias] = name
            else:
                first = name.partition(".")[0]
                found.names[first] = first
        return
    module = node.child_by_field_name("module_name")
    if module is None:
        return
    base = _dotted(source, module)
    if any(child.type == "wildcard_import" for child in node.named_children):
        found.stars = [*found.stars[: _STARS - 1], base]
    joint = base if base.endswith(".") else f"{base}."
    for name, alias in _parts(node, source):
        found.names[alias or name] = joint + name


def _statements(root: Node, source: bytes) -> Iterator[Node]:
    """`import …` and `from … import …`: those at the top, and those that a search finds within."""
    yield from (node for node in root.named_children if node.type in _KINDS)
    seen = set()
    for match in _WITHIN.finditer(source):
        node = root.descendant_for_byte_range(match.end() - 1, match.end())
        while node is not None and node.type not in _KINDS and node.end_byte < match.end() + _NEAR:
            node = node.parent
        if node is not None and node.type in _KINDS and node.id not in seen:
            seen.add(node.id)
            yield node


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
