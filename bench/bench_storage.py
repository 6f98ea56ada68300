"""What a flood of pull requests takes in the database, and what retention gives back.

Budget: 10,000 pull requests take less than 200 MB. Deliveries of GitHub's own shape (22 kB) with
varied titles and bodies go through intake and decision in this process, in observe mode, by
accounts that all open bursts: each is flagged, with every effect recorded. So many as `--count` are
measured, and the figures are scaled to 10,000. `--echoes` adds what GitHub tells us of our own
acts where the gate closes them: a label, a comment, a check run and the close.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from lab import Flood, Line, begin, servers, table
from pipeline import Clock, Pipeline
from sqlalchemy import Engine, create_engine, text

from tests.fakes.github import GitHub

BUDGET_MB = 200
FLOOD = 10_000
MB = 1_000_000


def recording(count: int, accounts: int, *, echoes: bool) -> Iterator[str]:
    """Lines of a recording: PRs three seconds apart, by so many accounts in turn."""
    with GitHub(judge=False) as github:
        flood = Flood(github)
        names = flood.accounts(accounts)
        start = datetime.now(UTC) - timedelta(seconds=3 * count + 60)
        world, bot = github.world, github.world.app.bot
        for n in range(count):
            now = start + timedelta(seconds=3 * n)
            world.clock = lambda now=now: now
            sent = len(world.hooks.deliveries)
            flood.opened(names[n % accounts])
            if echoes:
                _echo(github, bot)
            for delivery in flood.since(sent):
                yield json.dumps(
                    {
                        "at": now.isoformat(),
                        "event": delivery.event,
                        "guid": delivery.guid,
                        "payload": delivery.payload,
                    }
                )


def _echo(github: GitHub, bot: object) -> None:
    """What the App's acts on the newest pull request make GitHub tell."""
    world = github.world
    repository = world.repository()
    pull = next(reversed(repository.pulls.values()))
    login = bot.login  # type: ignore[attr-defined]
    world.users.setdefault(login.lower(), bot)
    world.label(pull.number, "needs-verification", by=login)
    world.comment(pull.number, "This pull request is being closed for now. " * 20, by=login)
    world.close_pull(pull.number, by=login)


def size(engine: Engine) -> int:
    with engine.connect() as tx:
        return int(tx.execute(text("SELECT pg_database_size(current_database())")).scalar_one())


def tables(engine: Engine, count: int) -> None:
    """What each table takes of it, with its indexes and what is stored out of line."""
    with engine.connect() as tx:
        rows = tx.execute(
            text(
                """
                SELECT c.relname, pg_relation_size(c.oid) AS rows, pg_indexes_size(c.oid) AS indexes,
                    pg_total_relation_size(c.oid) - pg_relation_size(c.oid)
                        - pg_indexes_size(c.oid) AS apart
                FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'public' AND c.relkind = 'r'
                ORDER BY pg_total_relation_size(c.oid) DESC LIMIT 5
                """
            )
        )
        print(f"  {'kB for each pull request':<24} {'rows':>8} {'indexes':>8} {'apart':>8}")
        for row in rows:
            kb = [part / count / 1000 for part in (row.rows, row.indexes, row.apart)]
            print(f"    {row.relname:<22} {kb[0]:>8.2f} {kb[1]:>8.2f} {kb[2]:>8.2f}")


def vacuum(engine: Engine) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as tx:
        tx.execute(text("VACUUM (ANALYZE)"))
        tx.execute(text("CHECKPOINT"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1500, help="pull requests to measure")
    parser.add_argument("--accounts", type=int, default=20, help="accounts that open them")
    parser.add_argument("--echoes", action="store_true", help="with GitHub's word of our own acts")
    options = parser.parse_args()
    begin(f"storage: {options.count:,} pull requests by {options.accounts} accounts, observe mode")
    clock = Clock()
    with servers() as running:
        engine = create_engine(running.database_url)
        pipeline = Pipeline(running.database_url, clock)
        vacuum(engine)
        empty, begun = size(engine), time.monotonic()
        lines = recording(options.count, options.accounts, echoes=options.echoes)
        deliveries = pipeline.replay(lines)
        seconds = time.monotonic() - begun
        vacuum(engine)
        full = size(engine)
        tables(engine, options.count)
        troubles = pipeline.troubles()
        clock.ahead += timedelta(days=8)
        while pipeline.sweep.forget():
            pass
        vacuum(engine)
        forgotten = size(engine)
        tables(engine, options.count)
        pipeline.close()
        engine.dispose()
    scale = FLOOD / options.count / MB
    took, kept = (full - empty) * scale, (forgotten - empty) * scale
    table(
        [
            Line("deliveries a second, one process", deliveries / seconds, ""),
            Line(f"MB for {FLOOD:,}, scaled", took, "MB", BUDGET_MB),
            Line("… once retention took the payloads, after VACUUM", kept, "MB", took),
            Line("rows with an error or left waiting", troubles, "", 0),
        ]
    )
    if troubles:
        sys.exit("deliveries failed")


if __name__ == "__main__":
    main()
