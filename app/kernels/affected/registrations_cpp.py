"""Operator registrations in C++: PyTorch's libraries and pybind11's modules."""

import re
from bisect import bisect_left
from dataclasses import dataclass, replace

from tree_sitter import Node, Query, QueryCursor

from app.kernels.affected.facts import Registration
from app.kernels.affected.grammars import CPP
from app.kernels.affected.lexing import cpp_digest

# Bounded, so that a name of half a megabyte is not tried from each of its letters.
MACRO = re.compile(rb"\w{0,60}TORCH_LIBRARY\w{0,60}|PYBIND11_MODULE")
# `STABLE_TORCH_LIBRARY_IMPL(_C, CUDA, m)`, `TORCH_LIBRARY_FRAGMENT(CONCAT(NAME, _x), m)`
_OPENING = re.compile(
    rb"\b(\w{0,60}TORCH_LIBRARY\w{0,60}|PYBIND11_MODULE)\s*+\(\s*+"
    rb"((?:CONCAT\s*+\(\s*+\w++\s*+,\s*+\w++\s*+\))|\w++)\s*+,"
)
_DEFINED = re.compile(rb"#[ \t]*define[ \t]+(\w+)[ \t]+(\w+)[ \t]*\r?$", re.MULTILINE)
_LITERAL = re.compile(rb'"((?:[^"\\]|\\.)*+)"')
_OPERATOR = re.compile(r"\s*(?:([A-Za-z_]\w*)::)?([A-Za-z_]\w*)")
_TARGET = re.compile(rb"&\s*((?:\w+\s*::\s*)*\w+)")
_BOXED = re.compile(
    rb"\b\w{0,60}(?:TORCH_BOX|TORCH_FN)\w{0,60}\s*+\(\s*+&?\s*+((?:\w+\s*+::\s*+)*\w+)"
)
_PLAIN = re.compile(rb"^(?:\w+\s*::\s*)*[A-Za-z_]\w*$")
_KEY = re.compile(rb"^(?:(?:torch|c10|at)\s*::\s*)?(?:DispatchKey\s*::\s*)?k?[A-Z]\w*$")

_QUERY = Query(
    CPP,
    """
(call_expression
  function: (field_expression field: (field_identifier) @method)
  arguments: (argument_list) @arguments) @call
""",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A registration and where it stands, in bytes."""

    registration: Registration
    span: tuple[int, int]


def registrations(root: Node, source: bytes) -> list[Line]:
    """All `def` and `impl` calls behind the opening of a library or module, in order."""
    openings = list(_OPENING.finditer(source))
    if not openings:
        return []
    positions = [opening.start() for opening in openings]
    defined = dict(_DEFINED.findall(source))
    found = []
    for _, captured in QueryCursor(_QUERY).matches(root):
        method, arguments = captured["method"][0], captured["arguments"][0]
        call = captured["call"][0]
        at = bisect_left(positions, call.start_byte) - 1
        if at < 0 or method.text not in {b"def", b"impl"}:
            continue
        macro, namespace = openings[at][1], _namespace(openings[at][2], defined)
        made = _line(call, method.text or b"", arguments, source)
        if made is None:
            continue
        if macro == b"PYBIND11_MODULE":
            made = replace(made, how="pybind")
        found.append(
            Line(
                replace(made, namespace=made.namespace or namespace),
                (_begin(call, method), call.end_byte),
            )
        )
    return found


def _begin(call: Node, method: Node) -> int:
    """Before `m` in `m.def(…)`; before `def` where calls are chained."""
    function = call.child_by_field_name("function")
    receiver = function.child_by_field_name("argument") if function else None
    plain = receiver is not None and receiver.type == "identifier"
    return receiver.start_byte if receiver is not None and plain else method.start_byte


def _line(call: Node, method: bytes, arguments: Node, source: bytes) -> Registration | None:
    given = [a for a in arguments.named_children if a.type != "comment"]
    if not given:
        return None
    first, *others = given
    literals = _LITERAL.findall(source[first.start_byte : first.end_byte])
    named = _OPERATOR.match(b"".join(literals).decode(errors="replace"))
    if not literals or named is None:
        return None
    targets: list[str] = []
    in_place = False
    for other in others:
        text = source[other.start_byte : other.end_byte]
        in_place = in_place or other.type == "lambda_expression"
        if other.type != "lambda_expression":
            targets.extend(_targets(text))
    return Registration(
        name=named[2],
        namespace=named[1] or "",
        how="define" if method == b"def" else "implement",
        line=call.start_point[0] + 1,
        digest=cpp_digest(source[arguments.start_byte : arguments.end_byte]),
        targets=tuple(dict.fromkeys(targets)),
        in_place=in_place,
    )


def _targets(argument: bytes) -> list[str]:
    """Functions named by `&f`, `TORCH_BOX(&ns::f)` or `f`, and no dispatch key."""
    found = _BOXED.findall(argument) or _TARGET.findall(argument)
    if not found and _PLAIN.match(argument) and not _KEY.match(argument):
        found = [argument]
    return [b"".join(name.split()).decode() for name in found]


def _namespace(text: bytes, defined: dict[bytes, bytes]) -> str:
    """`_C`, or what the file itself defines the macro in its place to be."""
    parts = re.findall(rb"\w+", text)
    parts = parts[1:] if parts[0] == b"CONCAT" else parts
    return b"".join(defined.get(part, part) for part in parts).decode()
