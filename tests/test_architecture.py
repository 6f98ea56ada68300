"""The architecture is a test: the import contracts of pyproject.toml hold."""

import subprocess
import sys
from pathlib import Path

import pytest


def test_import_contracts(root):
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint, "--no-cache"], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    "module", ["app.cli", "app.core.cases", "app.kernels", "app.runner", "app.wiring.kernels"]
)
def test_base_install_is_enough_for(root, module):
    """What a runner has imports with pydantic and typer alone."""
    code = (
        f"import sys, {module}\n"
        "heavy = {'sqlalchemy', 'fastapi', 'celery', 'redis', 'githubkit', 'httpx', 'psycopg', 'structlog',"
        " 'pydantic_settings', 'psutil', 'sklearn', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_web_process_holds_no_model_of_the_score(root):
    code = (
        "import sys, app.web.app, app.wiring.web\n"
        "models = {'app.adapters.model', 'app.core.fused', 'app.core.textmodel', 'app.core.trees',"
        " 'app.core.accountmodel', 'sklearn', 'numpy', 'pyarrow'}\n"
        "print(sorted(models & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
