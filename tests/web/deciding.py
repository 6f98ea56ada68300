"""Pull requests with decisions, stored by the same functions as the workers'."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

from app.adapters.patterns import LinearPatterns
from app.core.cases import Means, decide
from app.core.decision import Decision
from app.core.facts import Facts, Opened, RepositoryRef, Role
from app.core.github import Account, Branch, Installation, PullRequest, RepositoryName
from app.core.modes import Mode
from app.core.policy import Policy
from app.db import cases, installations, outbox
from app.db.engine import Database
from tests.scorer import SCORER

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
DEMO, REAL = 7_000_001, 51_000_000

MEANS = Means(patterns=LinearPatterns())


@dataclass
class Decided:
    """Writes into one database. `ids` counts up."""

    database: Database
    ids: count = field(default_factory=lambda: count(900))

    def repository(
        self,
        full_name: str,
        *,
        id: int | None = None,
        recorded: bool = False,
        private: bool = False,
    ) -> RepositoryRef:
        """A repository with the App on it, or one of a recording."""
        installation = DEMO if recorded else REAL
        made = id or next(self.ids)
        owner, _, name = full_name.partition("/")
        with self.database.begin() as tx:
            installations.put_installation(
                tx,
                Installation(id=installation, account=Account(id=1, login=owner)),
                NOON - timedelta(days=30),
                {"roles": {}} if recorded else None,
            )
            named = RepositoryName(id=made, full_name=full_name, private=private)
            installations.put_repositories(tx, installation, [named], NOON - timedelta(days=30))
        return RepositoryRef(id=made, installation_id=installation, owner=owner, name=name)

    def pull(
        self,
        repository: RepositoryRef,
        number: int,
        *,
        title: str = "A title",
        author: Account | None = None,
        at: datetime = NOON,
        flood: int = 0,
        mode: Mode = Mode.OBSERVE,
        role: Role = Role.READ,
        ref: str = "branch",
    ) -> Decision:
        """Sees and decides one; `flood` of its author's others were opened around the same time."""
        author = author or Account(id=5000 + number, login=f"person-{number}")
        pull = PullRequest(
            id=number, number=number, state="open", title=title, user=author,
            created_at=at, updated_at=at,
            head=Branch(ref=ref, sha="a" * 40), base=Branch(ref="main", sha="b" * 40),
        )  # fmt: skip
        others = tuple(Opened(number=10**6 + i, at=at + timedelta(seconds=i)) for i in range(flood))
        facts = Facts(
            pull=pull,
            role=role,
            opened=(Opened(number=number, at=at), *others),
            installed_at=NOON - timedelta(days=30),
        )
        with self.database.begin() as tx:
            cases.see(tx, repository.id, pull, 0)
            row = cases.get(tx, repository.id, number)
            score = SCORER.of(facts)
            decision = decide(
                row.case, facts, score, Policy(mode=mode), "default", at, means=MEANS, force=True
            )
            cases.save(tx, row.case, decision)
            outbox.add_all(
                tx, case_id=row.case.id, number=number, repository=repository, decision=decision,
                now=at,
            )  # fmt: skip
        return decision

    def flood(
        self, repository: RepositoryRef, size: int, *, first: int = 100, **more: object
    ) -> None:
        """`size` pull requests by one account, ten seconds apart."""
        author = Account(id=4242, login="zephyr")
        for i in range(size):
            at = NOON + timedelta(seconds=10 * i)
            self.pull(
                repository,
                first + i,
                title=f"Improve file {i}",
                author=author,
                at=at,
                flood=6,
                **more,
            )
