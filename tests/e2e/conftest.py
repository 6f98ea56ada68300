"""What tests of the whole need: a folder that the embedded servers may use, rows as they are."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sqlalchemy import Engine


@pytest.fixture
def folder(state_folder: Path) -> Path:
    """An empty folder, of which the helper user of an embedded PostgreSQL may pass the parents."""
    made = Path(tempfile.mkdtemp(dir=state_folder))
    made.chmod(0o755)
    return made


@pytest.fixture
def sql(engine: "Engine") -> Callable[..., list[dict[str, Any]]]:
    """Rows of the test's database; it is emptied afterwards."""
    from sqlalchemy import text

    def ask(statement: str, **more: Any) -> list[dict[str, Any]]:
        with engine.begin() as connection:
            return [dict(row) for row in connection.execute(text(statement), more).mappings()]

    return ask
