"""Keeps the gettext catalogues current with the sentences that the code says.

python -m ops.words           # writes app/locale/pulsegate.pot and updates each catalogue
python -m ops.words --check   # exits with 1 where they are not current
"""

import ast
import io
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from app.adapters.catalogues import DOMAIN, LOCALE

APP = LOCALE.parent
TEMPLATE = LOCALE / "pulsegate.pot"
# Times and blanks to fill in, which nobody reads and which change with every run.
_LEFT_OUT = (
    *('"POT-Creation-Date', '"PO-Revision-Date', '"Generated-By', '"Report-Msgid-Bugs-To'),
    *('"Last-Translator', '"Language-Team', "# FIRST AUTHOR", "# Copyright"),
)


def said(source: Path) -> Iterator[tuple[str, int]]:
    """The literal first argument of each `say(…)`, with its line. SyntaxError for any other."""
    for node in ast.walk(ast.parse(source.read_text(), str(source))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
            first = node.args[0] if node.args else None
            if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
                raise SyntaxError(f"{source}:{node.lineno}: say() takes a literal first")
            yield first.value, node.lineno


def template() -> Catalog:
    """All that the code says."""
    made = Catalog(project="Pulsegate", charset="utf-8", fuzzy=False)
    for source in sorted(APP.rglob("*.py")):
        for sentence, _ in said(source):
            # Without line numbers, which would change with every edit of a file.
            made.add(sentence, locations=[(str(source.relative_to(APP.parent)), None)])
    return made


def written(catalogue: Catalog) -> str:
    """As a file, without times, which would change with every run."""
    out = io.BytesIO()
    write_po(out, catalogue, width=0, omit_header=False, sort_output=True, include_lineno=False)
    lines = out.getvalue().decode().splitlines()
    kept = [line for line in lines if not line.startswith(_LEFT_OUT)]
    return "\n".join(kept).rstrip() + "\n"


def pages() -> dict[Path, str]:
    """Each file with its text as it should be."""
    current = template()
    made = {TEMPLATE: written(current)}
    for path in sorted(LOCALE.glob(f"*/LC_MESSAGES/{DOMAIN}")):
        with path.open("rb") as file:
            catalogue = read_po(file, locale=path.parent.parent.name)
        catalogue.update(current, no_fuzzy_matching=True)
        catalogue.obsolete.clear()
        made[path] = written(catalogue)
    return made


def main() -> None:
    """Writes or checks."""
    check = "--check" in sys.argv[1:]
    for path, text in pages().items():
        if check and (not path.exists() or path.read_text() != text):
            sys.exit(f"{path} is not current; run: python -m ops.words")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


if __name__ == "__main__":
    main()
