"""Operators of a tree and who leads to them."""

from app.kernels.affected.reach import files_that_test
from tests.kernels.affected.trees import PROJECT, index


def sources(tree, operator):
    return sorted(f"{path}:{name}" for path, name in index(tree).operators[operator].sources)


def found_tests(tree, operator):
    made = index(tree)
    return {test.path: test.distance for test in files_that_test(made, made.operators[operator])}


def test_all_operators_of_a_project():
    assert {o.id: o.kind for o in index(PROJECT).operators.values()} == {
        "_C::rms_norm": "cpp",
        "_C::silu": "cpp",
        "_C::gelu": "cpp",
        "CustomOp::norm": "layer",
        "proj::scaled": "python",
        "proj.kernels.scale_kernel": "kernel",
        "proj.kernels.other_kernel": "kernel",
    }


def test_of_two_functions_of_a_name_each_build_has_its_own():
    assert sources(PROJECT, "_C::silu") == [
        "csrc/activation.cu:silu",
        "csrc/cpu/activation.cpp:silu",
    ]
    # Without build files to say so, the nearer one is meant.
    bare = {path: text for path, text in PROJECT.items() if "cmake" not in path.lower()}
    assert sources(bare, "_C::silu") == ["csrc/activation.cu:silu", "csrc/cpu/activation.cpp:silu"]


def test_a_function_that_only_its_own_file_can_use_is_no_other_s():
    tree = {
        "b.cpp": 'TORCH_LIBRARY(n, m) { m.def("f() -> ()", &f); }',
        "one.cu": "static void f() { a(); }",
        "two.cu": "void f() { b(); }",
    }
    assert sources(tree, "n::f") == ["two.cu:f"]


def test_tests_by_how_near_they_are():
    assert found_tests(PROJECT, "_C::rms_norm") == {
        "tests/test_norm.py": 1,
        "tests/test_layer.py": 2,
    }
    assert found_tests(PROJECT, "_C::silu") == {"tests/test_direct.py": 0}
    assert found_tests(PROJECT, "_C::gelu") == {}


def test_a_test_s_own_helper_counts_as_the_test():
    tree = {
        **PROJECT,
        "tests/test_helper.py": """
        import torch
        def helper():
            return torch.ops._C.gelu
        class TestIt:
            def test_it(self):
                helper()
        """,
    }
    assert found_tests(tree, "_C::gelu") == {"tests/test_helper.py": 0}


def test_a_c_test_that_calls_the_function():
    tree = {
        **PROJECT,
        "csrc/tests/test_gelu.cu": '#include "../ops.h"\nvoid check() { act::gelu(a, b); }\n',
    }
    assert found_tests(tree, "_C::gelu") == {"csrc/tests/test_gelu.cu": 0}


def test_the_namespace_that_a_build_sets_is_read_from_the_calls():
    tree = {
        "a.cpp": 'TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, m) { m.def("f() -> ()", &f); }\nvoid f() {}',
        "p.py": "import torch\ndef g():\n    torch.ops._rocm_C.f()\n",
    }
    assert list(index(tree).operators) == ["_rocm_C::f"]


def test_a_module_of_pybind_is_called_by_its_name():
    tree = {
        "a.cpp": 'PYBIND11_MODULE(_ext, m) { m.def("f", &f); }\nvoid f() {}',
        "p.py": "from proj import _ext\ndef g():\n    _ext.f()\n",
        "test_p.py": "from p import g\ndef test_g():\n    g()\n",
    }
    assert found_tests(tree, "_ext::f") == {"test_p.py": 1}


def test_a_name_that_a_package_hands_on():
    tree = {
        "k/__init__.py": "from .impl import run as start\n",
        "k/impl.py": "import torch\ndef run():\n    torch.ops.n.f()\n",
        "src/q/__init__.py": "",
        "src/q/m.py": "import torch\ndef g():\n    torch.ops.n.f()\n",
        "b.cpp": 'TORCH_LIBRARY(n, m) { m.def("f() -> ()", &f); }\nvoid f() {}',
        "test_k.py": "import k\ndef test_k():\n    k.start()\n",
        "test_q.py": "from q.m import g\ndef test_q():\n    g()\n",
    }
    assert found_tests(tree, "n::f") == {"test_k.py": 1, "test_q.py": 1}


def test_imports_that_go_round_in_circles():
    tree = {
        "a.py": "from b import x\n",
        "b.py": "from a import x\n",
        "test_c.py": "from a import x\ndef test_x():\n    x()\n",
        "h1.cuh": '#include "h2.cuh"\n',
        "h2.cuh": '#include "h1.cuh"\n',
        "k.cu": '#include "h1.cuh"\nvoid f() {}\n',
    }
    made = index(tree)
    assert made.cpp.closure("k.cu") == {"h1.cuh", "h2.cuh"}
    assert made.cpp.includers("h2.cuh") == {"h1.cuh", "k.cu"}
