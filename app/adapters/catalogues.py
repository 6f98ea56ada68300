"""What the gate writes, in other languages: gettext catalogues, read as they are."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from babel.messages.pofile import read_po

from app.core.said import Sentence, Words, english, fill

LOCALE = Path(__file__).parent.parent / "locale"
DOMAIN = "pulsegate.po"
_HOLES = re.compile(r"\{\w+\}")


def words(tag: str) -> Words:
    """`core.said.Catalogues`: the exact language, else its language without the region, else English."""
    for name in (tag.replace("-", "_"), tag.partition("-")[0]):
        catalogue = _catalogue(name) if re.fullmatch(r"\w{2,12}", name) else None
        if catalogue is not None:
            return _Translated(catalogue)
    return english


@cache
def languages() -> tuple[str, ...]:
    """The tags of all languages that there are words of, English first."""
    found = sorted(path.parent.parent.name for path in LOCALE.glob(f"*/LC_MESSAGES/{DOMAIN}"))
    return ("en", *(name.replace("_", "-") for name in found))


class _Translated:
    def __init__(self, catalogue: Mapping[str, str]) -> None:
        self._catalogue = catalogue

    def __call__(self, sentence: Sentence) -> str:
        return fill(self._catalogue.get(sentence.id, sentence.id), sentence.values)


@cache
def _catalogue(name: str) -> Mapping[str, str] | None:
    """The translations of a language that can be used; None where there is no such catalogue."""
    path = LOCALE / name / "LC_MESSAGES" / DOMAIN
    if not path.is_file():
        return None
    with path.open("rb") as file:
        found = read_po(file, locale=name)
    return {
        str(message.id): str(message.string)
        for message in found
        if message.id
        and message.string
        and not message.fuzzy
        # One that lost a number would say less than the English.
        and sorted(_HOLES.findall(str(message.id))) == sorted(_HOLES.findall(str(message.string)))
    }
