"""What would be decided about one pull request under another configuration. Nothing is written."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.cases import Means
from app.core.decision import Case, Decision
from app.core.errors import Rejected, RetryLater, UserError
from app.core.facts import Asked
from app.core.policy import Policy
from app.core.ports import Doorbell, Reader
from app.core.scoring import Scorer
from app.db import cases, installations, simulations
from app.db.engine import Database
from app.db.installations import Standing
from app.db.simulations import Simulation
from app.flows.evidence import Evidence, Roles
from app.flows.judge import Judge

MOST_A_MINUTE = 20
# Whatever was tried until then: its worker died, each time.
_GIVE_UP = timedelta(minutes=10)


def ask(  # noqa: PLR0913 - whose, of what, under what
    database: Database,
    doorbell: Doorbell,
    *,
    repository_id: int,
    number: int,
    account_id: int,
    policy: Policy | None,
    now: datetime,
) -> int:
    """Asks for a simulation; answers its id.

    Raises `UserError` for somebody who asked for many in the last minute.
    """
    with database.begin() as tx:
        if simulations.asked_since(tx, account_id, now - timedelta(minutes=1)) >= MOST_A_MINUTE:
            raise UserError(
                f"more than {MOST_A_MINUTE} simulations within a minute",
                hint="Wait a minute and try again.",
            )
        made = simulations.add(
            tx,
            repository_id=repository_id,
            number=number,
            account_id=account_id,
            policy=policy,
            now=now,
        )
    doorbell.ring("simulate", made)
    return made


@dataclass(frozen=True)
class Simulate:
    """What a simulation needs of the world: reads alone."""

    database: Database
    reader: Reader
    scorer: Scorer
    means: Means
    clock: Callable[[], datetime]

    def run(self, simulation_id: int) -> None:
        """Works one off. Once it has ended, nothing happens."""
        with self.database.begin() as tx:
            asked = simulations.get(tx, simulation_id)
        if asked is None or asked.ended_at is not None:
            return
        decision, error = None, ""
        try:
            if self.clock() - asked.created_at > _GIVE_UP:
                error = "given up after ten minutes; ask again"
            else:
                decision = self._decided(asked)
        except (RetryLater, Rejected) as problem:
            error = f"{problem.reason}; ask again in a minute"
        except Exception:
            self._end(asked, None, "a fault of ours, which was logged")
            raise
        self._end(asked, decision, error)

    def _end(self, asked: Simulation, decision: Decision | None, error: str) -> None:
        with self.database.begin() as tx:
            simulations.end(tx, asked.id, self.clock(), decision=decision, error=error)

    def _decided(self, asked: Simulation) -> Decision:
        with self.database.begin() as tx:
            standing = installations.standing(tx, asked.repository_id)
            row = cases.get(tx, asked.repository_id, asked.number)
        if standing is None or standing.gone:
            raise Rejected("the App is not installed on this repository any more", status=404)
        row = row or self._unknown(standing, asked.number)
        policy = asked.policy or standing.policy
        roles = Roles(self.database, self.reader, standing, self.clock())
        facts, _ = self._judge().facts(row, Evidence(), roles, policy)
        case, pull = row.case, facts.pull
        if pull.state == "closed":
            # It would only say that it ended: what would have been decided while it was open?
            pull = pull.model_copy(update={"state": "open", "merged": False, "merged_at": None})
            facts = facts.model_copy(update={"pull": pull, "hands": (), "asked": Asked()})
            case = Case(id=case.id, repository_id=case.repository_id, number=case.number)
        version = standing.policy_sha if asked.policy is None else "simulated"
        made = self._judge().decided(case, facts, policy, version, roles, force=True)
        if made is None:
            raise RuntimeError("a decision by force is never none")
        return made

    def _judge(self) -> Judge:
        return Judge(self.database, self.reader, self.scorer, self.means, self.clock)

    def _unknown(self, standing: Standing, number: int) -> cases.Row:
        """A pull request that no delivery told of, as GitHub has it now."""
        if standing.recorded:
            raise Rejected("there is no such pull request in the recording", status=404)
        pull = self.reader.pull(standing.repository, number)
        case = Case(id=0, repository_id=standing.repository.id, number=number)
        return cases.Row(case=case, pull=pull, asked=Asked())
