"""Intake, decision and sweep in this process, over a real PostgreSQL; nothing is asked of GitHub."""

from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

import lab  # noqa: F401 - makes `app` importable
from sqlalchemy import create_engine, text

from app.adapters.github.absent import NoGitHub
from app.adapters.policy_file import parse_policy
from app.core.ports import Task
from app.core.scoring import RuleScorer
from app.db.engine import Database
from app.flows.replay import Replay
from app.flows.sweep import Sweep
from app.flows.triage import Triage


class Clock:
    """Time that the bench moves."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


class Bell:
    """Rings that the bench carries out itself."""

    def __init__(self) -> None:
        self.rings: deque[tuple[Task, int]] = deque()

    def ring(self, task: Task, id: int) -> None:
        """See `Doorbell`."""
        self.rings.append((task, id))


class Pipeline:
    """A recording is decided delivery by delivery, with what each decision asks to be decided anew."""

    def __init__(self, database_url: str, clock: Callable[[], datetime]) -> None:
        self.database = Database(database_url)
        self.bell = Bell()
        absent = NoGitHub()
        self.triage = Triage(
            database=self.database,
            reader=absent,
            app=absent,
            scorer=RuleScorer(),
            doorbell=self.bell,
            parse_policy=parse_policy,
            app_login=lambda: None,
            clock=clock,
        )
        self.sweep = Sweep(database=self.database, doorbell=self.bell, clock=clock)
        self._engine = create_engine(database_url)

    def replay(self, lines: Iterable[str], every: Callable[[], None] = lambda: None) -> int:
        """Everything through; how many deliveries that were. `every` is called after each."""
        count = 0
        for _ in Replay(self.database, self.triage, parse_policy).run(lines):
            while self.bell.rings:
                task, id_ = self.bell.rings.popleft()
                if task == "triage":
                    self.triage.run(id_)
            count += 1
            every()
        return count

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
