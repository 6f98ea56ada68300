"""Mails carried out: opened, sent once, and forgotten."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.errors import Rejected, RetryLater
from app.core.ports import MailSender
from app.core.proofs.mails import Mail
from app.db import mails
from app.db.engine import Database

# Longer than a task may take: a worker that died lets go of its mail then.
LEASE = timedelta(minutes=3)


@dataclass(frozen=True)
class Mailing:
    """What it needs of the world. `sender` is None where no mail server is configured."""

    database: Database
    sender: MailSender | None
    open: Callable[[bytes], bytes]
    clock: Callable[[], datetime]

    def run(self, mail_id: int) -> None:
        """Sends one, if it is due."""
        now = self.clock()
        with self.database.begin() as tx:
            sealed = mails.take(tx, mail_id, now, LEASE)
        if sealed is None:
            return
        try:
            if self.sender is None:
                raise RetryLater("no mail server is configured (SMTP_URL, MAIL_FROM)")
            self.sender.send(Mail.model_validate_json(self.open(sealed)), now)
        except (RetryLater, Rejected) as error:
            with self.database.begin() as tx:
                for_good = isinstance(error, Rejected)
                mails.failed(tx, mail_id, error.reason, self.clock(), for_good=for_good)
            return
        with self.database.begin() as tx:
            mails.sent(tx, mail_id, self.clock())
