"""What keeps the promise that nothing is lost: finds committed rows that nobody works on."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.events import Address
from app.core.ports import Doorbell
from app.core.privacy import keep
from app.db import (
    activity,
    campaigns,
    cases,
    inbox,
    installations,
    mails,
    outbox,
    people,
    personal,
    proof_domains,
    proofs,
    sessions,
    simulations,
    tries,
    usage,
)
from app.db.engine import Database, Tx
from app.flows.reporting import weekly

RECONCILE_EVERY = timedelta(hours=24)


@dataclass(frozen=True)
class Sweep:
    """Rings for what waits unheard; forgets what is old.

    What was rung for and not taken up is rung for once more after `ring_again`. `site` is the
    service's address.
    """

    database: Database
    doorbell: Doorbell
    clock: Callable[[], datetime]
    ring_again: timedelta = timedelta(seconds=60)
    site: str = ""

    def ring(self) -> int:
        """Wakes workers up for rows whose bell was lost or time has come; answers how many."""
        now = self.clock()
        with self.database.begin() as tx:
            waiting = [*self._due(tx, now), *inbox.to_ring(tx, now, self.ring_again)]
            acts = outbox.to_ring(tx, now, self.ring_again)
            asked = simulations.to_ring(tx, now, self.ring_again)
            letters = mails.to_ring(tx, now, self.ring_again)
        for inbox_id in waiting:
            self.doorbell.ring("triage", inbox_id)
        for effect_id in acts:
            self.doorbell.ring("perform", effect_id)
        for simulation_id in asked:
            self.doorbell.ring("simulate", simulation_id)
        for mail_id in letters:
            self.doorbell.ring("mail", mail_id)
        return len(waiting) + len(acts) + len(asked) + len(letters)

    def _due(self, tx: Tx, now: datetime) -> list[int]:
        """Pull requests whose time has come become stimuli like any other."""
        made: list[int] = []
        for due in cases.due(tx, now):
            where = Address(repository_id=due.repository_id, pull_number=due.number)
            key = f"due:{due.case_id}:{due.at.isoformat()}"
            stimulus = inbox.again(tx, key=key, address=where, reason="due", now=now)
            made += [stimulus] if stimulus is not None else []
        return made

    def reconcile(self) -> int:
        """Wakes workers up for installations whose open pull requests are due to be compared."""
        with self.database.begin() as tx:
            due = installations.reconcile_due(tx, self.clock() - RECONCILE_EVERY)
        for installation_id in due:
            self.doorbell.ring("reconcile", installation_id)
        return len(due)

    def report(self) -> int:
        """Plans the weekly reports of today; answers how many are new."""
        made = weekly(self.database, self.site, self.clock())
        for effect_id in made:
            self.doorbell.ring("perform", effect_id)
        return len(made)

    def forget(self) -> int:
        """Drops payloads, permissions and sessions that are past their time."""
        now = self.clock()
        with self.database.begin() as tx:
            people.forget_old_roles(tx, now)
            activity.forget(tx, now)
            sessions.forget_expired(tx, now)
            usage.forget(tx, now)
            simulations.forget(tx, now - keep("sessions"))
            campaigns.forget_sketches(tx, now - keep("sketches"))
            proofs.forget(tx, now - keep("proofs"))
            mails.forget(tx, now - keep("mails"))
            tries.forget(tx, now)
            proof_domains.forget(tx, now)
            for repository_id in proof_domains.repositories(tx):
                asks = installations.standing(tx, repository_id)
                if asks is None or asks.gone or not asks.policy.proofs.domain_days:
                    proof_domains.drop_of_repository(tx, repository_id)
            personal.erase_what_ended(tx, now)
            return inbox.forget_payloads(tx, now - keep("deliveries"))
