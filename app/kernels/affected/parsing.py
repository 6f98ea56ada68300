"""From a file's name and bytes to its facts."""

import posixpath
from collections.abc import Callable

from app.kernels.affected import build_files, grammars, parse_cpp, parse_python
from app.kernels.affected.cpp_conditionals import variants
from app.kernels.affected.facts import UNREAD, FileFacts
from app.kernels.affected.languages import Language, language_of

LARGEST = 600_000  # bytes; the largest file of vLLM 0.33.0 that matters has 334 kB


def reader_of(path: str) -> str:
    """How a file is read, in a word: part of the key under which its facts are kept."""
    language = language_of(path)
    if language is Language.BUILD:
        name = posixpath.basename(path).lower()
        return "cmake" if name == "cmakelists.txt" or name.endswith(".cmake") else "lines"
    return language.value if language else ""


def parse(
    reader: str, source: bytes, out_of_time: Callable[[], bool], *, digests: bool = False
) -> FileFacts:
    """The facts of one file; `UNREAD` if it is too large or takes too long.

    With `digests`, symbols and the rest can be compared with those of another version of the file.
    """
    if len(source) > LARGEST:
        return UNREAD
    if reader in {"cmake", "lines"}:
        return build_files.parse(source, is_cmake=reader == "cmake")
    try:
        if reader == Language.PYTHON:
            tree = grammars.tree(grammars.PYTHON, source, out_of_time)
            return parse_python.parse(tree.root_node, source, digests=digests)
        trees = [grammars.tree(grammars.CPP, source, out_of_time)]
        if trees[0].root_node.has_error:
            texts = variants(source)
            trees = [grammars.tree(grammars.CPP, text, out_of_time) for text in texts]
    except grammars.TooSlow:
        return UNREAD
    return parse_cpp.parse([tree.root_node for tree in trees], source, digests=digests)
