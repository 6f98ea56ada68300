"""The fixtures of this folder's own tests."""

from collections.abc import Iterator

import httpx
import pytest

from tests.fakes.fixtures import emulate, github, listener
from tests.fakes.github import GitHub
from tests.fakes.loopback import client

__all__ = ["emulate", "github", "listener"]


@pytest.fixture
def anonymous(github: GitHub) -> Iterator[httpx.Client]:
    """A visitor of the stand-in."""
    with client(github.api_url, timeout=5) as anonymous:
        yield anonymous


@pytest.fixture
def api(github: GitHub) -> Iterator[httpx.Client]:
    """The App's installation at the stand-in."""
    with client(github.api_url, github.installation_token(), timeout=5) as api:
        yield api
