"""Small trees of sources, given as text, and what a change of them touches."""

from collections.abc import Mapping
from textwrap import dedent

from app.kernels.affected.answer import Answer
from app.kernels.affected.assemble import assemble
from app.kernels.affected.changes import Changed
from app.kernels.affected.config import Config
from app.kernels.affected.facts import FileFacts, pack, unpack
from app.kernels.affected.index import Index
from app.kernels.affected.parsing import parse, reader_of
from app.kernels.affected.resolve import Trees, resolve

Tree = Mapping[str, str]


def facts(path: str, text: str, *, digests: bool = False) -> FileFacts:
    """A file's facts, once through their packed form."""
    found = parse(reader_of(path), dedent(text).encode(), lambda: False, digests=digests)
    assert unpack(pack(found)) == found
    return found


def index(tree: Tree) -> Index:
    return Index({path: facts(path, text) for path, text in tree.items() if reader_of(path)})


def touched(
    old: Tree, new: Tree, *, renamed: Mapping[str, str] | None = None, config: Config | None = None
) -> Answer:
    """What the change from one tree to another touches; `renamed`: new path → old path."""
    renamed = renamed or {}
    changes = []
    for path in sorted({*old, *new} - set(renamed.values())):
        before = renamed.get(path, path)
        if old.get(before) != new.get(path) or path != before:
            changes.append(Changed(path, before, _read(before, old), _read(path, new)))
    config = config or Config()
    trees = Trees(index(new), lambda: index(old))
    return assemble(resolve(changes, trees, config), trees, config)


def _read(path: str, tree: Tree) -> FileFacts | None:
    if path not in tree:
        return None
    return facts(path, tree[path], digests=True) if reader_of(path) else FileFacts()


def edited(tree: Tree, path: str, old: str, new: str) -> dict[str, str]:
    """The tree with one piece of text replaced, which must be there once."""
    assert tree[path].count(old) == 1
    return {**tree, path: tree[path].replace(old, new)}


def operators(answer: Answer, *, through: bool = False) -> list[str]:
    """Ids, without those that are only reached through another."""
    return sorted(o.operator for o in answer.operators if through or "through" not in o.flags)


def files_to_run(answer: Answer) -> dict[str, int]:
    return {test.test: test.distance for test in answer.tests}


