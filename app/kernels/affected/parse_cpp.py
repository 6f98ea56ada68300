"""C, C++, CUDA and HIP: definitions, operator registrations, includes.

The CUDA grammar is a superset of the C++ one and reads `__global__` and `<<<…>>>`. It knows no
macros, so about four in ten kernel files hold errors; what it does not understand falls to the
file's rest, whose change counts for the whole file.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from app.kernels.affected.facts import FileFacts, Flag, Kind, Symbol
from app.kernels.affected.lexing import cpp_digest, cpp_names, outside
from app.kernels.affected.registrations_cpp import MACRO, registrations

# What only wraps definitions: walked into, its own text goes to the rest.
_WRAPPERS = {
    "translation_unit", "namespace_definition", "linkage_specification", "declaration_list",
    "template_declaration", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif",
    "preproc_elifdef", "ERROR",
}  # fmt: skip
_TYPES = {"struct_specifier", "class_specifier", "union_specifier", "enum_specifier"}
_ALIASES = {"alias_declaration", "type_definition", "concept_definition"}
_MACROS = {"preproc_def", "preproc_function_def"}
_NAMES = {"identifier", "field_identifier", "type_identifier", "qualified_identifier"}
_LAST = re.compile(rb"([A-Za-z_]\w*)\s*$")
_LONGEST = 300  # bytes of a name
# Used without being named, so a change counts for the whole file.
_UNNAMED = re.compile(rb"\boperator\b|~")


def parse(roots: list[Node], source: bytes, *, digests: bool = False) -> FileFacts:
    """The facts of one file. `roots` are its readings, in the positions of `source`."""
    found: dict[tuple[str, Kind], dict[tuple[int, int], None]] = {}
    includes: list[str] = []
    pasted = False
    for root in roots:
        for node, outer, local in _definitions(root):
            if node.type == "preproc_include":
                path = node.child_by_field_name("path")
                if path is not None:
                    includes.append(_text(source, path).strip('"<> \t\r\n'))
                continue
            span = (outer.start_byte, outer.end_byte)
            pasted = pasted or (node.type in _MACROS and b"##" in source[slice(*span)])
            for name, kind in _named(node, source):
                is_local = kind is Kind.FUNCTION and (local or _is_static(node, source))
                key = name, Kind.LOCAL if is_local else kind
                found.setdefault(key, {})[span] = None
    lines = {line.span: line for root in roots for line in registrations(root, source)}
    holes = [span for spans in found.values() for span in spans] + list(lines)
    return FileFacts(
        symbols=tuple(
            _symbol(name, kind, [source[a:b] for a, b in spans], digests=digests)
            for (name, kind), spans in found.items()
        ),
        registrations=tuple(lines[span].registration for span in sorted(lines)),
        includes=tuple(dict.fromkeys(includes)),
        rest=cpp_digest(outside(source, holes).replace(b";", b" ")) if digests else "",
        flags=_flags(roots, pasted=pasted),
    )


def _flags(roots: list[Node], *, pasted: bool) -> frozenset[Flag]:
    flags = {Flag.ERRORS} if any(root.has_error for root in roots) else set()
    return frozenset(flags | {Flag.PASTED} if pasted else flags)


def _definitions(root: Node) -> Iterator[tuple[Node, Node, bool]]:
    """Each definition with its outermost node (the template around it), and whether it is local.

    Local is what stands in a namespace without a name, where no other file can use it.
    """
    waiting: list[tuple[Node, Node | None, bool]] = [(root, None, False)]
    while waiting:
        node, outer, local = waiting.pop()
        if node.type not in _WRAPPERS:
            yield node, outer or node, local
            continue
        template = (outer or node) if node.type == "template_declaration" else None
        if node.type == "namespace_definition":
            local = local or node.child_by_field_name("name") is None
        waiting.extend((child, template, local) for child in reversed(node.named_children))


def _is_static(node: Node, source: bytes) -> bool:
    return any(
        child.type == "storage_class_specifier" and _text(source, child) == "static"
        for child in node.named_children
    )


def _named(node: Node, source: bytes) -> Iterator[tuple[str, Kind]]:
    """What a node defines: mostly one name, none where only the whole file can answer for it."""
    kind = node.type
    if kind == "function_definition":
        name = _declared(node, source)
        if name and not MACRO.fullmatch(name.encode()):
            yield name, Kind.FUNCTION
    elif kind in _TYPES or kind in _ALIASES or kind in _MACROS:
        named = node.child_by_field_name("name") or node.child_by_field_name("declarator")
        name = _last(source[named.start_byte : named.end_byte]) if named else ""
        if name:
            yield name, Kind.MACRO if kind in _MACROS else Kind.TYPE
    elif kind == "declaration":
        yield from _declaration(node, source)


def _declaration(node: Node, source: bytes) -> Iterator[tuple[str, Kind]]:
    inner = node.child_by_field_name("type")
    if inner is not None and inner.type in _TYPES:
        yield from _named(inner, source)
    for declarator in node.children_by_field_name("declarator"):
        is_function = _function(declarator) is not None and declarator.type != "init_declarator"
        name = _name_of(declarator, source)
        if name:
            yield name, Kind.DECLARATION if is_function else Kind.VALUE


def _declared(node: Node, source: bytes) -> str:
    declarator = node.child_by_field_name("declarator")
    return _name_of(declarator, source) if declarator is not None else ""


def _function(node: Node | None) -> Node | None:
    """The function_declarator within a declarator, if it has one."""
    for _ in range(20):  # int ****f(): pointers and references stand around it
        if node is None or node.type == "function_declarator":
            return node
        node = node.child_by_field_name("declarator") or _first_declarator(node)
    return None


def _first_declarator(node: Node) -> Node | None:
    return next((c for c in node.named_children if c.type.endswith("_declarator")), None)


def _name_of(node: Node, source: bytes) -> str:
    """The plain name in a declarator; empty for operators and destructors."""
    at: Node | None = node
    for _ in range(30):
        if at is None:
            return ""
        if at.type in _NAMES or at.type.startswith("template_"):
            text = source[at.start_byte : at.end_byte]
            return "" if _UNNAMED.search(text) else _last(text)
        inner = at.child_by_field_name("declarator") or _first_declarator(at)
        at = inner or next((c for c in at.named_children if c.type in _NAMES), None)
    return ""


def _last(text: bytes) -> str:
    """`a::b<int>` → `b`."""
    found = _LAST.search(text.split(b"<", 1)[0][-_LONGEST:])
    return found[1].decode() if found else ""


def _symbol(name: str, kind: Kind, texts: list[bytes], *, digests: bool) -> Symbol:
    uses: set[bytes] = set()
    for text in texts:
        uses |= cpp_names(text)
    uses -= _EVERYWHERE
    uses.discard(name.encode())
    plain = sorted(use.decode() for use in uses) if kind is not Kind.DECLARATION else []
    return Symbol(name, kind, cpp_digest(*texts) if digests else "", tuple(plain))


def _text(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode(errors="replace")


_EVERYWHERE = frozenset(
    b"""alignas alignof auto bool break case catch char class const constexpr continue decltype
    default define defined delete do double else enum explicit extern false float for friend goto
    if inline int long mutable namespace new noexcept nullptr operator private protected public
    return short signed sizeof static static_assert static_cast struct switch template this throw
    true try typedef typename union unsigned using virtual void volatile while std size_t int8_t
    int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t at c10 torch Tensor dim3 dim
    cudaStream_t reinterpret_cast __global__ __device__ __host__ __forceinline__ __restrict__
    __launch_bounds__ __shared__ __syncthreads threadIdx blockIdx blockDim gridDim
    pragma unroll""".split()
)
