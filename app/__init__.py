"""Pulsegate: a gate for pull requests that asks whether somebody is there."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("pulsegate")
except PackageNotFoundError:  # a checkout that was never installed
    __version__ = "0+checkout"
