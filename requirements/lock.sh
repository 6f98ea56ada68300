#!/usr/bin/env bash
# Locks all dependencies anew, with hashes and without naming any index: bash requirements/lock.sh [UV]
# Extras stay in the lines, since pip with --require-hashes wants them there. dev.lock is first and
# the others follow it, so that one virtual environment can hold them all.
set -euo pipefail
cd "$(dirname "$0")/.."
uv=${1:-uv}
lock() {
  "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras \
    --no-emit-index-url --no-annotate --no-header "$@" pyproject.toml
}
lock --extra dev -o requirements/dev.lock
lock --extra service --constraints requirements/dev.lock -o requirements/service.lock
lock --extra build --constraints requirements/dev.lock -o requirements/build.lock
