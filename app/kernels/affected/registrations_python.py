"""Operator registrations in Python, by the shape of the call and not by one project's names."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from app.kernels.affected.facts import Registration
from app.kernels.affected.lexing import python_digest
from app.kernels.affected.python_imports import Bindings

# `direct_register_custom_op(…)`, `register_op(…)`, `torch.library.define(…)`, `lib.impl(…)`, …
_REGISTRAR = re.compile(r"^(?:\w+_)?register_(?:\w+_)?op$|^(?:custom|triton)_op$|^op_register$")
_DEFINES = {"define"}
_IMPLEMENTS = {"impl", "register_kernel", "register_impl", "impl_abstract_kernel"}
_LAYER = re.compile(r"(?:^|\.)(\w*(?:CustomOp|Layer)\w*)\.register(?:_oot)?$")
_COMPILERS = {
    "triton", "gluon", "cute", "tilelang", "helion", "numba", "cuda", "pallas", "T", "wp", "warp",
    "flyc", "ct",
}  # fmt: skip
_JIT = {"jit", "kernel", "autotune", "prim_func"}
_WITHIN = re.compile(
    rb"(?:\n[ \t]++@|=[ \t]*+)(?:triton|gluon|cute|tilelang|helion|numba\.cuda)\."
    rb"(?:experimental\.)?(?:jit|kernel|prim_func)\b"
)
_STRING = re.compile(rb"""^[bBrRuU]{0,2}(?:"{3}|'{3}|"|')(.*?)(?:"{3}|'{3}|"|')$""", re.DOTALL)
_OPERATOR = re.compile(r"^\s*(?:([A-Za-z_]\w*)::)?([A-Za-z_]\w*)")
_LIBRARY = re.compile(rb"""\bLibrary\(\s*["'](\w+)["']""")
_FUNCTION_KEYS = ("op_func", "func", "fn", "impl", "op_impl", "kernel")
_NAME_KEYS = ("op_name", "name", "qualname", "schema")


def library_namespace(source: bytes) -> str:
    """The namespace of the one `Library("ns", …)` of a file; empty if there are none or several."""
    found = set(_LIBRARY.findall(source)) if b"Library" in source else set()
    return found.pop().decode() if len(found) == 1 else ""


def is_jit(node: Node, source: bytes, known: Bindings) -> bool:
    """Whether it, or a function or method within it, is given to a kernel compiler."""
    for decorator in _decorators(node):
        parts = _callee(decorator, source, known).split(".")
        if parts[-1] in _JIT and (_COMPILERS & set(parts[:-1])):
            return True
    return bool(_WITHIN.search(source, node.start_byte, node.end_byte))


def decorated(node: Node, name: str, source: bytes, known: Bindings) -> Iterator[Registration]:
    """What the decorators of a function or class register."""
    for decorator in _decorators(node):
        callee = _callee(decorator, source, known)
        last = callee.rpartition(".")[2]
        call = decorator.named_children[0] if decorator.named_children else None
        text = source[decorator.start_byte : decorator.end_byte]
        line = decorator.start_point[0] + 1
        layer = _LAYER.search(callee)
        positional, keyed = _arguments(call, source)
        stated = _operator(keyed, positional)
        digest = python_digest(text)
        if layer:
            base = layer[1]
            yield Registration(
                stated[1] if stated else name, base, "layer", line, digest, targets=(name,)
            )
        elif _REGISTRAR.match(last):
            namespace, operator = stated or ("", name)
            yield Registration(
                operator, namespace, "define", line, digest, targets=(name,), via=callee
            )
        elif last in _IMPLEMENTS and stated and stated[0]:
            yield Registration(stated[1], stated[0], "implement", line, digest, targets=(name,))
        elif last in _IMPLEMENTS and "." in callee:
            of = callee.rpartition(".")[0]
            yield Registration("", "", "implement", line, digest, targets=(name,), of=of)


def registered(node: Node, source: bytes, known: Bindings) -> list[Registration]:
    """What a statement at the top level registers by a call."""
    if node.type != "expression_statement" or not node.named_children:
        return []
    call = node.named_children[0]
    outer: list[str] = []
    inner = call.child_by_field_name("function") if call.type == "call" else None
    if inner is not None and inner.type == "call":  # custom_op("ns::f", …)(f)
        outer = _arguments(call, source)[0]
        call = inner
    callee = _callee(call, source, known)
    last = callee.rpartition(".")[2]
    positional, keyed = _arguments(call, source)
    stated = _operator(keyed, positional)
    is_registrar = bool(_REGISTRAR.match(last))
    if stated is None or not (is_registrar or last in _DEFINES | _IMPLEMENTS):
        return []
    functions = [keyed[k] for k in _FUNCTION_KEYS if k in keyed]
    functions += [a for a in (*positional[1:], *outer) if a.isidentifier() or _is_dotted(a)]
    text = source[node.start_byte : node.end_byte]
    return [
        Registration(
            name=stated[1],
            namespace=stated[0],
            how="implement" if last in _IMPLEMENTS else "define",
            line=node.start_point[0] + 1,
            digest=python_digest(text),
            targets=tuple(_origin(f, known) for f in functions[:1]),
            via=callee,
        )
    ]


def _operator(keyed: dict[str, str], positional: list[str]) -> tuple[str, str] | None:
    """(namespace, name) from the first string that names an operator."""
    for argument in (*(keyed[k] for k in _NAME_KEYS if k in keyed), *positional[:1]):
        string = _STRING.match(argument.encode())
        found = _OPERATOR.match(string[1].decode(errors="replace")) if string else None
        if found:
            return found[1] or "", found[2]
    return None


def _arguments(call: Node | None, source: bytes) -> tuple[list[str], dict[str, str]]:
    arguments = call.child_by_field_name("arguments") if call is not None else None
    positional: list[str] = []
    keyed: dict[str, str] = {}
    for argument in arguments.named_children if arguments is not None else ():
        if argument.type == "keyword_argument":
            name, value = (argument.child_by_field_name(f) for f in ("name", "value"))
            if name is not None and value is not None:
                keyed[_text(source, name)] = _text(source, value)
        elif argument.type != "comment":
            positional.append(_text(source, argument))
    return positional, keyed


def _decorators(node: Node) -> Iterator[Node]:
    if node.type == "decorated_definition":
        yield from (c for c in node.named_children if c.type == "decorator")


def _callee(node: Node, source: bytes, known: Bindings) -> str:
    """The dotted name that a decorator or call calls, its first part read through the imports."""
    at: Node | None = node.named_children[0] if node.type == "decorator" else node
    while at is not None and at.type == "call":
        at = at.child_by_field_name("function")
    text = "".join(_text(source, at).split()) if at is not None else ""
    return _origin(text, known) if _is_dotted(text) else ""


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _origin(dotted: str, known: Bindings) -> str:
    first, dot, more = dotted.partition(".")
    return f"{known.names.get(first, first)}{dot}{more}"


def _text(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode(errors="replace")
