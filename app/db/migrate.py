"""Alembic without its command line: migrations run from wherever the package lies."""

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

import app


def _folder() -> Path:
    """`migrations/` of a checkout, or its copy inside an installed wheel."""
    package = Path(app.__file__).parent
    checkout = package.parent / "migrations"
    return checkout if (checkout / "env.py").exists() else package / "_migrations"


def config(database_url: str) -> Config:
    """Alembic's configuration for one database."""
    made = Config()
    made.set_main_option("script_location", str(_folder()).replace("%", "%%"))
    made.set_main_option("sqlalchemy.url", database_url.replace("%", "%%"))
    return made


def upgrade(database_url: str, revision: str = "head") -> None:
    """Brings the schema forward. A second caller waits for the first one (advisory lock)."""
    command.upgrade(config(database_url), revision)


def downgrade(database_url: str, revision: str) -> None:
    """Takes the schema back."""
    command.downgrade(config(database_url), revision)


def current(database_url: str) -> str | None:
    """The revision that the database is at."""
    engine = create_engine(database_url)
    try:
        with engine.connect() as connection:
            return MigrationContext.configure(connection).get_current_revision()
    finally:
        engine.dispose()


def head() -> str | None:
    """The revision that this code wants."""
    return ScriptDirectory.from_config(config("postgresql+psycopg://")).get_current_head()


def fits(revision: str | None) -> bool:
    """Whether this code can work on a schema at that revision.

    One that the code does not know is newer: during a deploy the old processes work on, since
    nothing is dropped before the release after.
    """
    return revision is not None and revision not in _older()


@cache
def _older() -> frozenset[str]:
    script = ScriptDirectory.from_config(config("postgresql+psycopg://"))
    known = {found.revision for found in script.walk_revisions()}
    return frozenset(known - {script.get_current_head()})
