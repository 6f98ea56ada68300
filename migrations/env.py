"""How Alembic reaches the database: bounded waits, one deploy at a time."""

from alembic import context
from sqlalchemy import create_engine, pool, text

from app.db.tables import metadata

# "pulsegate" as a number: the advisory lock that a second deploy waits for.
_LOCK = 0x70756C7365


def run() -> None:
    """Runs the wanted migrations in one transaction each, under the lock."""
    url = context.config.get_main_option("sqlalchemy.url")
    engine = create_engine(str(url), poolclass=pool.NullPool)
    with engine.connect() as connection:
        connection.execute(text(f"SELECT pg_advisory_lock({_LOCK})"))
        # A migration that waits for a lock makes everybody behind it wait too; better fail and retry.
        connection.execute(text("SET lock_timeout = '5s'"))
        connection.execute(text("SET statement_timeout = '300s'"))
        connection.commit()
        context.configure(
            connection=connection, target_metadata=metadata, transaction_per_migration=True
        )
        with context.begin_transaction():
            context.run_migrations()
        connection.execute(text(f"SELECT pg_advisory_unlock({_LOCK})"))
        connection.commit()
    engine.dispose()


run()
