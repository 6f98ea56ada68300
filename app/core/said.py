"""Sentences that can be said in several languages: a template with what stands in it.

The English template is the gettext message id. What stands in it is data of ours (numbers, dates,
names of rules) or somebody's words, which `text.markdown` or the page escapes where it is shown.
"""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

Value = str | int
_HOLE = re.compile(r"\{(\w{1,40})\}")


class Sentence(BaseModel):
    """A template and its values: `Sentence(id="{count} of them", values={"count": 5})`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    values: Mapping[str, Value] = {}

    def __str__(self) -> str:
        """In English, which pages and logs show."""
        return english(self)


Words = Callable[[Sentence], str]
"""Says a sentence in one language; in English where its catalogue does not have it."""

Catalogues = Callable[[str], Words]
"""The words of a language by its tag (`en`, `zh-CN`); English for one that there is none of."""


def say(id: str, /, **values: Value) -> Sentence:
    """A sentence. The first argument is a literal, from which the catalogues are extracted."""
    return Sentence(id=id, values=values)


def fill(template: str, values: Mapping[str, Value]) -> str:
    """A template with its values put in; `{name}` without a value stays as it is."""
    # In one go, so that nobody's words are taken for a template.
    return _HOLE.sub(lambda hole: str(values.get(hole[1], hole[0])), template)


def english(sentence: Sentence) -> str:
    """`Words` of English, and of every sentence that no catalogue has."""
    return fill(sentence.id, sentence.values)


def only_english(_: str) -> Words:
    """`Catalogues` of a process that writes to nobody."""
    return english


def _stored(value: Any) -> Any:
    # Decisions of the first release hold plain sentences.
    return {"id": value} if isinstance(value, str) else value


Said = Annotated[Sentence, BeforeValidator(_stored)]
