"""The grammars, and parsing within a time limit."""

from collections.abc import Callable

import tree_sitter_cuda
import tree_sitter_python
from tree_sitter import Language as Grammar
from tree_sitter import Parser, Point, Tree

CPP = Grammar(tree_sitter_cuda.language())
PYTHON = Grammar(tree_sitter_python.language())
_CHUNK = 1 << 16  # bytes


class TooSlow(Exception):
    """The parser was stopped; the file may be made to be slow."""


def tree(grammar: Grammar, source: bytes, out_of_time: Callable[[], bool]) -> Tree:
    """Parse, asking now and then whether to give up; `TooSlow` if so."""
    parser = Parser(grammar)

    def read(offset: int, _: Point) -> bytes:
        return source[offset : offset + _CHUNK]

    def stop(_: int, __: bool) -> bool:
        return out_of_time()

    try:
        return parser.parse(read, progress_callback=stop)
    except ValueError:  # its one error: parsing was stopped
        raise TooSlow from None
