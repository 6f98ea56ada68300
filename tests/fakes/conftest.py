"""The fixtures of this folder's own tests."""

from tests.fakes.fixtures import emulate, github, listener

__all__ = ["emulate", "github", "listener"]
