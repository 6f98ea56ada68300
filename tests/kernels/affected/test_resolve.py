"""What a change touches, for each kind of change."""

import pytest

from app.kernels.affected.answer import as_text
from app.kernels.affected.config import Config
from app.kernels.affected.resolve import WIDE
from tests.kernels.affected.trees import PROJECT, edited, files_to_run, operators, touched


def reason(answer, operator):
    (found,) = [o for o in answer.operators if o.operator == operator]
    return [str(link) for link in found.reason]


def flags(answer, operator):
    (found,) = [o for o in answer.operators if o.operator == operator]
    return found.flags


def test_one_of_two_kernels_of_a_file():
    answer = touched(PROJECT, edited(PROJECT, "csrc/activation.cu", "x * 0.5f", "x * 0.7f"))
    assert operators(answer) == ["_C::gelu"]
    assert reason(answer, "_C::gelu") == [
        "csrc/activation.cu:gelu_one changed",
        "csrc/activation.cu:gelu uses gelu_one",
        "csrc/activation.cu:gelu implements _C::gelu",
    ]


def test_a_macro_that_both_use():
    answer = touched(PROJECT, edited(PROJECT, "csrc/activation.cu", "<<<1, 1>>>", "<<<1, 32>>>"))
    assert operators(answer) == ["_C::gelu", "_C::silu"]


def test_comments_and_line_breaks_change_nothing():
    changed = edited(PROJECT, "csrc/norm.cu", "out[0] =", "// why\n  out[0]\n  =")
    answer = touched(PROJECT, changed)
    assert (answer.operators, answer.tests) == ([], [])
    assert [file.status for file in answer.files] == ["modified"]


def test_a_function_of_a_header_reaches_who_uses_it():
    answer = touched(PROJECT, edited(PROJECT, "csrc/reduce.cuh", "in[0] * WARP", "in[1] * WARP"))
    assert operators(answer) == ["_C::rms_norm"]
    assert files_to_run(answer) == {"tests/test_norm.py": 1, "tests/test_layer.py": 2}
    assert reason(answer, "_C::rms_norm") == [
        "csrc/reduce.cuh:block_sum changed",
        "csrc/norm.cu:rms_kernel uses block_sum",
        "csrc/norm.cu:rms_norm uses rms_kernel",
        "csrc/norm.cu:rms_norm implements _C::rms_norm",
    ]


def test_a_macro_of_a_header_reaches_over_the_functions_that_use_it():
    answer = touched(PROJECT, edited(PROJECT, "csrc/reduce.cuh", "WARP 32", "WARP 64"))
    assert operators(answer) == ["_C::rms_norm"]


def test_a_loose_line_of_a_header_reaches_all_who_include_it():
    changed = edited(PROJECT, "csrc/reduce.cuh", "#pragma once", "#pragma once\n#include <cub.h>")
    assert operators(touched(PROJECT, changed)) == ["_C::gelu", "_C::rms_norm", "_C::silu"]


def test_a_prototype_reaches_the_function_it_promises():
    changed = edited(PROJECT, "csrc/ops.h", "x, double eps", "x, float eps")
    assert operators(touched(PROJECT, changed)) == ["_C::rms_norm"]


def test_a_new_prototype_reaches_nothing():
    changed = edited(PROJECT, "csrc/ops.h", "#pragma once", "#pragma once\nvoid later(int x);")
    assert operators(touched(PROJECT, changed)) == []


def test_a_call_into_another_file():
    tree = {
        **PROJECT,
        "csrc/shared.h": "void launch_shared(int n);\n",
        "csrc/shared.cu": "void launch_shared(int n) { n = 1; }\n",
        "csrc/norm.cu": PROJECT["csrc/norm.cu"]
        .replace("out[0] = block", "launch_shared(1); out[0] = block")
        .replace("reduce.cuh", 'shared.h"\n        #include "reduce.cuh'),
    }
    assert operators(touched(tree, edited(tree, "csrc/shared.cu", "n = 1", "n = 2"))) == [
        "_C::rms_norm"
    ]


def test_a_registration_alone():
    changed = edited(PROJECT, "csrc/bindings.cpp", "silu(Tensor! out", "silu(Tensor out")
    answer = touched(PROJECT, changed)
    assert operators(answer) == ["_C::silu"]
    assert reason(answer, "_C::silu") == ["csrc/bindings.cpp line 6 registers _C::silu"]


def test_a_new_operator_with_its_kernel():
    changed = edited(
        PROJECT,
        "csrc/bindings.cpp",
        'ops.def("gelu',
        'ops.def("relu(Tensor x) -> ()");\n  ops.impl("relu", torch::kCUDA, &relu);\n  ops.def("gelu',
    )
    changed["csrc/relu.cu"] = "void relu(torch::Tensor& x) {}\n"
    answer = touched(PROJECT, changed)
    assert operators(answer) == ["_C::relu"]
    assert {f.file: f.status for f in answer.files} == {
        "csrc/bindings.cpp": "modified",
        "csrc/relu.cu": "added",
    }


