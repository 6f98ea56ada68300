"""The migrations on a real PostgreSQL, in a database of their own."""

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import OperationalError

from app.core.proofs.challenge import Challenge
from app.db.migrate import current, downgrade, fits, head, upgrade
from app.db.tables import metadata

DUE = "2026-12-02 12:00:00+00:00"
LOCK = {"key": 0x70756C7365}


@pytest.fixture
def url(database_url: str) -> Iterator[str]:
    """An empty database beside the one of the session."""
    name = f"migrations_{uuid.uuid4().hex[:12]}"
    admin = create_engine(database_url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield make_url(database_url).set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.fixture
def fresh(url: str) -> Iterator[Engine]:
    engine = create_engine(url)
    yield engine
    engine.dispose()


def tables(engine: Engine) -> set[str]:
    return set(inspect(engine).get_table_names())


def test_up_down_and_up_again(url: str, fresh: Engine) -> None:
    made = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    counts = []
    for _ in range(2):
        assert current(url) is None
        upgrade(url)
        assert current(url) == head()
        assert tables(fresh) == {*metadata.tables, "alembic_version"}
        downgrade(url, "base")
        assert tables(fresh) == {"alembic_version"}
        with fresh.connect() as connection:
            counts.append(connection.scalar(text(made)))
    assert counts == [2, 2], "alembic_version and its index, nothing else"


def test_the_migrations_make_what_the_code_expects(url: str, fresh: Engine) -> None:
    upgrade(url)
    with fresh.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, metadata) == []


def test_indexes_are_those_that_the_code_expects(url: str, fresh: Engine) -> None:
    """What Alembic does not compare: the conditions of partial indexes, the order of columns."""
    query = text(
        "SELECT tablename, indexname, regexp_replace(indexdef, '^.* USING', '') AS def"
        " FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version' ORDER BY 2"
    )
    upgrade(url)
    with fresh.connect() as connection:
        migrated = connection.execute(query).all()
    downgrade(url, "base")
    metadata.create_all(fresh)
    with fresh.connect() as connection:
        assert connection.execute(query).all() == migrated


def test_a_second_upgrade_waits_and_both_succeed(
    url: str, fresh: Engine, wait_for: Callable[..., None], root: Path
) -> None:
    waiting = text(
        "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database"
        " WHERE locktype = 'advisory' AND NOT granted AND d.datname = current_database()"
    )
    code = "import sys\nfrom app.db.migrate import upgrade\nupgrade(sys.argv[1])"

    def both_wait() -> bool:
        assert [d.poll() for d in deploys] == [None, None]
        with fresh.connect() as connection:
            return connection.scalar(waiting) == 2

    with fresh.connect() as holder:
        holder.execute(text("SELECT pg_advisory_lock(:key)"), LOCK)
        deploys = [
            subprocess.Popen([sys.executable, "-c", code, url], cwd=root, stderr=subprocess.PIPE)
            for _ in range(2)
        ]
        try:
            wait_for(both_wait, "both wait for the lock")
            assert tables(fresh) == set()
            holder.execute(text("SELECT pg_advisory_unlock(:key)"), LOCK)
            said = [deploy.communicate(timeout=60)[1] for deploy in deploys]
        finally:
            for deploy in deploys:
                deploy.kill()
                deploy.communicate()
    assert ([d.returncode for d in deploys], said) == ([0, 0], [b"", b""])
    assert current(url) == head()
    assert tables(fresh) == {*metadata.tables, "alembic_version"}


def test_waits_are_bounded(url: str) -> None:
    found: dict[str, str] = {}

    def look(connection: Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if not found and "CREATE TABLE inbox" in statement:
            for name in ("lock_timeout", "statement_timeout"):
                found[name] = connection.exec_driver_sql(f"SHOW {name}").scalar_one()

    event.listen(Engine, "before_cursor_execute", look)
    try:
        upgrade(url)
    finally:
        event.remove(Engine, "before_cursor_execute", look)
    assert found == {"lock_timeout": "5s", "statement_timeout": "5min"}


def test_a_migration_that_cannot_have_its_lock_fails_whole(url: str, fresh: Engine) -> None:
    upgrade(url)
    with fresh.connect() as reader:
        reader.execute(text("LOCK TABLE inbox IN ACCESS SHARE MODE"))
        with pytest.raises(OperationalError, match="lock timeout"):
            downgrade(url, "base")
    assert current(url) is not None
    assert "inbox" in tables(fresh)
    upgrade(url)
    assert current(url) == head()
    assert tables(fresh) == {*metadata.tables, "alembic_version"}


def test_one_by_one_down_and_up_again(url: str) -> None:
    upgrade(url)
    while (before := current(url)) is not None:
        downgrade(url, "-1")
        upgrade(url, "+1")
        assert current(url) == before
        downgrade(url, "-1")


def test_which_schemas_this_code_works_on() -> None:
    assert fits(head())
    assert fits("one-of-a-newer-release")
    assert not fits(None)
    assert not fits("0001")


def test_questions_that_stood_before_challenges_were_kept_stand_after(
    url: str, fresh: Engine
) -> None:
    upgrade(url, "0013")
    with fresh.begin() as tx:
        tx.execute(
            text(
                "INSERT INTO installations (id, account_id, account_login, installed_at)"
                " VALUES (1, 1, 'acme', now())"
            )
        )
        tx.execute(
            text(
                "INSERT INTO repositories (id, installation_id, owner, name, installed_at)"
                " VALUES (1, 1, 'acme', 'widgets', now())"
            )
        )
        for number, acted in ((1, "NULL"), (2, "'2026-12-01T13:00Z'"), (3, "'2026-12-01T11:00Z'")):
            tx.execute(
                text(
                    "INSERT INTO cases (repository_id, number, author_id, snapshot, opened_at,"
                    " updated_at, pull_state, question_at, question_hours, question_comment_id,"
                    " author_at, asked_at, first_answer_at)"
                    " VALUES (1, :n, 7, '{}', now(), now(), 'open', '2026-12-01T12:00Z', 24, 5,"
                    f" {acted}, now(), now())"
                ),
                {"n": number},
            )
    upgrade(url)
    with fresh.connect() as tx:
        rows = tx.execute(text("SELECT challenge, state FROM challenges ORDER BY case_id")).all()
        found = [Challenge.model_validate(row.challenge) for row in rows]
        assert [one.state for one in found] == ["asked", "answered", "asked"]
        assert [row.state for row in rows] == ["asked", "answered", "asked"]
        assert [str(one.due) for one in found] == [DUE, "None", DUE]
        assert tx.scalar(text("SELECT count(*) FROM answers")) == 3
    downgrade(url, "0013")
    with fresh.connect() as tx:
        asked = tx.execute(text("SELECT question_at, question_hours FROM cases ORDER BY id")).all()
        assert [row.question_hours for row in asked] == [24, 0, 24]
