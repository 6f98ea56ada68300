"""Stimuli that concern no single pull request: installations, repositories, people, policy."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from app.core import render
from app.core.errors import Rejected, RetryLater
from app.core.events import (
    Address,
    CheckRunEvent,
    Event,
    InstallationEvent,
    InstallationRepositoriesEvent,
    IssueEvent,
    MemberEvent,
    MergeGroupEvent,
    PushEvent,
    RepositoryEvent,
    Unread,
)
from app.core.github import Installation
from app.core.modes import Mode
from app.core.policy import PATH
from app.core.ports import AppApi, Doorbell, Policies, Reader, Task
from app.db import cases, inbox, installations, neighbours, outbox, people
from app.db.engine import Database, Tx
from app.db.inbox import Stimulus
from app.flows.evidence import event_of
from app.flows.policy import DEFAULTS, Refresh

Ring = list[tuple[Task, int]]


# What may make an issue an accepted one, or end that.
_ISSUE_TURNS = {
    *("assigned", "unassigned", "labeled", "unlabeled", "closed", "reopened"),
    *("deleted", "transferred"),
}
NO_INSTALLATION = "left: unknown installation"


def _moves_policy(event: Event) -> bool:
    """Whether another configuration file may count from now on."""
    if isinstance(event, PushEvent) and event.repository is not None:
        to_default = event.ref == f"refs/heads/{event.repository.default_branch}"
        return to_default and event.touches(PATH)
    # Another default branch, or a repository that takes the name of the defaults.
    return isinstance(event, RepositoryEvent) and event.action in {"edited", "renamed"}


def learn(database: Database, app: AppApi, event: Event, now: datetime) -> bool:
    """Makes up for an `installation` delivery that never came, from what GitHub says now.

    False where GitHub knows of no such installation of our App: nobody can do anything there.
    """
    if event.installation_id is None or event.repository is None:
        return True
    with database.begin() as tx:
        known = installations.installation_known(tx, event.installation_id)
    if not known:
        found = existing(app, event.installation_id)
        if found is None:
            return False
        with database.begin() as tx:
            installations.put_installation(tx, found, now)
    with database.begin() as tx:
        since = installations.installed_at(tx, event.installation_id) or now
        installations.put_repository(tx, event.installation_id, event.repository, since)
    return True


def existing(app: AppApi, installation_id: int) -> Installation | None:
    """The installation as GitHub has it now; None where there is none (any more)."""
    try:
        return app.installation(installation_id)
    except Rejected as error:
        if error.status != 404:
            raise
        return None


def end(database: Database, app: AppApi, installation_id: int, now: datetime) -> None:
    """The App was uninstalled: its token is dropped, and what waits for it stops."""
    app.forget(installation_id)
    with database.begin() as tx:
        end_within(tx, installation_id, now)


def end_within(tx: Tx, installation_id: int, now: datetime) -> None:
    """The part of `end` that is a transaction's."""
    installations.end_installation(tx, installation_id, now)
    outbox.drop_of_installation(tx, installation_id, "the App was uninstalled", now)


def ended_unheard(
    database: Database, app: AppApi, installation_id: int, error: Exception, now: datetime
) -> bool:
    """Whether a read failed because the App was uninstalled and nobody told us; records that.

    A 404 alone says little, so that GitHub is asked. False where it does not answer.
    """
    if not isinstance(error, Rejected) or error.status != 404:
        return False
    try:
        if existing(app, installation_id) is not None:
            return False
    except (RetryLater, Rejected):
        return False
    end(database, app, installation_id, now)
    return True