def test_an_operator_that_is_gone():
    changed = edited(
        PROJECT, "csrc/bindings.cpp", 'ops.def("gelu(Tensor! out, Tensor x) -> ()");', ""
    )
    changed = edited(
        changed, "csrc/bindings.cpp", 'ops.impl("gelu", torch::kCUDA, TORCH_BOX(&act::gelu));', ""
    )
    answer = touched(PROJECT, changed)
    assert operators(answer) == ["_C::gelu"]
    assert flags(answer, "_C::gelu") == ["gone"]


def test_a_deleted_file_is_looked_up_in_the_tree_before():
    changed = {path: text for path, text in PROJECT.items() if path != "csrc/norm.cu"}
    answer = touched(PROJECT, changed)
    assert operators(answer) == ["_C::rms_norm"]
    assert answer.files[0].status == "deleted"
    assert set(files_to_run(answer)) == {"tests/test_norm.py", "tests/test_layer.py"}


def test_a_renamed_file_is_followed():
    text = PROJECT["csrc/norm.cu"]
    changed = {path: t for path, t in PROJECT.items() if path != "csrc/norm.cu"}
    changed["csrc/norms/rms.cu"] = text
    answer = touched(PROJECT, changed, renamed={"csrc/norms/rms.cu": "csrc/norm.cu"})
    assert operators(answer) == ["_C::rms_norm"]
    assert (answer.files[0].status, answer.files[0].was) == ("renamed", "csrc/norm.cu")
    assert reason(answer, "_C::rms_norm")[0] == (
        "csrc/norms/rms.cu changed: it was csrc/norm.cu before"
    )


def test_an_unknown_kernel_file_means_its_folder_and_says_so():
    changed = {**PROJECT, "csrc/cpu/mystery.cpp": "void nobody_calls() {}\n"}
    answer = touched(PROJECT, changed)
    assert operators(answer) == ["_C::silu"]
    assert flags(answer, "_C::silu") == ["unknown"]
    assert answer.files[0].flags == ["unknown"]
    assert "leads to no operator" in reason(answer, "_C::silu")[0]


def test_an_unknown_kernel_file_in_an_empty_folder_means_the_next_above():
    changed = {**PROJECT, "csrc/new/deep/k.cu": "__global__ void k() {}\n"}
    assert operators(touched(PROJECT, changed)) == ["_C::gelu", "_C::rms_norm", "_C::silu"]


def test_a_file_that_cannot_be_read_counts_as_its_folder():
    changed = {**PROJECT, "csrc/cpu/huge.cpp": "int a;\n" * 100_000}
    answer = touched(PROJECT, changed)
    assert operators(answer) == ["_C::silu"]
    assert flags(answer, "_C::silu") == ["unknown"]


def test_a_header_that_leads_to_very_many_is_flagged():
    names = [f"f{n}" for n in range(WIDE + 1)]
    tree = {
        "k/common.h": "#define N 1\n",
        "k/b.cpp": "".join(
            [
                "TORCH_LIBRARY(n, m) {",
                *(f'm.def("{name}() -> ()", &{name});' for name in names),
                "}",
            ]
        ),
        "k/k.cu": '#include "common.h"\n' + "".join(f"void {name}() {{ N; }}\n" for name in names),
    }
    answer = touched(tree, edited(tree, "k/common.h", "N 1", "N 2"))
    assert len(answer.operators) == WIDE + 1
    assert all(operator.flags == ["wide"] for operator in answer.operators)


def test_names_that_are_pasted_together_count_for_the_whole_file():
    tree = {
        "k/b.cpp": 'TORCH_LIBRARY(n, m) { m.def("f() -> ()", &f); m.def("g() -> ()", &g); }',
        "k/k.cu": "#define CALL(x) k_##x()\nvoid k_one() { int a; }\nvoid f() { CALL(one); }\nvoid g() {}\n",
    }
    answer = touched(tree, edited(tree, "k/k.cu", "int a;", "int b;"))
    assert operators(answer) == ["n::f", "n::g"]


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("CMakeLists.txt", "8.0;9.0", "9.0", ["_C::rms_norm"]),  # over two variables
        ("CMakeLists.txt", "# bindings", "# the bindings", []),
        (
            "cmake/cpu.cmake",
            '"csrc/cpu/activation.cpp"',
            '"csrc/cpu/activation.cpp" X',
            ["_C::silu"],
        ),
    ],
)
def test_a_build_file_means_what_its_changed_commands_list(path, old, new, expected):
    assert operators(touched(PROJECT, edited(PROJECT, path, old, new))) == expected


def test_a_build_command_without_a_list_means_the_whole_file():
    answer = touched(
        PROJECT, edited(PROJECT, "CMakeLists.txt", "include(", "add_compile_options(-O3)\ninclude(")
    )
    assert operators(answer) == ["_C::gelu", "_C::rms_norm", "_C::silu"]
    assert answer.files[0].flags == ["wide"]


