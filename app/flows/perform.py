"""Effects carried out: claimed, checked against the world as it is now, done once, recorded."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.audit import TOLD, Place, carried
from app.core.effects import HEAD_MOVED, Close, Known, Notice, Receipt, Reopen, no_longer_wanted
from app.core.errors import Rejected, RetryLater
from app.core.github import PullRequest
from app.core.ports import Reader, Writer
from app.core.said import Catalogues
from app.db import audit, cases, challenges, claims, installations, outbox
from app.db.claims import Claim
from app.db.engine import Database, Tx
from app.db.installations import Standing
from app.flows.fairness import stop_after_close
from app.flows.limit import limit_after_close

# A worker stops after so many effects of one pull request, to stay under its time limit.
_BATCH = 20
_SUSPENDED = timedelta(days=1)


@dataclass(frozen=True)
class Perform:
    """What acting needs of the world. `lease` is how long one act may take at most."""

    database: Database
    reader: Reader
    writer: Writer
    catalogues: Catalogues
    clock: Callable[[], datetime]
    lease: timedelta

    def run(self, effect_id: int) -> None:
        """Carries out the effect, and with it all that is due for the same pull request."""
        with self.database.begin() as tx:
            pull = outbox.pull_of(tx, effect_id)
        if pull is None:
            return
        with self.database.pull_lock(*pull) as mine:
            if mine:
                self._pull(*pull)

    def _pull(self, repository_id: int, number: int) -> None:
        live: PullRequest | None = None
        for _ in range(_BATCH):
            with self.database.begin() as tx:
                claim = claims.claim_next(tx, repository_id, number, self.clock(), self.lease)
                standing = installations.standing(tx, repository_id)
            if not isinstance(claim, Claim) or standing is None:
                return
            if not self._allowed(claim, standing):
                continue
            try:
                if live is None and number:
                    live = self.reader.pull(standing.repository, number)
                self._one(claim, standing, live)
                if isinstance(claim.effect, Close | Reopen):
                    live = None  # it is not as it was read
            except RetryLater as error:
                with self.database.begin() as tx:
                    claims.put_off(tx, claim, error.reason, self.clock(), error.after)
                # What follows may rest on it, and whoever is slow or limits us is left in peace.
                return
            except Rejected as error:
                with self.database.begin() as tx:
                    claims.fail(tx, claim, error.reason, self.clock())
                    self._tell(tx, claim, "refused", f"status {error.status}")
            except Exception as error:
                with self.database.begin() as tx:
                    claims.put_off(tx, claim, f"fault: {error!r}", self.clock(), None)
                raise

    def _allowed(self, claim: Claim, standing: Standing) -> bool:
        """Whether we may act there at all now; records it where we may not."""
        now = self.clock()
        with self.database.begin() as tx:
            if standing.gone or standing.recorded:
                claims.drop(tx, claim, standing.gone or "a recording is never written to", now)
                return False
            if standing.suspended:
                claims.hand_back(tx, claim, now + _SUSPENDED, "the installation is suspended")
                return False
        return True

    def _one(self, claim: Claim, standing: Standing, live: PullRequest | None) -> None:
        why_not = None
        if live is not None and not _maybe_ours(claim, live):
            why_not = no_longer_wanted(claim.effect, live, claim.decided_sha)
        if why_not == HEAD_MOVED:
            # The delivery of the push is on its way, and with it a decision that drops this
            # effect or aims it at the new head. Dropped here, it would be missed by that one.
            raise RetryLater(why_not)
        if why_not:
            with self.database.begin() as tx:
                claims.drop(tx, claim, why_not, self.clock())
                self._tell(tx, claim, "dropped", why_not)
            return
        started = self.clock()
        receipt = self.writer.carry_out(
            standing.repository,
            claim.number,
            claim.effect,
            key=claim.key,
            known=self._known(claim),
            again=claim.again,
        )
        self._record(claim, standing, receipt, started)

    def _tell(self, tx: Tx, claim: Claim, outcome: str, why: str = "") -> None:
        """Notes how an act ended, where it meant something to somebody."""
        if claim.effect.kind not in TOLD:
            return
        where = Place(
            installation_id=claim.installation_id,
            repository_id=claim.repository_id,
            number=claim.number or None,
        )
        audit.note(tx, where, carried(claim.effect.kind, outcome, self.clock(), why))

    def _known(self, claim: Claim) -> Known:
        if claim.case_id is None:
            return Known()
        with self.database.begin() as tx:
            return cases.known(tx, claim.case_id)

    def _record(
        self, claim: Claim, standing: Standing, receipt: Receipt, started: datetime
    ) -> None:
        now = self.clock()
        with self.database.begin() as tx:
            mine = claims.done(tx, claim, receipt, now)
            if mine and claim.case_id is not None:
                cases.carried_out(tx, claim.case_id, claim.effect, receipt, now)
                if isinstance(claim.effect, Notice) and claim.effect.kind == "ask_comment":
                    challenges.asked(tx, claim.case_id, claim.effect, receipt, started, now)
            if mine:
                self._tell(tx, claim, "done")
            if mine and isinstance(claim.effect, Close):
                limit_after_close(tx, standing, now)
                # The sweep rings for what follows.
                stop_after_close(tx, standing, self.catalogues, now)


def _maybe_ours(claim: Claim, live: PullRequest) -> bool:
    """Whether the state that is wanted may be there by an earlier attempt of our own.

    For a close, the writer tells ours from somebody else's; a reopen is ours either way.
    """
    wanted = {Close: "closed", Reopen: "open"}.get(type(claim.effect))
    return claim.again and live.state == wanted
