"""Fitted numbers that come with the package: read once, refused where they do not fit."""

from functools import cache
from pathlib import Path

from pydantic import ValidationError

from app.core.errors import UserError
from app.core.proofs.latency import Bands

_APP = Path(__file__).resolve().parents[1]
# In an installed package they lie within it, in a checkout beside it.
_PLACES = (_APP / "_models", _APP.parent / "models")


@cache
def latency_bands() -> Bands:
    """`models/latency.json`. `UserError` where it is not there or does not fit."""
    file = next((p / "latency.json" for p in _PLACES if (p / "latency.json").exists()), None)
    if file is None:
        raise UserError("models/latency.json is missing", hint="Install the package anew.")
    try:
        return Bands.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise UserError(
            f"{file} cannot be used: {str(error)[:200]}",
            hint="Take the file of this version, or fit it anew: python bench/fit_latency.py --data DIR",
        ) from None