@dataclass(frozen=True)
class Housekeeping:
    """Keeps what we know of installations and repositories in step with GitHub."""

    database: Database
    reader: Reader
    app: AppApi
    doorbell: Doorbell
    policies: Policies
    clock: Callable[[], datetime]

    def run(self, inbox_id: int) -> None:
        """Handles one row; a failure leaves it in the inbox with a later due time."""
        now = self.clock()
        with self.database.begin() as tx:
            row = inbox.pending(tx, inbox_id, now)
        if row is None:
            return
        event = event_of(row)
        try:
            known = self._before(event, now)
            with self.database.begin() as tx:
                applied = self._apply(tx, row, event, now) if known else (NO_INSTALLATION, [])
                outcome, rings = applied
                if outcome:
                    inbox.handled(tx, [row.id], outcome, now)
        except (RetryLater, Rejected) as error:
            after = error.after if isinstance(error, RetryLater) else None
            with self.database.begin() as tx:
                inbox.put_off(tx, [row], error.reason, self.clock(), after)
            return
        except Exception as error:
            with self.database.begin() as tx:
                inbox.put_off(tx, [row], f"fault: {error!r}", self.clock())
            raise
        for task, id_ in rings:
            self.doorbell.ring(task, id_)

    def _before(self, event: Event, now: datetime) -> bool:
        """What needs the network, done before the transaction that records it.

        False where GitHub knows of no such installation.
        """
        if isinstance(event, InstallationEvent) and event.action != "created":
            self.app.forget(event.installation.id)
        if not isinstance(event, PushEvent | MemberEvent | MergeGroupEvent | RepositoryEvent):
            return True
        if event.repository is None or event.installation_id is None:
            return True
        with self.database.begin() as tx:
            standing = installations.standing(tx, event.repository.id)
        if standing is not None and standing.recorded:
            return True
        moved = standing is None or standing.repository.installation_id != event.installation_id
        if moved and event.action != "deleted":
            if not learn(self.database, self.app, event, now):
                return False
            with self.database.begin() as tx:
                standing = installations.standing(tx, event.repository.id)
        if standing is None or standing.gone or not _moves_policy(event):
            return True
        refresh = Refresh(self.database, self.reader, self.policies)
        where = standing.repository.model_copy(update={"name": event.repository.name})
        if where.name == DEFAULTS:
            refresh.default(where, now)
        if isinstance(event, PushEvent):
            # After a new default branch it is read before the next decision.
            refresh.repository(where, now)
        return True

    def _apply(self, tx: Tx, row: Stimulus, event: Event, now: datetime) -> tuple[str, Ring]:
        """Records an event; answers its outcome ("" to leave the row waiting) and whom to wake."""
        match event:
            case InstallationEvent():
                return self._installation(tx, event, row, now)
            case InstallationRepositoriesEvent():
                return self._repositories(tx, event, row, now)
            case RepositoryEvent():
                return self._repository(tx, event, now), []
            case PushEvent():
                return "noted", []
            case IssueEvent():
                return self._issue(tx, event, row, now)
            case MemberEvent():
                return self._member(tx, event, row, now)
            case MergeGroupEvent():
                return self._merge_group(tx, event, now)
            case CheckRunEvent():
                return self._check_run(tx, event, row)
            case Unread():
                return f"ignored: {event.problem}", []
            case _:
                return "noted: no rule reads it", []

    def _installation(
        self, tx: Tx, event: InstallationEvent, row: Stimulus, now: datetime
    ) -> tuple[str, Ring]:
        id_ = event.installation.id
        if event.action == "deleted":
            end_within(tx, id_, now)
            return "uninstalled", []
        if event.action in {"suspend", "unsuspend"}:
            paused = event.action == "suspend"
            installations.suspend(
                tx, id_, (event.installation.suspended_at or now) if paused else None
            )
            if paused:
                return "suspended", []
            outbox.wake_installation(tx, id_, now)
            return "acts again", [("reconcile", id_)]
        since = event.installation.created_at or row.received_at
        installations.put_installation(tx, event.installation, since)
        installations.put_repositories(tx, id_, event.repositories, since)
        return "installed", []

    def _repositories(
        self, tx: Tx, event: InstallationRepositoriesEvent, row: Stimulus, now: datetime
    ) -> tuple[str, Ring]:
        id_ = event.installation.id
        if not installations.installation_known(tx, id_):
            installations.put_installation(tx, event.installation, now)
        installations.put_repositories(tx, id_, event.repositories_added, row.received_at)
        removed = [r.id for r in event.repositories_removed]
        # One that moved to another installation in the meantime stays there.
        gone = installations.of_installation(tx, id_, removed)
        installations.remove_repositories(tx, gone, now)
        for repository_id in gone:
            outbox.drop_of_repository(
                tx, repository_id, "the repository left the installation", now
            )
        return "repositories noted", []

    def _repository(self, tx: Tx, event: RepositoryEvent, now: datetime) -> str:
        if event.repository is None:
            return "ignored: names no repository"
        if event.action == "deleted":
            installations.remove_repositories(tx, [event.repository.id], now)
            outbox.drop_of_repository(tx, event.repository.id, "the repository was deleted", now)
            return "deleted"
        installations.rename_repository(tx, event.repository, event.installation_id, now)
        return f"follows: {event.repository.full_name}"

    def _member(self, tx: Tx, event: MemberEvent, row: Stimulus, now: datetime) -> tuple[str, Ring]:
        if event.repository is None or event.member is None:
            return "ignored: names nobody", []
        people.forget_role(tx, event.repository.id, event.member.id, now)
        rings: Ring = []
        for number in cases.open_numbers(tx, event.repository.id, event.member.id):
            where = Address(
                installation_id=event.installation_id,
                repository_id=event.repository.id,
                pull_number=number,
            )
            made = inbox.again(
                tx, key=f"member:{row.id}:{number}", address=where, reason="member", now=now
            )
            rings += [("triage", made)] if made is not None else []
        return "permission is read anew", rings

    def _issue(self, tx: Tx, event: IssueEvent, row: Stimulus, now: datetime) -> tuple[str, Ring]:
        """An issue changed: what is for it may be accepted now, or not any more."""
        if event.repository is None or event.action not in _ISSUE_TURNS:
            return "noted", []
        rings: Ring = []
        for repository_id, number in neighbours.linked_to(
            tx, event.repository.id, event.issue.number
        ):
            where = Address(
                installation_id=event.installation_id,
                repository_id=repository_id,
                pull_number=number,
            )
            key = f"issue:{row.id}:{repository_id}:{number}"
            made = inbox.again(tx, key=key, address=where, reason="issue", now=now)
            rings += [("triage", made)] if made is not None else []
        return "what is for it is looked at", rings

    def _merge_group(self, tx: Tx, event: MergeGroupEvent, now: datetime) -> tuple[str, Ring]:
        """A merge queue that requires our check run waits for it, and gets it from mode label on."""
        standing = installations.standing(tx, event.repository.id) if event.repository else None
        if event.action != "checks_requested" or standing is None or standing.gone:
            return "noted", []
        if standing.recorded or standing.policy.mode < Mode.LABEL:
            return "noted: observe mode writes nothing", []
        made = outbox.add_loose(
            tx,
            key=f"queue:{standing.repository.id}:{event.merge_group.head_sha}",
            repository=standing.repository,
            effect=render.check_run_for_queue(event.merge_group.head_sha),
            sha=event.merge_group.head_sha,
            now=now,
        )
        return "answered", [("perform", made)] if made is not None else []

    def _check_run(self, tx: Tx, event: CheckRunEvent, row: Stimulus) -> tuple[str, Ring]:
        """GitHub names no pull request for a fork's check run; our own key on it does."""
        found = cases.of_check_run(tx, event.check_run.id, event.check_run.external_id)
        if found is None or event.repository is None or found[0] != event.repository.id:
            return "noted: not a check run of ours", []
        inbox.readdress(tx, row.id, found[1])
        return "", [("triage", row.id)]
