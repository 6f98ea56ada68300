"""Python: definitions, what they use of other files, kernels for compilers, registrations."""

import builtins
import keyword
import re
import sys
from collections.abc import Iterator

from tree_sitter import Node

from app.kernels.affected.facts import FileFacts, Flag, Kind, Registration, Symbol
from app.kernels.affected.lexing import outside, python_digest, python_names
from app.kernels.affected.python_imports import Bindings, bindings
from app.kernels.affected.registrations_python import (
    decorated,
    is_jit,
    library_namespace,
    registered,
)

_BLOCKS = {
    "module", "if_statement", "elif_clause", "else_clause", "try_statement", "except_clause",
    "finally_clause", "with_statement", "block", "ERROR",
}  # fmt: skip
_DEFINITIONS = {"function_definition", "class_definition", "decorated_definition"}
_IMPORTS = {"import_statement", "import_from_statement", "future_import_statement"}
_LONGEST = 300  # bytes of a dotted name
# Nothing in these leads to an operator of the tree.
_FOREIGN = frozenset(sys.stdlib_module_names) | {
    "torch", "numpy", "pytest", "transformers", "typing_extensions", "pydantic", "tqdm", "einops",
    "huggingface_hub", "fastapi", "requests", "PIL", "regex", "yaml", "msgspec", "aiohttp", "openai",
    "ray", "psutil", "zmq", "cv2", "pandas", "scipy", "datasets", "safetensors", "matplotlib",
}  # fmt: skip
_OF_TORCH = re.compile(r"torch\.ops\.(\w+)\.(\w+)")
_ASKED = re.compile(rb"""\b(?:getattr|hasattr)\(\s*torch\.ops\.(\w+)\s*,\s*["'](\w+)["']""")


def parse(root: Node, source: bytes, *, digests: bool = False) -> FileFacts:
    """The facts of one file. `source` is what `root` was parsed from."""
    known = bindings(root, source)
    chunks: dict[str, list[Node]] = {}
    kinds: dict[str, Kind] = {}
    lines: list[Registration] = []
    holes: list[tuple[int, int]] = []
    for node in _statements(root):
        if node.type in _IMPORTS:
            holes.append((node.start_byte, node.end_byte))
            continue
        made = registered(node, source, known)
        lines.extend(made)
        names = list(_named(node, source))
        for name, kind in names:
            chunks.setdefault(name, []).append(node)
            kinds[name] = Kind.JIT if is_jit(node, source, known) else kind
            lines.extend(decorated(node, name, source, known))
        if made or names:
            holes.append((node.start_byte, node.end_byte))
    local = frozenset(chunks)
    leading = (
        n for n, origin in known.names.items() if _may_lead_here(origin) or "torch" in origin
    )
    known.matter = frozenset(name.encode() for name in (*leading, *local, "torch"))
    return FileFacts(
        symbols=tuple(
            _symbol(name, kinds[name], nodes, source, known, local, digests=digests)
            for name, nodes in chunks.items()
        ),
        registrations=tuple(lines),
        bindings=tuple((n, o) for n, o in known.names.items() if _may_lead_here(o)),
        library=library_namespace(source),
        rest=python_digest(outside(source, holes)) if digests else "",
        flags=frozenset({Flag.ERRORS}) if root.has_error else frozenset(),
    )


def _statements(root: Node) -> Iterator[Node]:
    """Statements at the top level, also within `if`, `try` and `with`."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _BLOCKS:
            waiting.extend(reversed(node.named_children))
        else:
            yield node


def _named(node: Node, source: bytes) -> Iterator[tuple[str, Kind]]:
    inner: Node | None = node
    if node.type == "decorated_definition":
        inner = node.child_by_field_name("definition")
    if inner is None:
        return
    if inner.type in {"function_definition", "class_definition"}:
        name = inner.child_by_field_name("name")
        if name is not None:
            is_class = inner.type == "class_definition"
            yield _text(source, name), Kind.TYPE if is_class else Kind.FUNCTION
    elif inner.type == "expression_statement" and inner.named_children:
        assignment = inner.named_children[0]
        left = assignment.child_by_field_name("left") if assignment.type == "assignment" else None
        if left is not None and left.type == "identifier":
            yield _text(source, left), Kind.VALUE


def _symbol(  # noqa: PLR0913 - what a symbol is made of
    name: str,
    kind: Kind,
    nodes: list[Node],
    source: bytes,
    known: Bindings,
    local: frozenset[str],
    *,
    digests: bool,
) -> Symbol:
    texts = [source[n.start_byte : n.end_byte] for n in nodes]
    uses: set[str] = set()
    for text in texts:
        for dotted in python_names(text):
            first = dotted.partition(b".")[0]
            if len(dotted) <= _LONGEST and (first in known.matter or known.stars):
                uses.update(_use(dotted.decode(), known, local))
        if b"torch.ops" in text:
            uses.update(f"torch.ops.{m[1].decode()}.{m[2].decode()}" for m in _ASKED.finditer(text))
    uses.discard(name)
    plain = tuple(sorted(uses))
    # An import that now brings another thing changes whoever uses it.
    digest = python_digest(*texts, "\n".join(plain).encode()) if digests else ""
    return Symbol(name, kind, digest, plain)


def _use(dotted: str, known: Bindings, local: frozenset[str]) -> Iterator[str]:
    """What a name in the code stands for, if that can matter."""
    first, dot, more = dotted.partition(".")
    origin = known.names.get(first)
    if first in local and not (origin and origin.startswith("torch.ops")):
        yield first
        return
    if origin is not None:
        dotted = f"{origin}{dot}{more}"
    elif known.stars and not more and first not in _BUILTIN:
        yield from (f"{module}.{first}" for module in known.stars)
        return
    elif first != "torch":
        return
    operator = _OF_TORCH.match(dotted)
    if operator:
        yield operator[0]
    elif _may_lead_here(dotted):
        yield dotted


def _may_lead_here(dotted: str) -> bool:
    first = dotted.partition(".")[0]
    return first not in _FOREIGN


def _text(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode(errors="replace")


_BUILTIN = frozenset((*dir(builtins), *keyword.kwlist, "self", "cls"))
