"""The base of all that is known."""

from pydantic import BaseModel, ConfigDict


class Fact(BaseModel):
    """Immutable, and a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
