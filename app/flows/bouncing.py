"""Mails of ours that came back: noted for their owner, and answered to nobody."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.proofs.bounces import Report, returned
from app.core.proofs.letters import Refused
from app.db import mails, proofs
from app.db.engine import Database
from app.flows.limiting import Keyed

# Servers give a mail up after five days at most (RFC 5321, 4.5.4.1).
BOUNCES = timedelta(days=7)


@dataclass(frozen=True)
class Bouncing:
    """What it needs of the world."""

    database: Database
    keyed: Keyed
    clock: Callable[[], datetime]

    def take(self, report: Report, digest: str, token_of: Callable[[str], str | None]) -> str:
        """A report came in: what came of it, for the record."""
        now = self.clock()
        found = returned(report, token_of, self.keyed)
        with self.database.begin() as tx:
            if not proofs.letter(tx, digest, "taken", "", now):
                return "refused: it came before"
            if isinstance(found, Refused):
                outcome = f"refused: {found.why}"
            elif mails.bounced(tx, found.mail_id, f"bounced {found.status}", now - BOUNCES):
                outcome = "a mail of ours came back"
            else:
                outcome = "refused: the mail that it is about was not sent lately, or had failed"
            proofs.noted(tx, digest, outcome)
        return outcome

    def refused(self, digest: str, why: str) -> str:
        """A mail that could not be read: recorded like all others."""
        outcome = f"refused: {why}"
        with self.database.begin() as tx:
            if not proofs.letter(tx, digest, outcome, "", self.clock()):
                return "refused: it came before"
        return outcome
