"""`.github/pulsegate.yml` as text to a typed policy. Written by strangers: bounded and refused."""

from typing import Any

import yaml
from pydantic import ValidationError

from app.adapters.patterns import LinearPatterns
from app.core.config import PATTERNS
from app.core.errors import UserError
from app.core.policy import LIMIT, PATH, Policy
from app.core.text import one_line

_DEPTH = 20
_LINEAR = LinearPatterns()


class _Refuse(yaml.SafeLoader):
    """A loader with a bounded depth, without tags, and without aliases, which can fill the memory.

    A key that stands twice is refused as well: YAML lets the last one win, and says nothing.
    """

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise self._refused("aliases (*name) are not allowed here")
        if getattr(self.peek_event(), "tag", None) is not None:  # type: ignore[no-untyped-call]
            # Nothing here needs one, and the library fails in many ways on values that do not fit.
            raise self._refused("tags (!name) are not allowed here")
        self.depth += 1
        if self.depth > _DEPTH:
            raise self._refused("nested too deeply")
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        made = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in made.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise _refused(f"the key {key.value} stands here twice", key.start_mark)
                seen.add(key.value)
        return made

    def _refused(self, why: str) -> yaml.YAMLError:
        return _refused(why, self.peek_event().start_mark)  # type: ignore[no-untyped-call]


def _refused(why: str, mark: yaml.Mark) -> yaml.YAMLError:
    return yaml.composer.ComposerError(None, None, why, mark)


def parse_policy(text: str) -> Policy:
    """The policy that a file asks for; an empty file asks for the defaults.

    Raises `UserError` that names the place and what is wrong there.
    """
    if len(text) > LIMIT:
        raise UserError(f"{PATH} is longer than {LIMIT} characters", hint="Shorten it.")
    try:
        # A subclass of SafeLoader: it builds plain values only.
        found = yaml.load(text, Loader=_Refuse)  # noqa: S506
    except Exception as error:  # whatever the library does not foresee, the file is at fault
        raise UserError(
            f"{PATH} is not valid YAML: {_place(error)}", hint="Mend it and push."
        ) from error
    try:
        return Policy.model_validate({} if found is None else found, context={PATTERNS: _LINEAR})
    except ValidationError as error:
        raise UserError(
            f"{PATH} is not understood: {_problems(error)}",
            hint="The last good version stays in force until it is mended.",
        ) from error


def _place(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    # On one line and without NUL, which a key can hold and no database stores.
    return one_line(f"{where}{getattr(error, 'problem', None) or error}")


def _problems(error: ValidationError) -> str:
    found = error.errors(include_input=False, include_url=False)[:5]
    parts = (f"{'.'.join(map(str, e['loc'])) or 'the file'}: {e['msg']}" for e in found)
    return one_line("; ".join(parts), 1000)
