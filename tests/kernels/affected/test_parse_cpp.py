"""C++ and CUDA: what is defined, registered, included."""

from app.kernels.affected.facts import Flag, Kind
from app.kernels.affected.languages import language_of
from tests.kernels.affected.trees import facts


def kinds(text, path="a.cu"):
    return {symbol.name: symbol.kind for symbol in facts(path, text).symbols}


def registered(text):
    return [
        (r.namespace, r.name, r.how, r.targets, r.in_place)
        for r in facts("b.cpp", text).registrations
    ]


def test_every_kind_of_definition():
    text = """
    #define SQUARE(x) ((x) * (x))
    #define N 4
    constexpr int kWarps = 4;
    struct Params { int n; float eps; };
    using Half = __half;
    enum Mode { A, B };
    template <typename T, int K> struct Vec { T v[K]; };
    template <typename T> __global__ void __launch_bounds__(256) kernel(T* x) { x[0] = N; }
    namespace a::b { inline float* host(int n) { return SQUARE(n); } }
    extern "C" { void c_function() { kernel<float><<<1, 2, 0, s>>>(x); } }
    void later(int n);
    void ns::Class::method() { kWarps; }
    """
    assert kinds(text) == {
        "SQUARE": Kind.MACRO,
        "N": Kind.MACRO,
        "kWarps": Kind.VALUE,
        "Params": Kind.TYPE,
        "Half": Kind.TYPE,
        "Mode": Kind.TYPE,
        "Vec": Kind.TYPE,
        "kernel": Kind.FUNCTION,
        "host": Kind.FUNCTION,
        "c_function": Kind.FUNCTION,
        "later": Kind.DECLARATION,
        "method": Kind.FUNCTION,
    }


def test_a_kernel_launch_uses_the_kernel():
    found = facts("a.cu", "void f() { k<float, 8><<<g, b, 0, s>>>(p); }")
    assert {"k", "g", "b", "s", "p"} <= set(found.symbols[0].uses)
    assert Flag.ERRORS not in found.flags


def test_what_no_other_file_can_use_is_local():
    text = "static void a() {}\nnamespace { void b() {} }\nvoid c() {}"
    assert kinds(text) == {"a": Kind.LOCAL, "b": Kind.LOCAL, "c": Kind.FUNCTION}


def test_a_brace_that_each_branch_opens():
    text = """
    #ifdef __gfx9__
    template <int N> __global__ void kernel(int* x) {
    #else
    template <int N> __global__ void kernel(int* x, int n) {
    #endif
      x[0] = 1;
    }
    #if A
    int only_first() { return 1; }
    #elif B
    int only_second() { return 1; }
    #else
    int only_last() { return 2; }
    #endif
    void after(int* x) { kernel<1><<<1, 1>>>(x); }
    """
    found = kinds(text)
    assert found["kernel"] is found["after"] is Kind.FUNCTION
    assert {"only_first", "only_last"} <= set(found)
    assert Flag.ERRORS not in facts("a.cu", text).flags


def test_registrations_of_torch():
    text = """
    #define TORCH_EXTENSION_NAME _moe_C
    TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, m) {
      m.def(
          "topk("
          "Tensor x) -> Tensor");
      m.impl("topk", torch::kCUDA, &ns::topk);
      m.def("plain", plain);
      m.def("lambda(int x) -> int", [](int64_t x) { return x; });
    }
    TORCH_LIBRARY_FRAGMENT(CONCAT(TORCH_EXTENSION_NAME, _extra), extra) {
      extra.def("sum(Tensor x) -> Tensor");
    }
    STABLE_TORCH_LIBRARY_IMPL(_C, CUDA, m) {
      m.impl("boxed", TORCH_BOX(&boxed));
      m.impl("other::function", TORCH_FN(function));
    }
    """
    assert registered(text) == [
        ("_moe_C", "topk", "define", (), False),
        ("_moe_C", "topk", "implement", ("ns::topk",), False),
        ("_moe_C", "plain", "define", ("plain",), False),
        ("_moe_C", "lambda", "define", (), True),
        ("_moe_C_extra", "sum", "define", (), False),
        ("_C", "boxed", "implement", ("boxed",), False),
        ("other", "function", "implement", ("function",), False),
    ]


def test_registrations_of_pybind():
    text = """
    PYBIND11_MODULE(ext, m) {
      m.def("first", &first, "help").def("second", &second);
    }
    """
    assert sorted(registered(text)) == [
        ("ext", "first", "pybind", ("first",), False),
        ("ext", "second", "pybind", ("second",), False),
    ]


def test_a_call_of_def_elsewhere_is_no_registration():
    assert registered('void f() { x.def("name", &y); }') == []


def test_a_new_registration_leaves_the_rest_as_it_is():
    one = 'TORCH_LIBRARY(a, m) { m.def("x() -> ()"); }'
    two = 'TORCH_LIBRARY(a, m) { m.def("x() -> ()");\n  // new\n  m.def("y() -> ()"); }'
    assert facts("b.cpp", one, digests=True).rest == facts("b.cpp", two, digests=True).rest


def test_names_put_together_are_flagged():
    assert Flag.PASTED in facts("a.cu", "#define MAKE(x) kernel_##x\n").flags


def test_includes():
    text = '#include "a/b.h"\n#include <cuda.h>\n#ifdef X\n#include "c.cuh"\n#endif\n'
    assert facts("a.cu", text).includes == ("a/b.h", "cuda.h", "c.cuh")


def test_what_is_read_as_what():
    read = {
        "a.cu": "cpp",
        "b/c.CUH": "cpp",
        "d.py": "python",
        "CMakeLists.txt": "build",
        "x/cpu.cmake": "build",
        "setup.py": "build",
        "e.txt": None,
        "py": None,
    }
    assert {path: language_of(path) for path in read} == read
