"""Python: what is used, compiled for a device, registered."""

import pytest

from app.kernels.affected.facts import Kind
from tests.kernels.affected.trees import facts


def uses(text):
    return {symbol.name: set(symbol.uses) for symbol in facts("p/m.py", text).symbols}


def registered(text):
    return [(r.namespace, r.name, r.how, r.targets) for r in facts("p/m.py", text).registrations]


def test_uses_are_read_through_the_imports():
    text = """
    import torch
    import proj.deep as deep
    import proj.other
    from . import sibling
    from ..up import thing as renamed
    from proj import _ops as ops
    import os

    def f(x):
        ops.silu(x); deep.g.h(x); proj.other.z; sibling.a; renamed(x); os.path.join(x); f2()
        torch.nn.functional.silu(x)

    def f2():
        from later.late import late
        return late
    """
    assert uses(text) == {
        "f": {
            "proj._ops.silu", "proj.deep.g.h", "proj.other.z", ".sibling.a", "..up.thing", "f2",
        },
        "f2": {"later.late.late"},
    }  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "torch.ops._C.silu(x)",
        "torch.ops._C.silu.default(x)",
        "ops = torch.ops._C\n    ops.silu(x)",
        "getattr(torch.ops._C, 'silu')(x)",
        'hasattr(torch.ops._C, "silu")',
        "call('_C::silu')",
        "aliased.silu(x)",
    ],
)
def test_ways_to_name_an_operator(body):
    text = f"import torch\naliased = torch.ops._C\ndef f(x):\n    {body}\n"
    assert "torch.ops._C.silu" in uses(text)["f"]


def test_names_of_a_star_import_may_come_from_there():
    assert uses("from proj.ops import *\ndef f(x):\n    return silu(x)\n")["f"] >= {"proj.ops.silu"}


def test_functions_for_compilers():
    text = """
    import triton, numba
    from vllm.triton_utils import triton as tr
    from cutlass import cute
    from functools import cache, jit

    @triton.jit
    def a(): pass
    @tr.autotune(configs=[1], key=["n"])
    @tr.jit(do_not_specialize=["n"])
    def b(): pass
    class C:
        @cute.jit
        def run(self): pass
    def factory():
        @triton.jit
        def inner(): pass
        return inner
    d = triton.jit(a)
    @numba.cuda.jit
    def e(): pass
    @jit
    def no(): pass
    @cache
    def neither(): pass
    """
    found = facts("p/m.py", text).symbols
    assert {s.name for s in found if s.kind is Kind.JIT} == {"a", "b", "C", "factory", "d", "e"}


def test_registrations():
    text = """
    import torch
    from torch.library import custom_op, triton_op
    from proj.library import direct_register_custom_op
    from proj.ir import register_op, rms_norm

    @custom_op("ns::one", mutates_args=())
    def one(x): ...
    @triton_op("ns::two", mutates_args={})
    def two_impl(x): ...
    @torch.library.register_kernel("ns::one", "cuda")
    def one_cuda(x): ...
    direct_register_custom_op(op_name="three", op_func=three_impl, fake_impl=fake)
    custom_op("ns::four", mutates_args=())(four_impl)
    torch.library.define("ns::five", "(Tensor x) -> Tensor")
    torch.library.impl("ns::five", "cuda", five_impl)
    @register_op
    def six(x): ...
    @register_op(name="seven", allow_inplace=True)
    def seven_impl(x): ...
    @CustomOp.register("eight")
    class Eight: ...
    @torch.library.register_fake("ns::one")
    def one_fake(x): ...
    """
    assert sorted(registered(text)) == [
        ("", "seven", "define", ("seven_impl",)),
        ("", "six", "define", ("six",)),
        ("", "three", "define", ("three_impl",)),
        ("CustomOp", "eight", "layer", ("Eight",)),
        ("ns", "five", "define", ()),
        ("ns", "five", "implement", ("five_impl",)),
        ("ns", "four", "define", ("four_impl",)),
        ("ns", "one", "define", ("one",)),
        ("ns", "one", "implement", ("one_cuda",)),
        ("ns", "two", "define", ("two_impl",)),
    ]


def test_an_implementation_of_an_operator_that_is_an_object():
    text = """
    from proj import ir
    @ir.ops.rms_norm.register_impl("mine", supported=True)
    def mine(x): ...
    """
    (line,) = facts("p/m.py", text).registrations
    assert (line.of, line.targets) == ("proj.ir.ops.rms_norm", ("mine",))


def test_a_new_definition_leaves_the_rest_as_it_is():
    one = facts("m.py", "A = 1\nif A:\n    print(1)\n", digests=True)
    two = facts("m.py", "A = 1\n\n\ndef f():\n    pass\n\n\nif A:\n    print(1)\n", digests=True)
    three = facts("m.py", "A = 1\nif A:\n    print(2)\n", digests=True)
    assert one.rest == two.rest != three.rest


def test_an_import_that_brings_another_thing_changes_its_users():
    one, two = (
        facts("m.py", f"from proj.{m} import f\ndef g():\n    f()\n", digests=True) for m in "ab"
    )
    assert one.rest == two.rest
    assert one.symbols[0].digest != two.symbols[0].digest
