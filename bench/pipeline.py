"""Intake, decision and sweep in this process, over a real PostgreSQL; nothing is asked of GitHub."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

import lab  # noqa: F401 - makes `app` importable
from sqlalchemy import create_engine, text

from app.adapters.github.absent import NoGitHub
from app.adapters.minhash import MinHashes
from app.adapters.model import load
from app.adapters.patterns import LinearPatterns
from app.adapters.policy_file import PolicyFiles, parse_policy
from app.core.cases import Means
from app.db.engine import Database
from app.flows.replay import Replay, Rings
from app.flows.sweep import Sweep
from app.flows.triage import Triage


class Clock:
    """Time that the bench moves."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


class Pipeline:
    """What a recording goes through, delivery by delivery, and what forgets it later."""

    def __init__(self, database_url: str, clock: Callable[[], datetime]) -> None:
        self.database = Database(database_url)
        self.rings = Rings()
        absent = NoGitHub()
        self.triage = Triage(
            database=self.database,
            reader=absent,
            app=absent,
            scorer=load().scorer(),
            doorbell=self.rings,
            policies=PolicyFiles(),
            means=Means(patterns=LinearPatterns()),
            sketcher=MinHashes(),
            app_login=lambda: None,
            clock=clock,
        )
        self.sweep = Sweep(database=self.database, doorbell=self.rings, clock=clock)
        self._engine = create_engine(database_url)

    def replay(self, lines: Iterable[str]) -> int:
        """Everything through; how many deliveries that were."""
        flow = Replay(self.database, self.triage, self.rings, parse_policy, {})
        return sum(1 for _ in flow.run(lines))

    def troubles(self) -> int:
        """Rows of the inbox that failed, could not be read, or were never handled."""
        with self._engine.connect() as tx:
            return int(
                tx.execute(
                    text(
                        "SELECT count(*) FROM inbox WHERE handled_at IS NULL"
                        " OR last_error IS NOT NULL OR outcome LIKE 'ignored%'"
                    )
                ).scalar_one()
            )

    def close(self) -> None:
        """Closes every connection."""
        self._engine.dispose()
        self.database.close()
