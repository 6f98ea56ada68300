"""The JSON Schema of the configuration file, for editors and for other tools."""

from typing import Any

from app.core.modes import Mode
from app.core.policy import PATH, Policy

DIALECT = "https://json-schema.org/draft/2020-12/schema"


_MODES = [mode.word for mode in Mode]


def _in_words(node: Any) -> Any:
    """The schema with modes as they are written, also where they are defaults."""
    if isinstance(node, list):
        return [_in_words(one) for one in node]
    if not isinstance(node, dict):
        return node
    made = {key: _in_words(value) for key, value in node.items()}
    if made.get("enum") == _MODES and isinstance(made.get("default"), int):
        made["default"] = Mode(made["default"]).word
    return made


def schema() -> dict[str, Any]:
    """What a file may hold. It takes what the parser takes, but for what a pattern means."""
    made = _in_words(Policy.model_json_schema(mode="validation"))
    return {"$schema": DIALECT, "$id": "pulsegate.json", **made, "title": PATH}
