"""Fixtures for tests that need a GitHub. Import them in a `conftest.py`."""

from collections.abc import Iterator

import pytest

from tests.fakes.emulate import Emulate
from tests.fakes.github import GitHub
from tests.fakes.loopback import Listener
from tests.fakes.node import require_package_in_ci


@pytest.fixture
def github() -> Iterator[GitHub]:
    """The stand-in. At the end, everything asked, answered and sent must have been GitHub-like.

    Without the npm package `@octokit/openapi` nothing is judged; under `CI=true` that fails.
    """
    require_package_in_ci("@octokit/openapi")
    with GitHub() as github:
        yield github
    if wrong := sorted({*github.violations, *github.check_webhooks()}):
        pytest.fail("not as GitHub describes it:\n" + "\n".join(wrong), pytrace=False)


@pytest.fixture
def emulate() -> Iterator[Emulate]:
    """The emulator behind its pass-through; skipped without Node."""
    with Emulate() as emulate:
        yield emulate


@pytest.fixture
def listener() -> Iterator[Listener]:
    """Somebody who takes webhooks."""
    with Listener() as listener:
        yield listener
