"""The flows over a real PostgreSQL, the real GitHub adapter and the stand-in, in one process."""

import secrets
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from app.adapters.catalogues import words
from app.adapters.crypto import Hasher
from app.adapters.github.app_api import GitHubAppApi
from app.adapters.github.client import AppCredentials
from app.adapters.github.client import GitHub as Connections
from app.adapters.github.reader import GitHubReader
from app.adapters.github.tokens import TokenStore
from app.adapters.github.writer import GitHubWriter
from app.adapters.mail.lists import InstalledLists
from app.adapters.minhash import MinHashes
from app.adapters.patterns import LinearPatterns
from app.adapters.policy_file import PolicyFiles
from app.core.cases import Means
from app.core.ports import Task
from app.core.proofs.mails import Mail
from app.db.engine import Database
from app.flows.intake import Incoming, accept
from app.flows.mailing import Mailing
from app.flows.perform import Perform
from app.flows.proving import Proving
from app.flows.reconcile import Reconcile
from app.flows.redeliver import Redeliver
from app.flows.simulate import Simulate
from app.flows.spending import Counted
from app.flows.sweep import Sweep
from app.flows.triage import Triage
from tests.fakes.github import GitHub
from tests.fakes.github.graphql import GRAPHQL_SCHEMA, schema
from tests.fakes.node import require_package
from tests.scorer import SCORER

if TYPE_CHECKING:
    from sqlalchemy import Engine


class Bell:
    """A doorbell whose rings a test carries out itself, in any order it likes."""

    def __init__(self) -> None:
        self.rings: deque[tuple[Task, int]] = deque()

    def ring(self, task: Task, id: int) -> None:
        self.rings.append((task, id))


@dataclass
class Box:
    """A mail server that keeps what it takes; a real one is in `tests/adapters/mail`."""

    taken: list[Mail]

    def send(self, mail: Mail, now: datetime, reference: str) -> None:
        self.taken.append(mail)


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def pass_(self, **by: float) -> None:
        self.ahead += timedelta(**by)


@dataclass
class Gate:
    """The whole service without web and broker: deliveries in, effects out."""

    github: GitHub
    database: Database
    bell: Bell
    clock: Clock
    triage: Triage
    perform: Perform
    sweep: Sweep
    redeliver: Redeliver
    reconcile: Reconcile
    simulate: Simulate
    mailing: Mailing
    proving: Proving
    box: list[Mail]
    reader: GitHubReader
    engine: "Engine"
    taken: int = 0
    ids: list[int] = field(default_factory=list)

    @property
    def world(self) -> Any:
        return self.github.world

    def policy(self, text: str, repo: str = "acme/widgets") -> None:
        """The configuration on the default branch; read when the first delivery comes."""
        self.world.repository(repo).files[".github/pulsegate.yml"] = text.encode()

    def deliver(self, *, order: Callable[[list[Any]], list[Any]] = lambda d: d) -> None:
        """Takes in what GitHub sent since the last call, in an order of the test's choice."""
        fresh = self.world.hooks.deliveries[self.taken :]
        self.taken = len(self.world.hooks.deliveries)
        for delivery in order(list(fresh)):
            self.take_in(delivery)

    def take_in(self, delivery: Any) -> None:
        incoming = Incoming(
            event=delivery.event,
            guid=delivery.guid,
            target=str(delivery.app.id),
            payload=delivery.payload,
        )
        accept(self.database, self.bell, incoming, self.clock())

    def work(self) -> None:
        """Carries out every ring, and what those ring for."""
        while self.bell.rings:
            task, id_ = self.bell.rings.popleft()
            {
                "triage": self.triage.run,
                "perform": self.perform.run,
                "reconcile": self.reconcile.run,
                "simulate": self.simulate.run,
                "mail": self.mailing.run,
            }[task](id_)

    def only_decide(self) -> None:
        """Takes in and decides; the effects wait, their bells lost."""
        self.deliver()
        while self.bell.rings:
            task, id_ = self.bell.rings.popleft()
            if task == "triage":
                self.triage.run(id_)

    def settle(self) -> None:
        """Deliveries and work until nothing comes any more, our own echoes included."""
        for _ in range(50):
            self.deliver()
            self.work()
            if self.taken == len(self.world.hooks.deliveries) and not self.bell.rings:
                return
        raise AssertionError("it never comes to rest")

    def sql(self, text: str, **more: Any) -> list[Any]:
        from sqlalchemy import text as sql

        with self.engine.begin() as connection:
            return list(connection.execute(sql(text), more).mappings())

    def state(self, number: int) -> str:
        """The case's state."""
        found = self.sql("SELECT state FROM cases WHERE number = :n", n=number)
        return found[0]["state"] if found else "unknown"

    def acts(self, number: int) -> dict[str, str]:
        """The last state of each kind of effect."""
        rows = self.sql("SELECT kind, state FROM outbox WHERE number = :n ORDER BY id", n=number)
        return {row["kind"]: row["state"] for row in rows}

    def writes(self, number: int | None = None) -> list[str]:
        """The writes that the stand-in saw, as `METHOD path`."""
        return [
            f"{r.method} {r.path}"
            for r in self.github.requests
            if r.method != "GET"
            and "access_tokens" not in r.path
            and r.path != "/graphql"  # a read
            and (number is None or f"/{number}" in r.path)
        ]


