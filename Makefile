# Every target sets up what it needs on a machine with Python 3.11+ and make, and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One process per core, up to what the embedded servers of the tests are comfortable with.
JOBS ?= 2
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq

.DEFAULT_GOAL := help
.PHONY: help run test setup lint bench lock clean

help:  ## Show this list.
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 14

run: $(VENV)/.service  ## Run Pulsegate with its own PostgreSQL and Valkey; Ctrl-C stops it.
	@$(BIN)/pulsegate up

setup: $(VENV)/.dev  ## Make .venv with everything, locked.
	@echo "$(VENV) is ready; $(BIN)/pulsegate is the command line"

test: $(VENV)/.dev tests/e2e/node_modules/.package-lock.json  ## Run all tests, import contracts included.
	@$(BIN)/lint-imports
	@$(BIN)/pytest -n $(JOBS) $(ARGS)

lint: $(VENV)/.dev  ## Check style, types and import contracts.
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(VENV)/.dev  ## Measure the budgets of the design; see bench/.
	@for file in bench/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

lock: $(VENV)/.dev  ## Lock all dependencies anew; needs uv.
	@bash requirements/lock.sh

clean:  ## Remove what the targets made; the data in .pulsegate/ stays.
	rm -rf $(VENV) tests/e2e/node_modules .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

# A virtual environment that a newer or other Python left unusable is made again.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Pulsegate needs Python 3.11 or newer, and '$(PYTHON)' is not that." >&2; \
	  echo "  what to do: install one, or name it: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make virtual environments." >&2; \
	  echo "  what to do: on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "making $(VENV) …"
	@$(PYTHON) -m venv --clear $(VENV)

# The service first, so that `make run` stands soon; what tests and lint need comes on top of it.
$(VENV)/.service: pyproject.toml requirements/service.lock requirements/build.lock | $(BIN)/python
	@echo "installing the service (half a minute) …"
	@$(PIP) install --no-compile --require-hashes -r requirements/service.lock -r requirements/build.lock
	@# On all cores, and without the 20 MB of schemas of which next to nothing is imported.
	@$(BIN)/python -m compileall -qq -j 0 -x '/(githubkit_schemas|pip|setuptools)/' $(VENV)/lib || true
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.service
	@echo "installing what tests and checks need …"
	@$(PIP) install --require-hashes -r requirements/dev.lock
	@touch $@

# Node comes from the machine or from a wheel; where neither is, the tests that need it skip and say so.
tests/e2e/node_modules/.package-lock.json: tests/e2e/package-lock.json $(VENV)/.dev
	@$(BIN)/python -m tests.fakes.node
