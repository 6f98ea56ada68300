"""Which files are read at all, and as what."""

import posixpath
from enum import StrEnum
from functools import lru_cache


class Language(StrEnum):
    CPP = "cpp"  # C, C++, CUDA and HIP: one grammar reads them all
    PYTHON = "python"
    BUILD = "build"


_CPP_SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c", ".hip", ".mm", ".mu", ".maca", ".cce")
_CPP_HEADERS = (".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".muh", ".hip.h")
_BUILD_FILES = {
    "cmakelists.txt", "setup.py", "meson.build", "build", "build.bazel", "makefile", "xmake.lua",
}  # fmt: skip
_DEVICE = (".cu", ".cuh", ".hip", ".mu", ".muh", ".maca", ".cce")


@lru_cache(maxsize=100_000)
def language_of(path: str) -> Language | None:
    """By its name alone; None for what cannot say anything about operators."""
    name = posixpath.basename(path).lower()
    if name in _BUILD_FILES or name.endswith((".cmake", ".bzl", ".mk")):
        return Language.BUILD
    if name.endswith(".py"):
        return Language.PYTHON
    if name.endswith((*_CPP_SOURCES, *_CPP_HEADERS)):
        return Language.CPP
    return None


def is_source(path: str) -> bool:
    """Whether a build file may list it."""
    return path.lower().endswith(_CPP_SOURCES)


def is_header(path: str) -> bool:
    """Whether a C++ file is one that others include."""
    return path.lower().endswith(_CPP_HEADERS)


def is_device_source(path: str) -> bool:
    """Whether its name alone says that a GPU's or NPU's compiler reads it."""
    return path.lower().endswith(_DEVICE)


def is_test(path: str) -> bool:
    """Whether a test runner collects it: pytest's two patterns, and the same for C++."""
    stem, extension = posixpath.splitext(posixpath.basename(path))
    if extension == ".py" or extension in _CPP_SOURCES:
        return stem.startswith("test_") or stem.endswith("_test")
    return False


def in_test_folder(path: str) -> bool:
    """Whether it is a helper of tests: somewhere below a folder `test` or `tests`, or conftest."""
    return (
        bool({"test", "tests"} & set(path.split("/")[:-1]))
        or is_test(path)
        or path.endswith("conftest.py")
    )
