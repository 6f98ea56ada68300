"""The scorer that ships, loaded once for all tests."""

from app.adapters.model import load

SCORER = load().scorer()
