"""Sources that somebody made to break the parser: no crash, bounded time."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.kernels.affected.build_files import changed_paths
from app.kernels.affected.changes import Changed
from app.kernels.affected.config import Config
from app.kernels.affected.facts import UNREAD, pack, unpack
from app.kernels.affected.index import Index
from app.kernels.affected.parsing import LARGEST, parse, reader_of
from app.kernels.affected.resolve import Trees, resolve

PATHS = {"cpp": "a/k.cu", "python": "a/p.py", "cmake": "a/CMakeLists.txt", "lines": "setup.py"}
PIECES = [
    b"TORCH_LIBRARY(_C, m) {", b"m.def(", b'"f(Tensor x) -> ()"', b", &f)", b";", b"}", b"{", b"(",
    b")", b"<", b">", b"<<<", b">>>", b"::", b"template <typename T>", b"__global__ void k", b"#if A",
    b"#else", b"#endif", b"#define X(y) a##y", b'#include "k.cu"', b"\n", b"/*", b"*/", b"//", b'"',
    b"'", b'R"(', b')"', b"\\", b"struct S", b"namespace n {", b"operator+", b"~S", b"\0", b"\xff",
    b"import torch", b"from . import x", b"from x import *", b"torch.ops._C.f", b"@triton.jit",
    b"def f():", b"class C:", b"    ", b'"""', b"register_op(", b"op_name=", b"f", b"x", b" ",
    b"PYBIND11_MODULE(e, m) {", b"set(A ${B})", b"${A}", b"a.cu", b"lambda: (", b"if x:", b"try:",
    "é\u202e".encode(), b"@x.register_impl('y')",
]  # fmt: skip


def whole(reader: str, source: bytes) -> None:
    """Through parser, packing, index and a comparison with nothing."""
    begun = time.perf_counter()
    found = parse(reader, source, lambda: time.perf_counter() - begun > 5, digests=True)
    assert unpack(pack(found)) == found
    path = PATHS[reader]
    tree = Index({path: found, "a/b.cpp": parse("cpp", PIECES[0], lambda: False)})
    changes = [Changed(path, path, None, found), Changed(path, path, found, UNREAD)]
    resolve(changes, Trees(tree, lambda: tree), Config())


@given(st.sampled_from(sorted(PATHS)), st.binary(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_bytes(reader, source):
    whole(reader, source)


@given(st.sampled_from(sorted(PATHS)), st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))
@settings(max_examples=300, deadline=None)
def test_pieces_of_code_in_any_order(reader, source):
    whole(reader, source)


MADE = {
    "templates": b"a<",
    "casts": b"(a)",
    "products": b"a*b ",
    "functions": b"a(b)(c)*d&e ",
    "parentheses": b"(",
    "braces": b"{",
    "comments": b"/*",
    "quotes": b'"',
    "raw strings": b'R"(',
    "triple quotes": b'"""',
    "backslashes": b"\\",
    "conditionals": b"#if 1\n",
    "else": b"#else\n",
    "pasting": b"#define a##b\n",
    "one name": b"a",
    "one dotted name": b"a.",
    "one library": b"TORCH_LIBRARY",
    "libraries": b"TORCH_LIBRARY(a, m) {",
    "calls": b'm.def("x", &x);',
    "boxes": b"TORCH_BOX",
    "namespaces": b"a::",
    "imports": b"from a import *\n",
    "indented imports": b" import a\n",
    "decorators": b"@a\n",
    "definitions": b"def f(): pass\n",
    "variables": b"set(a ${a})\n",
    "paths": b"a.cu\n",
    "spaces": b" ",
    "lines": b"\n",
}


@pytest.mark.parametrize("reader", sorted(PATHS))
@pytest.mark.parametrize("name", MADE)
def test_one_thing_again_and_again(reader, name):
    """100 kB of it within two seconds, on a machine that does other things too within ten."""
    piece = MADE[name]
    begun = time.perf_counter()
    end = begun + 2
    parse(reader, piece * (100_000 // len(piece)), lambda: time.perf_counter() > end, digests=True)
    assert time.perf_counter() - begun < 10


def test_what_is_too_large_or_too_slow_is_not_read():
    assert parse("cpp", b"int a;" * LARGEST, lambda: False) is UNREAD
    assert parse("cpp", b"int a;" * 1000, lambda: True) is UNREAD


def test_many_files_of_one_name_that_include_each_other():
    header = parse("cpp", b'#include "h.h"\n#include "x/h.h"\nint f() { f(); }', lambda: False)
    files = {f"d{n}/x/h.h": header for n in range(2000)}
    begun = time.perf_counter()
    tree = Index(files)
    changed = Changed("d1/x/h.h", "d1/x/h.h", None, header)
    resolve([changed], Trees(tree, lambda: tree), Config())
    assert time.perf_counter() - begun < 20


def test_build_variables_that_go_round_in_circles():
    one = parse("cmake", b"set(A ${B})\nset(B ${A})\nadd(${A})", lambda: False)
    two = parse("cmake", b"set(A ${B} x)\nset(B ${A})\nadd(${A})", lambda: False)
    assert changed_paths(one, two) == ([], True)


@pytest.mark.parametrize(
    "word", ["/a.cu", "//a/b.cu", "/", "../../a.cu", "././b.cu", "*.cu", "/*/*.cu"]
)
def test_a_build_file_that_lists_what_lies_elsewhere(word):
    new = parse("cmake", b"set(A %s)" % word.encode(), lambda: False)
    tree = Index({"CMakeLists.txt": new, "b.cu": parse("cpp", b"void f() {}", lambda: False)})
    changed = Changed("CMakeLists.txt", "CMakeLists.txt", None, new)
    resolve([changed], Trees(tree, lambda: tree), Config())


def test_what_is_never_read():
    assert reader_of("a.txt") == reader_of("Makefile.am") == ""
