"""`.github/pulsegate.yml` as text to a typed policy. Written by strangers: bounded and refused."""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pydantic_core
import yaml
from pydantic import BaseModel, ValidationError

from app.adapters.catalogues import languages
from app.adapters.patterns import LinearPatterns
from app.core.config import LANGUAGES, PATTERNS
from app.core.errors import UserError
from app.core.policy import LIMIT, PATH, Policy
from app.core.ports import Reading
from app.core.problems import Problem
from app.core.text import one_line

_DEPTH = 20
_LINEAR = LinearPatterns()
MOST_PROBLEMS = 20
# By pydantic's names of errors: https://docs.pydantic.dev/latest/errors/validation_errors/
_WORDS = {
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number, without quotes and without zeros before it",
    "int_parsing": "must be a whole number, without quotes and without zeros before it",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "string_type": "must be text; put it in quotes",
    "string_too_short": "must not be empty",
    "string_too_long": "must not be longer than {max_length} characters",
    "string_pattern_mismatch": "must look like {pattern}",
    "greater_than_equal": "must be {ge} or more",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be {le} or less",
    "less_than": "must be less than {lt}",
    "literal_error": "must be {expected}",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "too_long": "must not have more than {max_length} items",
    "too_short": "must have {min_length} items or more",
    "model_type": "must be a mapping, with keys of its own",
    "model_attributes_type": "must be a mapping, with keys of its own",
    "dict_type": "must be a mapping, with keys of its own",
    "missing": "is missing",
}
_Place = tuple[str | int, ...]


# What a plain value is in YAML 1.2 (https://yaml.org/spec/1.2.2/#103-core-schema). The library's own
# are of YAML 1.1, where 010 is eight, 1:30 is ninety, 1_0 is ten and `no` is false; here such values
# are text. A number with zeros before it is text as well: each version reads another one.
_PLAIN = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    "float": (r"[-+]?(?:0|[1-9][0-9]*)?\.[0-9]+(?:[eE][-+]?[0-9]+)?", list("-+0123456789.")),
}


class _OursError(yaml.composer.ComposerError):
    """What YAML allows and we do not."""


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


_Refuse.yaml_implicit_resolvers = {}
for _tag, (_form, _first) in _PLAIN.items():
    _Refuse.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_form})$"), _first)


def _refused(why: str, mark: yaml.Mark) -> yaml.YAMLError:
    return _OursError(None, None, why, mark)


class PolicyFiles:
    """`core.ports.Policies`."""

    def read(self, text: str, default: Mapping[str, Any] | None = None) -> Reading:
        """A file as a policy, laid over a default; never raises. See the port."""
        if len(text) > LIMIT or len(text.encode("utf-8", "replace")) > LIMIT:
            return _nothing(1, 1, "", f"the file is longer than {LIMIT} bytes")
        try:
            node, found = _yaml(text)
        except Exception as error:  # noqa: BLE001 - whatever the library does not foresee
            mark = getattr(error, "problem_mark", None)
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            why = one_line(str(getattr(error, "problem", None) or error))
            ours = isinstance(error, _OursError)
            return _nothing(line, column, "", why if ours else f"not valid YAML: {why}")
        places = dict(_places(node, ())) if node is not None else {}
        written = {} if found is None else found
        try:
            policy = _policy(written)
            if default:
                policy = self.combine(default, written)
            return Reading(policy=policy, written=pydantic_core.to_jsonable_python(written))
        except ValidationError as error:
            found = sorted(_problems(error, places), key=lambda p: (p.line, p.column))
            return Reading(problems=tuple(found))
        except UserError as error:
            return _nothing(1, 1, "", error.message)
        except Exception as error:  # noqa: BLE001 - a stranger's file must not stop the gate
            return _nothing(1, 1, "", f"it cannot be read: {one_line(str(error), 200)}")

    def combine(self, default: Mapping[str, Any] | None, own: Mapping[str, Any] | None) -> Policy:
        """The policy of what two files say; see the port."""
        try:
            return _policy(_over(default or {}, own or {}))
        except ValidationError as error:
            first = "; ".join(p.message for p in list(_problems(error, {}))[:3])
            raise UserError(
                f"{PATH} and the organisation's default do not fit together: {first}",
                hint="Write both keys in the same file.",
            ) from error


def parse_policy(text: str) -> Policy:
    """The policy that a file asks for; an empty file asks for the defaults.

    Raises `UserError` that names the places and what is wrong there.
    """
    reading = PolicyFiles().read(text)
    if reading.policy is None:
        raise UserError(reading.complaint(), hint="Mend the file and push.")
    return reading.policy


def _yaml(text: str) -> tuple[yaml.Node | None, Any]:
    loader = _Refuse(text)
    try:
        node = loader.get_single_node()
        # A subclass of SafeLoader: it builds plain values only.
        return node, None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


def _policy(found: Any) -> Policy:
    return Policy.model_validate(found, context={PATTERNS: _LINEAR, LANGUAGES: languages()})


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings are merged at every depth; lists and single values replace."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = _over(old, value)
        else:
            merged[key] = value
    return merged


def _nothing(line: int, column: int, key: str, message: str) -> Reading:
    # On one line and without NUL, which a key can hold and no database stores.
    problem = Problem(line=line, column=column, key=key, message=one_line(message))
    return Reading(problems=(problem,))


def _places(node: yaml.Node, place: _Place) -> Iterator[tuple[_Place, yaml.Mark]]:
    """Where each key and item stands."""
    yield place, node.start_mark
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                below = (*place, str(key.value))
                yield from _places(value, below)
                yield below, key.start_mark
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _places(item, (*place, index))


def _problems(error: ValidationError, places: Mapping[_Place, yaml.Mark]) -> Iterator[Problem]:
    for found in error.errors(include_input=False, include_url=False)[:MOST_PROBLEMS]:
        place = tuple(found["loc"])
        mark = next(
            (places[place[:n]] for n in range(len(place), -1, -1) if place[:n] in places), None
        )
        message = found["msg"].removeprefix("Value error, ")
        if found["type"] == "extra_forbidden":
            message = _unknown(place)
        elif found["type"] in _WORDS:
            message = _WORDS[found["type"]].format(**found.get("ctx", {}))
        yield Problem(
            line=mark.line + 1 if mark else 1,
            column=mark.column + 1 if mark else 1,
            key=one_line(".".join(map(str, place)) or "the file", 200),
            message=one_line(message),
        )


def _unknown(place: _Place) -> str:
    """An unknown key, with the nearest known one."""
    known = _known(place[:-1])
    near = difflib.get_close_matches(str(place[-1])[:50], known, 1)
    if near:
        return f"unknown key; did you mean {near[0]}?"
    return f"unknown key; known here: {', '.join(known)}" if known else "unknown key"


def _known(place: _Place) -> list[str]:
    """The keys that a mapping at a place may have."""
    model: Any = Policy
    for part in place:
        field = model.model_fields.get(part) if isinstance(part, str) else None
        kinds = [field.annotation, *getattr(field.annotation, "__args__", ())] if field else []
        model = next((k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), None)
        if model is None:
            return []
    return sorted(model.model_fields)
