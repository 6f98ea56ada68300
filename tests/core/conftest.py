"""Settings of the property tests: the same examples on every run under CI."""

import os

from hypothesis import settings

settings.register_profile("here", deadline=None, max_examples=100)
settings.register_profile(
    "ci", parent=settings.get_profile("here"), derandomize=True, print_blob=True
)
settings.load_profile("ci" if os.environ.get("CI") else "here")