# A project as most are: bindings apart from kernels, a CPU twin, wrappers and tests in Python.
PROJECT = {
    "csrc/bindings.cpp": """
        #include "ops.h"
        TORCH_LIBRARY_FRAGMENT(_C, ops) {
          ops.def("rms_norm(Tensor! out, Tensor x, float eps) -> ()");
          ops.impl("rms_norm", torch::kCUDA, &rms_norm);
          ops.def("silu(Tensor! out, Tensor x) -> ()");
          ops.impl("silu", torch::kCUDA, &silu);
          ops.def("gelu(Tensor! out, Tensor x) -> ()");
          ops.impl("gelu", torch::kCUDA, TORCH_BOX(&act::gelu));
        }
        """,
    "csrc/ops.h": """
        #pragma once
        void rms_norm(torch::Tensor& out, torch::Tensor& x, double eps);
        void silu(torch::Tensor& out, torch::Tensor& x);
        namespace act { void gelu(torch::Tensor& out, torch::Tensor& x); }
        """,
    "csrc/norm.cu": """
        #include "reduce.cuh"
        template <typename T>
        __global__ void rms_kernel(T* out, const T* in, int n) {
          out[0] = block_sum(in, n);
        }
        void rms_norm(torch::Tensor& out, torch::Tensor& x, double eps) {
          rms_kernel<float><<<1, 256, 0, stream()>>>(out.data_ptr<float>(), x.data_ptr<float>(), 4);
        }
        """,
    "csrc/reduce.cuh": """
        #pragma once
        #define WARP 32
        template <typename T>
        __device__ T block_sum(const T* in, int n) { return in[0] * WARP; }
        template <typename T>
        __device__ T block_max(const T* in, int n) { return in[0]; }
        """,
    "csrc/activation.cu": """
        #include "reduce.cuh"
        __device__ float silu_one(float x) { return x / (1.0f + expf(-x)); }
        __device__ float gelu_one(float x) { return x * 0.5f; }
        #define LAUNCH(KERNEL) run<KERNEL><<<1, 1>>>(out, x)
        void silu(torch::Tensor& out, torch::Tensor& x) { LAUNCH(silu_one); }
        namespace act {
        void gelu(torch::Tensor& out, torch::Tensor& x) { LAUNCH(gelu_one); }
        }
        """,
    "csrc/cpu/bindings.cpp": """
        TORCH_LIBRARY(_C, ops) {
          ops.def("silu(Tensor! out, Tensor x) -> ()", &silu);
        }
        """,
    "csrc/cpu/activation.cpp": """
        void silu(torch::Tensor& out, torch::Tensor& x) { out = x; }
        """,
    "csrc/host_only.cpp": "int version() { return 3; }\n",
    "CMakeLists.txt": """
        set(SOURCES
          "csrc/bindings.cpp"   # bindings
          "csrc/norm.cu" "csrc/activation.cu" "csrc/host_only.cpp")
        set(NORM_ARCHS "8.0;9.0")
        set(NORM_SOURCES "csrc/norm.cu")
        set_gencode_flags_for_srcs(SRCS "${NORM_SOURCES}" CUDA_ARCHS "${NORM_ARCHS}")
        include(cmake/cpu.cmake)
        """,
    "cmake/cpu.cmake": """
        set(CPU_SOURCES "csrc/cpu/bindings.cpp" "csrc/cpu/activation.cpp")
        """,
    "proj/__init__.py": "",
    "proj/_ops.py": """
        import torch

        def rms_norm(out, x, eps):
            torch.ops._C.rms_norm(out, x, eps)

        def silu(out, x):
            torch.ops._C.silu(out, x)
        """,
    "proj/layers.py": """
        import torch
        from proj import _ops as ops
        from .registry import CustomOp

        @CustomOp.register("norm")
        class Norm(torch.nn.Module):
            def forward(self, x):
                return ops.rms_norm(x, x, 1e-6)
        """,
    "proj/registry.py": "class CustomOp:\n    pass\n",
    "proj/model.py": """
        from proj.layers import Norm

        class Model:
            def __init__(self):
                self.norm = Norm()
        """,
    "proj/kernels.py": """
        import triton
        import triton.language as tl

        @triton.jit
        def helper(x):
            return x + 1

        @triton.autotune(configs=[], key=[])
        @triton.jit
        def scale_kernel(x, n: tl.constexpr):
            tl.store(x, helper(n))

        @triton.jit
        def other_kernel(x):
            tl.store(x, 2)

        def scale(x):
            scale_kernel[(1,)](x, 4)

        def other(x):
            other_kernel[(1,)](x)
        """,
    "proj/registered.py": """
        from proj.kernels import scale
        from proj.library import direct_register_custom_op

        def scaled(x):
            return scale(x)

        direct_register_custom_op(op_name="scaled", op_func=scaled)
        """,
    "proj/library.py": """
        from torch.library import Library

        lib = Library("proj", "FRAGMENT")

        def direct_register_custom_op(op_name, op_func):
            lib.define(op_name)
        """,
    "tests/test_norm.py": """
        from proj import _ops
        def test_norm():
            _ops.rms_norm(1, 2, 3)
        """,
    "tests/test_direct.py": """
        import torch
        def test_silu():
            torch.ops._C.silu(1, 2)
        """,
    "tests/test_layer.py": """
        from proj.layers import Norm
        def test_layer():
            Norm()
        """,
    "tests/test_model.py": """
        from proj.model import Model
        def test_model():
            Model()
        """,
    "tests/test_scale.py": """
        import torch
        from proj.kernels import scale
        def test_scale():
            scale(torch.ones(3))
        """,
    "tests/test_nothing.py": """
        # torch.ops._C.rms_norm is named in a comment alone
        def test_nothing():
            "torch.ops._C.rms_norm"
        """,
}
