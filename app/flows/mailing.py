"""Mails carried out: opened, sent once within the day's budget, and forgotten."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.errors import Rejected, RetryLater
from app.core.ports import MailSender
from app.core.proofs.bounces import reference
from app.core.proofs.mails import Mail
from app.core.proofs.tokens import LINK_LIVES
from app.db import installations, mails, proofs, usage
from app.db.engine import Database, Tx
from app.flows.limiting import Keyed
from app.flows.spending import OverBudget, mails_until

# Longer than a task may take: a worker that died lets go of its mail then.
LEASE = timedelta(minutes=3)


@dataclass(frozen=True)
class Mailing:
    """What it needs of the world. `sender` is None where no mail server is configured."""

    database: Database
    sender: MailSender | None
    open: Callable[[bytes], bytes]
    keyed: Keyed
    clock: Callable[[], datetime]

    def run(self, mail_id: int) -> None:
        """Sends one, if it is due."""
        now = self.clock()
        with self.database.begin() as tx:
            taken = mails.take(tx, mail_id, now, LEASE)
            if taken is None or not self._may(tx, mail_id, taken, now):
                return
        try:
            if self.sender is None:
                raise RetryLater("no mail server is configured (SMTP_URL, MAIL_FROM)")
            if not (taken.owned and taken.owned.muted):
                mail = Mail.model_validate_json(self.open(taken.sealed))
                self.sender.send(mail, now, reference(mail_id, self.keyed))
        except (RetryLater, Rejected) as error:
            with self.database.begin() as tx:
                for_good = isinstance(error, Rejected)
                mails.failed(tx, mail_id, error.reason, self.clock(), for_good=for_good)
            return
        with self.database.begin() as tx:
            mails.sent(tx, mail_id, self.clock())

    def _may(self, tx: Tx, mail_id: int, taken: mails.Taken, now: datetime) -> bool:
        """Whether it is to be sent now. Its first attempt is counted, and waits where all is spent."""
        owned = taken.owned
        if owned is None:
            return True
        if not proofs.is_good(tx, owned.token_hash, now):
            mails.dropped(tx, mail_id, "its link was used or replaced, or its time is over")
            return False
        if taken.attempts:
            return True
        standing = installations.standing(tx, owned.repository_id)
        if standing is None or standing.gone:
            mails.dropped(tx, mail_id, "the App is no longer there")
            return False
        until = mails_until(tx, standing.policy, owned, now)
        if until is None:
            usage.add(tx, owned.repository_id, "mails", owned.tier, 1, now)
            return True
        mails.held(tx, mail_id, OverBudget("mails", owned.tier, until).reason, until)
        proofs.extend(tx, owned.token_hash, until + LINK_LIVES)
        return False