def test_sources_in_a_setup_py():
    tree = {**PROJECT, "setup.py": 'ext = CUDAExtension("n",\n  sources=["csrc/norm.cu"],\n)\n'}
    changed = edited(tree, "setup.py", '"csrc/norm.cu"', '"csrc/norm.cu", "-O2"')
    assert operators(touched(tree, changed)) == ["_C::rms_norm"]


def test_a_compiled_function_of_python_and_what_it_calls():
    answer = touched(PROJECT, edited(PROJECT, "proj/kernels.py", "x + 1", "x + 2"))
    # The helper is used by one kernel alone; what is registered over one import follows.
    assert operators(answer) == ["proj.kernels.scale_kernel", "proj::scaled"]
    assert files_to_run(answer) == {"tests/test_scale.py": 1}


def test_a_wrapper_is_no_kernel_but_leads_to_what_it_implements():
    answer = touched(PROJECT, edited(PROJECT, "proj/registered.py", "scale(x)", "scale(x + 1)"))
    assert operators(answer) == ["proj::scaled"]


def test_a_changed_wrapper_means_the_operator_it_calls():
    tree = {
        **PROJECT,
        "proj/_ops.py": PROJECT["proj/_ops.py"]
        + """
        def scale_of(x):
            return 1.0

        def gelu(out, x):
            torch.ops._C.gelu(out, scale_of(x))
        """,
    }
    answer = touched(tree, edited(tree, "proj/_ops.py", "return 1.0", "return 2.0"))
    assert operators(answer) == ["_C::gelu"]
    assert flags(answer, "_C::gelu") == ["wrapper"]
    assert reason(answer, "_C::gelu") == [
        "proj/_ops.py:scale_of changed",
        "proj/_ops.py:gelu uses scale_of",
        "proj/_ops.py:gelu calls _C::gelu",
    ]


def test_a_listed_source_that_the_build_makes_means_its_folder():
    tree = {**PROJECT, "cmake/gen.cmake": 'set(GEN "csrc/cpu/gen_*.cpp")\n'}
    answer = touched(tree, edited(tree, "cmake/gen.cmake", ".cpp", '.cpp" "-O3'))
    assert operators(answer) == ["_C::silu"]
    assert flags(answer, "_C::silu") == ["unknown"]
    assert reason(answer, "_C::silu")[1] == (
        "csrc/cpu/gen_*.cpp is listed but not in the tree: all of csrc/cpu/ count"
    )


def test_what_calls_an_operator_is_reached_through_it():
    tree = {
        **PROJECT,
        "proj/layers.py": PROJECT["proj/layers.py"].replace(
            "ops.rms_norm(", "torch.ops._C.rms_norm("
        ),
    }
    answer = touched(tree, edited(tree, "csrc/norm.cu", "block_sum(in, n)", "block_sum(in, 2)"))
    assert operators(answer) == ["_C::rms_norm"]
    assert flags(answer, "CustomOp::norm") == ["through"]


def test_files_that_are_not_read_and_tests():
    changed = {
        **edited(PROJECT, "tests/test_direct.py", "silu(1, 2)", "silu(1, 3)"),
        "README.md": "hello",
        "tests/test_nothing.py": "def test_nothing():\n    assert 1\n",
    }
    answer = touched(PROJECT, changed)
    assert operators(answer) == []
    assert [str(t.reason[0]) for t in answer.tests] == [
        "tests/test_direct.py changed, and names an operator"
    ]


def test_the_configuration_adds_and_removes():
    config = Config.model_validate(
        {
            "ignore": ["csrc/cpu/*"],
            "add": [
                {"files": ["csrc/host_*"], "operators": ["_C::gelu", "x::y"], "tests": ["tests/e.sh"],
                 "why": "it picks the kernel"},
            ],
            "remove": [{"operators": ["_C::silu"]}, {"tests": ["tests/test_layer*"]}],
        }
    )  # fmt: skip
    changed = edited(PROJECT, "csrc/host_only.cpp", "3", "4")
    changed = edited(changed, "csrc/cpu/activation.cpp", "out = x", "out = y")
    changed = edited(changed, "csrc/norm.cu", "block_sum(in, n)", "block_sum(in, 2)")
    answer = touched(PROJECT, changed, config=config)
    # host_only.cpp leads to nothing, so its folder counts too; of that, silu is removed.
    assert operators(answer) == ["_C::gelu", "_C::rms_norm", "x::y"]
    assert flags(answer, "x::y") == ["configured"]
    assert reason(answer, "x::y") == ["csrc/host_only.cpp changed", "it picks the kernel"]
    assert files_to_run(answer) == {"tests/e.sh": 0, "tests/test_norm.py": 1}
    assert {f.file: f.flags for f in answer.files}["csrc/cpu/activation.cpp"] == ["ignored"]


def test_every_answer_has_its_reason_and_is_safe_to_print():
    path = "csrc/\x1b[31m\u202eevil.cu"
    changed = {**PROJECT, path: "void nobody() {}\n"}
    answer = touched(PROJECT, changed)
    assert all(operator.reason for operator in answer.operators)
    assert all(test.reason for test in answer.tests)
    text = as_text(answer)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "3 operators affected" in text
