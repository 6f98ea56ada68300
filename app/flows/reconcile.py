"""Once a night: GitHub's open pull requests against ours, for what no delivery ever told."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.errors import Rejected
from app.core.events import Address
from app.core.facts import RepositoryRef
from app.core.github import PullRequest
from app.core.local import fit_local
from app.core.ports import AppApi, Doorbell, Policies, Reader
from app.db import cases, experience, inbox, installations, outbox
from app.db.engine import Database
from app.flows.housekeeping import end, existing
from app.flows.policy import Refresh

# A change this young has a delivery under way.
_YOUNG = timedelta(minutes=2)
_MOST_CLOSED = 500
# A task may take 90 seconds. What is left after so long is for the next one.
_ENOUGH = timedelta(seconds=50)


@dataclass(frozen=True)
class Reconcile:
    """Brings one installation in step: its repositories, then the pull requests of each."""

    database: Database
    reader: Reader
    app: AppApi
    doorbell: Doorbell
    policies: Policies
    clock: Callable[[], datetime]

    def run(self, installation_id: int) -> int:
        """Puts what was missed into the inbox; answers how many pull requests that were.

        Raises `RetryLater` where GitHub does not answer; what was found until then is kept.
        """
        begin = self.clock()
        if not self._installation(installation_id, begin):
            return 0
        with self.database.begin() as tx:
            left = installations.not_yet_reconciled(tx, installation_id)
        refresh = Refresh(self.database, self.reader, self.policies)
        if left:
            # Where the App is not installed on it, no delivery tells of the default.
            refresh.default(left[0], begin)
        found = 0
        for repository in left:
            now = self.clock()
            if now - begin > _ENOUGH:
                self.doorbell.ring("reconcile", installation_id)
                return found
            found += self._repository(repository, now)
            with self.database.begin() as tx:
                experience.keep(
                    tx, repository.id, fit_local(experience.outcomes(tx, repository.id, now)), now
                )
                installations.repository_reconciled(tx, repository.id, now)
        with self.database.begin() as tx:
            installations.reconciled(tx, installation_id, self.clock())
        return found

    def _installation(self, installation_id: int, now: datetime) -> bool:
        live = existing(self.app, installation_id)
        if live is None:
            end(self.database, self.app, installation_id, now)
            return False
        with self.database.begin() as tx:
            back = installations.suspended(tx, installation_id) and live.suspended_at is None
            installations.put_installation(tx, live, now)
            if back:
                outbox.wake_installation(tx, installation_id, now)
            if live.suspended_at is not None:
                installations.reconciled(tx, installation_id, now)
                return False
        listed = list(self.app.repositories(installation_id))
        with self.database.begin() as tx:
            installations.put_repositories(tx, installation_id, listed, now)
            known = installations.repositories_of(tx, installation_id)
            gone = {r.id for r in known} - {r.id for r in listed}
            installations.remove_repositories(tx, gone, now)
            for repository_id in gone:
                outbox.drop_of_repository(tx, repository_id, "the repository left", now)
        return True

    def _repository(self, repository: RepositoryRef, now: datetime) -> int:
        # Also for a push to the configuration that no delivery told of.
        Refresh(self.database, self.reader, self.policies).repository(repository, now)
        with self.database.begin() as tx:
            ours = cases.open_states(tx, repository.id)
        try:
            return self._pulls(repository, ours, now)
        except Rejected:
            # One repository that GitHub hides does not hold up the others.
            return 0

    def _pulls(self, repository: RepositoryRef, ours: dict[int, datetime], now: datetime) -> int:
        found = 0
        listed: set[int] = set()
        for pull in self.reader.open_pulls(repository):
            listed.add(pull.number)
            last = ours.get(pull.number)
            # One that nobody told of may have come while the installation was suspended.
            if last is None or (last < pull.updated_at < now - _YOUNG):
                found += self._missed(repository, pull, now)
        for number in sorted(set(ours) - listed)[:_MOST_CLOSED]:
            try:
                pull = self.reader.pull(repository, number)
            except Rejected:
                continue
            if pull.state == "closed":
                found += self._missed(repository, pull, now)
        return found

    def _missed(self, repository: RepositoryRef, pull: PullRequest, now: datetime) -> int:
        payload = {
            "action": "reconciled",
            "pull_request": pull.model_dump(mode="json"),
            "installation": {"id": repository.installation_id},
        }
        where = Address(
            action="reconciled",
            installation_id=repository.installation_id,
            repository_id=repository.id,
            pull_number=pull.number,
        )
        with self.database.begin() as tx:
            made = inbox.add(
                tx,
                source="reconcile",
                key=f"{repository.id}:{pull.number}:{pull.updated_at.isoformat()}:{pull.state}",
                event="pull_request",
                payload=payload,
                address=where,
                now=now,
            )
        if made is None:
            return 0
        self.doorbell.ring("triage", made)
        return 1
