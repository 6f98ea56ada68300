"""The JSON Schema of the configuration file, for editors and for other tools."""

from typing import Any

from app.core.policy import PATH, Policy

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """What a file may hold. It takes what the parser takes, but for what a pattern means."""
    made = Policy.model_json_schema(mode="validation")
    return {"$schema": DIALECT, "$id": "pulsegate.json", **made, "title": PATH}
