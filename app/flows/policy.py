"""The policy in force in a repository: its own file over the organisation's default.

Both are read from default branches only. Of each the last good one stays in force, and where GitHub
does not answer nothing changes: an error is no reason to fall back on any default.
"""

from dataclasses import dataclass
from datetime import datetime

from app.core.audit import Entry, Place
from app.core.errors import Rejected, UserError
from app.core.facts import RepositoryRef
from app.core.ports import Policies, PolicyFile, Reader
from app.core.text import clean
from app.db import audit, configurations, installations
from app.db.engine import Database, Tx

# Where an organisation or user keeps what holds for all its repositories.
DEFAULTS = ".github"
CONFLICT = "two files"
_DIGITS = 12


@dataclass(frozen=True)
class Refresh:
    """What reading configurations needs of the world."""

    database: Database
    reader: Reader
    policies: Policies

    def repository(self, repository: RepositoryRef, now: datetime) -> None:
        """Reads a repository's file anew, and the default where it was never read.

        Raises `RetryLater` where GitHub does not answer; nothing changes then.
        """
        with self.database.begin() as tx:
            known = configurations.default_of(tx, repository.installation_id)
        if not known.was_read:
            self.default(repository, now)
        with self.database.begin() as tx:
            had = configurations.own(tx, repository.id).sha is not None
        try:
            found = self.reader.policy_file(repository)
            if found is None and had:
                self.reader.require(repository)
        except Rejected as error:
            self._failed(repository, error.reason, now)
            return
        reading = self.policies.read(found.text) if found else None
        if reading is not None and reading.policy is None:
            self._failed(repository, reading.complaint(), now)
            return
        own = reading.written if reading else None
        with self.database.begin() as tx:
            sha = found.sha if found else None
            if configurations.keep_own(tx, repository.id, own, sha, now):
                self._in_force(tx, repository, now)

    def default(self, repository: RepositoryRef, now: datetime) -> None:
        """Reads the default of a repository's owner anew, and puts it in force everywhere.

        Raises `RetryLater` where GitHub does not answer; nothing changes then.
        """
        where = repository.model_copy(update={"name": DEFAULTS})
        with self.database.begin() as tx:
            had = configurations.default_of(tx, repository.installation_id).sha is not None
        found, error = self._found(where, had=had)
        reading = self.policies.read(found.text) if found else None
        if reading is not None and reading.policy is None:
            error = f"{where.full_name}: {reading.complaint()}"
        with self.database.begin() as tx:
            if error:
                configurations.default_failed(tx, repository.installation_id, clean(error), now)
                return
            written, sha = (reading.written, found.sha) if reading and found else (None, None)
            configurations.keep_default(tx, repository.installation_id, written, sha, now)
            for one in installations.repositories_of(tx, repository.installation_id):
                own = configurations.own(tx, one.id)
                # Of a file that was never good nobody knows what it asks for.
                if own.was_read and (own.sha is not None or not own.failed):
                    self._in_force(tx, one, now)

    def _found(self, where: RepositoryRef, *, had: bool) -> tuple[PolicyFile | None, str]:
        try:
            found = self.reader.policy_file(where)
            if found is None and had:
                self.reader.require(where)
            return found, ""
        except Rejected as error:
            return None, f"{where.full_name}: {error.reason}"

    def _in_force(self, tx: Tx, repository: RepositoryRef, now: datetime) -> None:
        """Puts in force what both files say together, if they fit."""
        own = configurations.own(tx, repository.id)
        default = configurations.default_of(tx, repository.installation_id)
        try:
            policy = self.policies.combine(default.text, own.text)
        except UserError as error:
            why = f"{CONFLICT}: {clean(error.message)}"
            configurations.policy_failed(tx, repository.id, why, now)
            return
        place = Place(installation_id=repository.installation_id, repository_id=repository.id)
        configurations.forget_conflict(tx, repository.id, CONFLICT)
        shas = [written.sha[:_DIGITS] for written in (own, default) if written.sha]
        version = "+".join(shas) or "default"
        if configurations.put_policy(tx, repository.id, policy if shas else None, version):
            changed = Entry(
                at=now,
                act="policy.in_force",
                policy_version=version,
                detail={"mode": policy.mode.word},
            )
            audit.note(tx, place, changed)

    def _failed(self, repository: RepositoryRef, why: str, now: datetime) -> None:
        place = Place(installation_id=repository.installation_id, repository_id=repository.id)
        with self.database.begin() as tx:
            configurations.policy_failed(tx, repository.id, clean(why), now)
            audit.note(tx, place, Entry(at=now, act="policy.refused"))
