"""What the names of a Python file stand for: its imports, and aliases of `torch.ops`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node, Query, QueryCursor

from app.kernels.affected.grammars import PYTHON

_IMPORTS = Query(PYTHON, "(import_statement) @i (import_from_statement) @f")
_ALIAS = re.compile(
    rb"^[ \t]*(\w+)[ \t]*=[ \t]*(torch\.ops(?:\.\w+)?)[ \t]*(?:\#.*)?\r?$", re.MULTILINE
)


@dataclass(slots=True)
class Bindings:
    """`names`: local name → dotted origin. `stars`: modules all of whose names were taken."""

    names: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)


def bindings(root: Node, source: bytes) -> Bindings:
    """All imports of a file, wherever they stand; the last one of a name wins."""
    found = Bindings()
    captured = QueryCursor(_IMPORTS).captures(root)
    for node in captured.get("i", ()):
        for name, alias in _parts(node, source):
            if alias:
                found.names[alias] = name
            else:
                first = name.partition(".")[0]
                found.names[first] = first
    for node in captured.get("f", ()):
        module = node.child_by_field_name("module_name")
        if module is None:
            continue
        base = _dotted(source, module)
        if any(child.type == "wildcard_import" for child in node.named_children):
            found.stars.append(base)
        joint = base if base.endswith(".") else f"{base}."
        for name, alias in _parts(node, source):
            found.names[alias or name] = joint + name
    if b"torch.ops" in source:
        for match in _ALIAS.finditer(source):
            found.names[match[1].decode()] = match[2].decode()
    return found


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
