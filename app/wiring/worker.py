"""The parts of a worker process: every flow, connected to the GitHub App as it is now."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import cast

from app.adapters.catalogues import words
from app.adapters.github.absent import NoGitHub
from app.adapters.github.app_api import GitHubAppApi
from app.adapters.github.client import GitHub
from app.adapters.github.reader import GitHubReader
from app.adapters.github.writer import GitHubWriter
from app.adapters.minhash import MinHashes
from app.adapters.model import load
from app.adapters.patterns import LinearPatterns
from app.adapters.policy_file import PolicyFiles
from app.adapters.queue import CeleryDoorbell
from app.core.cases import Means
from app.core.ports import AppApi, Doorbell, Reader, Writer
from app.flows.judge import Changes
from app.flows.mailing import Mailing
from app.flows.perform import Perform
from app.flows.reconcile import Reconcile
from app.flows.redeliver import Redeliver
from app.flows.simulate import Simulate
from app.flows.spending import Counted
from app.flows.sweep import Sweep
from app.flows.triage import Triage
from app.settings import Settings
from app.wiring.base import Base
from app.wiring.mail import sender


@dataclass(frozen=True)
class Flows:
    """The verbs of a worker."""

    triage: Triage
    perform: Perform
    sweep: Sweep
    redeliver: Redeliver
    reconcile: Reconcile
    simulate: Simulate
    mailing: Mailing


class WorkerParts:
    """Built once in each worker process, after the fork."""

    def __init__(
        self,
        settings: Settings,
        *,
        doorbell: Doorbell | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.base = Base(settings, pool_size=3)
        self._clock = clock
        self._doorbell = doorbell or CeleryDoorbell(self.base.redis_url)
        self._github: GitHub | None = None
        self._flows: Flows | None = None
        self._scorer = load().scorer()

    def flows(self) -> Flows:
        """The flows, made anew when the App's credentials changed.

        Raises `RetryLater` where the database or GitHub does not answer.
        """
        github = self.base.github()
        if self._flows is None or github is not self._github:
            self._flows = self._build(github)
            self._github = github
        return self._flows

    def without_github(self, recorded: Changes) -> Flows:
        """The flows where there is no GitHub to ask, whatever is configured.

        `recorded`: what a recording says of changes.
        """
        absent = NoGitHub()
        return self._wire(absent, absent, absent, None, None, recorded)

    def _build(self, github: GitHub | None) -> Flows:
        absent = NoGitHub()
        reader: Reader = absent
        writer: Writer = absent
        app: AppApi = absent
        login: str | None = None
        target: str | None = None
        if github is not None:
            api = GitHubAppApi(github)
            credentials = github.credentials
            if not credentials.slug:
                credentials = replace(credentials, slug=api.identity().slug)
            app, reader = api, GitHubReader(github.installation)
            login, target = credentials.bot_login, str(credentials.app_id)
            writer = GitHubWriter(github.installation, app_id=credentials.app_id, bot_login=login)
        return self._wire(reader, writer, app, login, target, {})

    def _wire(  # noqa: PLR0913 - what flows need of GitHub
        self,
        reader: Reader,
        writer: Writer,
        app: AppApi,
        login: str | None,
        target: str | None,
        recorded: Changes,
    ) -> Flows:
        database, bell, clock = self.base.database, self._doorbell, self._clock
        site = self.base.settings.public_url
        settings = self.base.settings
        mail = settings.mail_inbound is not None or settings.smtp_url is not None
        verify = f"{site.rstrip('/')}/verify" if mail else ""
        means = Means(patterns=LinearPatterns(), site=site, verify=verify, catalogues=words)
        return Flows(
            triage=Triage(
                database=database,
                # A process of the pool runs one task at a time.
                reader=cast("Reader", Counted(reader)),
                app=app,
                scorer=self._scorer,
                doorbell=bell,
                policies=PolicyFiles(),
                means=means,
                sketcher=MinHashes(),
                app_login=lambda: login,
                clock=clock,
                recorded=recorded,
            ),
            perform=Perform(
                database=database,
                reader=reader,
                writer=writer,
                catalogues=words,
                clock=clock,
                lease=timedelta(seconds=self.base.settings.effect_lease_seconds),
            ),
            sweep=Sweep(
                database=database,
                doorbell=bell,
                clock=clock,
                ring_again=timedelta(seconds=self.base.settings.ring_again_seconds),
                site=site,
            ),
            redeliver=Redeliver(database=database, app=app, target=lambda: target, clock=clock),
            reconcile=Reconcile(
                database=database,
                reader=reader,
                app=app,
                doorbell=bell,
                policies=PolicyFiles(),
                clock=clock,
            ),
            simulate=Simulate(
                database=database, reader=reader, scorer=self._scorer, means=means, clock=clock
            ),
            mailing=Mailing(
                database=database,
                sender=sender(self.base.settings),
                open=self.base.vault.open,
                keyed=self.base.hasher.keyed_hash,
                clock=clock,
            ),
        )

    def close(self) -> None:
        """Closes every connection."""
        self.base.close()
