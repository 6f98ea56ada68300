"""The migrations on a database of their own, beside the one that the other tests use."""

from collections.abc import Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from app.adapters.embedded import EmbeddedServers
from app.db import migrate
from app.db.tables import metadata


@pytest.fixture
def empty_url(servers: EmbeddedServers) -> Iterator[str]:
    admin = create_engine(servers.database_url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text("create database migrations"))
    yield servers.database_url.replace("/postgres?", "/migrations?")
    with admin.connect() as connection:
        connection.execute(text("drop database migrations with (force)"))
    admin.dispose()


def test_up_is_what_the_tables_say_and_down_is_nothing(empty_url: str):
    migrate.upgrade(empty_url)
    engine = create_engine(empty_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []
    assert migrate.current(empty_url) == migrate.head()
    migrate.upgrade(empty_url)  # a second deploy finds nothing to do
    migrate.downgrade(empty_url, "base")
    assert set(inspect(engine).get_table_names()) == {"alembic_version"}
    migrate.upgrade(empty_url)
    assert "cases" in inspect(engine).get_table_names()
    engine.dispose()


def test_one_by_one_down_and_up_again(empty_url: str):
    migrate.upgrade(empty_url)
    while migrate.current(empty_url) is not None:
        before = migrate.current(empty_url)
        migrate.downgrade(empty_url, "-1")
        migrate.upgrade(empty_url, "+1")
        assert migrate.current(empty_url) == before
        migrate.downgrade(empty_url, "-1")


def test_which_schemas_this_code_works_on():
    assert migrate.fits(migrate.head())
    assert migrate.fits("one-of-a-newer-release")
    assert not migrate.fits(None)
    assert not migrate.fits("0001")
