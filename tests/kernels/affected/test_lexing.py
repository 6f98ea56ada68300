"""Names and digests of text."""

import pytest

from app.kernels.affected.lexing import (
    cpp_digest,
    cpp_names,
    outside,
    python_digest,
    python_names,
)


def test_cpp_names_are_those_of_code():
    text = b"""f<b>(R"x(hid "quoted" )" )x", "s\\"t", 'c'); // com\\
    ment
    /* block */ g_h(2e3f, 1'000'000); last"""
    assert cpp_names(text) == {b"f", b"b", b"g_h", b"last"}


def test_python_names_are_dotted():
    text = b'''x = torch.ops._C.f(a.b, "quoted", """doc "z" """)  # comment
    y = call(1).method'''
    assert python_names(text) == {b"x", b"torch.ops._C.f", b"a.b", b"y", b"call"}


def test_a_string_that_names_an_operator_counts():
    assert python_names(b'"proj::scale"') == {b"torch.ops.proj.scale"}
    assert python_names(b'"see proj::scale there"') == set()


@pytest.mark.parametrize(
    ("digest", "one", "same", "other"),
    [
        (cpp_digest, b"int  a;// x\n/* y */", b"int a;", b"int b;"),
        (cpp_digest, b'p("/* a */")', b'p("/* a */") // c', b'p("/* b */")'),
        (python_digest, b"a = 1  # x\n\n\nb = 2", b"a = 1\nb = 2", b"a = 1\n  b = 2"),
        (python_digest, b"a = '#'\n", b"a = '#'", b"a = '# '"),
    ],
)
def test_a_digest_sees_code_alone(digest, one, same, other):
    assert digest(one) == digest(same) != digest(other)


def test_what_is_outside_of_spans_that_overlap():
    assert outside(b"0123456789", [(2, 4), (3, 6), (8, 9)]) == b"01\n67\n9"