@pytest.fixture
def github() -> Iterator[GitHub]:
    require_package(GRAPHQL_SCHEMA)  # a decision reads some of its facts with GraphQL
    schema()  # half a second and more on a busy machine, which no request is to wait for
    with GitHub() as github:
        github.world.hooks.stop()
        yield github
        assert github.violations == []


@pytest.fixture
def patience() -> float:
    """Seconds that the gate waits for the stand-in: enough on a machine that is busy otherwise."""
    return 15


@pytest.fixture
def gate(github: GitHub, engine: "Engine", database_url: str, patience: float) -> Iterator[Gate]:
    database = Database(database_url, pool_size=8)
    app = github.world.app
    credentials = AppCredentials(
        app_id=app.id,
        private_key=app.private_key_pem,
        client_id=app.client_id,
        client_secret=app.client_secret,
        slug=app.slug,
    )
    connections = Connections(
        credentials,
        TokenStore(None, seal=str, unseal=str),
        api_url=github.api_url,
        timeout=patience,
        sleep=lambda _: None,
    )
    reader = GitHubReader(connections.installation)
    writer = GitHubWriter(connections.installation, app_id=app.id, bot_login=credentials.bot_login)
    api = GitHubAppApi(connections)
    bell, clock = Bell(), Clock()
    means = Means(
        patterns=LinearPatterns(),
        site="https://gate.example",
        catalogues=words,
        verify="https://gate.example/verify",
    )
    box: list[Mail] = []
    hasher = Hasher(["k" * 40])
    made = Gate(
        github=github,
        database=database,
        bell=bell,
        clock=clock,
        triage=Triage(
            database=database,
            reader=Counted(reader),
            app=api,
            scorer=SCORER,
            doorbell=bell,
            policies=PolicyFiles(),
            means=means,
            sketcher=MinHashes(),
            app_login=lambda: credentials.bot_login,
            clock=clock,
        ),
        perform=Perform(
            database=database,
            reader=reader,
            writer=writer,
            catalogues=words,
            clock=clock,
            lease=timedelta(seconds=30),
        ),
        sweep=Sweep(database=database, doorbell=bell, clock=clock),
        redeliver=Redeliver(database=database, app=api, target=lambda: str(app.id), clock=clock),
        reconcile=Reconcile(
            database=database,
            reader=reader,
            app=api,
            doorbell=bell,
            policies=PolicyFiles(),
            clock=clock,
        ),
        simulate=Simulate(
            database=database, reader=reader, scorer=SCORER, means=means, clock=clock
        ),
        reader=reader,
        engine=engine,
        mailing=Mailing(
            database=database, sender=Box(box), open=bytes, keyed=hasher.keyed_hash, clock=clock
        ),
        proving=Proving(
            database=database,
            lists=InstalledLists(),
            keyed=hasher.keyed_hash,
            seal=bytes,
            random=secrets.token_bytes,
            catalogues=words,
            site="https://gate.example",
            clock=clock,
        ),
        box=box,
    )
    yield made
    connections.close()
    database.close()
