"""A recording through the very same pipeline, delivery by delivery, in observe mode.

Each delivery is decided before the next one comes in, and with it whatever has to be decided anew
because of it, so that a decision rests on nothing that happened later.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import ValidationError

from app.core.change import Change
from app.core.errors import UserError
from app.core.events import address
from app.core.fact import Fact
from app.core.github import Installation, PullRequest, Repository
from app.core.policy import Policy
from app.core.ports import Task
from app.core.recording import NO_INSTALLATION, Header, RecordedDelivery, as_recorded, read
from app.db import configurations, inbox, installations
from app.db.engine import Database
from app.flows.triage import Triage

_EVER = datetime(1970, 1, 1, tzinfo=UTC)


class Step(Fact):
    """One delivery of a recording went through. `new` is False for one that was replayed before."""

    event: str
    new: bool


class Rings:
    """The doorbell of a replay: whom it wakes up is worked off before the next delivery.

    What was decided is never carried out, so that nobody hears a ring for that.
    """

    def __init__(self) -> None:
        self._waiting: deque[int] = deque()

    def ring(self, task: Task, id: int) -> None:
        """See the port."""
        if task == "triage":
            self._waiting.append(id)

    def heard(self) -> Iterator[int]:
        """Whom to look at, until nobody rings any more."""
        while self._waiting:
            yield self._waiting.popleft()


@dataclass(frozen=True)
class Replay:
    """Feeds a recording to the pipeline; nothing is ever asked of GitHub or written there.

    `rings` is the doorbell of `triage`, and `changes` what it knows of changes.
    """

    database: Database
    triage: Triage
    rings: Rings
    parse_policy: Callable[[str], Policy]
    changes: dict[tuple[int, int], Change]

    def run(self, lines: Iterable[str | bytes]) -> Iterator[Step]:
        """Replays as far as it is iterated. Raises `UserError` at a line that is broken."""
        header, deliveries = read(lines)
        policies = {name: self._policy(name, text) for name, text in header.policies.items()}
        for delivery in deliveries:
            payload = as_recorded(delivery.payload)
            at = min(delivery.at or self.triage.clock(), self.triage.clock())
            self._make_known(header, policies, payload, at)
            self._remember(delivery.change, payload)
            made = self._store(delivery, payload, at)
            if made is not None:
                self.triage.run(made)
                for other in self.rings.heard():
                    self.triage.run(other)
            yield Step(event=delivery.event, new=made is not None)

    def _make_known(
        self,
        header: Header,
        policies: dict[str, Policy],
        payload: dict[str, object],
        at: datetime,
    ) -> None:
        """The installation and repository of a delivery, marked as recorded from the start."""
        installation = _installation(payload)
        with self.database.begin() as tx:
            if not installations.known_at_all(tx, installation.id):
                roles = {str(account): int(role) for account, role in header.roles.items()}
                since = installation.created_at or _EVER
                installations.put_installation(
                    tx, installation, since, {"roles": roles, "note": header.note}
                )
            try:
                repository = Repository.model_validate(payload.get("repository"))
            except ValidationError:
                return
            since = installations.installed_at(tx, installation.id) or _EVER
            installations.put_repository(tx, installation.id, repository, since)
            # Also where an earlier delivery listed the repository and nothing else.
            known = installations.standing(tx, repository.id)
            if known and not known.policy_read and repository.full_name in policies:
                policy = policies[repository.full_name]
                configurations.keep_own(tx, repository.id, None, "recorded", at)
                configurations.put_policy(tx, repository.id, policy, "recorded")

    def _remember(self, change: Change | None, payload: dict[str, object]) -> None:
        """What a line says of its pull request's change, for as long as the replay lasts."""
        try:
            repository = Repository.model_validate(payload.get("repository"))
            pull = PullRequest.model_validate(payload.get("pull_request"))
        except ValidationError:
            return
        if change is not None:
            self.changes[repository.id, pull.number] = change

    def _store(
        self, delivery: RecordedDelivery, payload: dict[str, object], at: datetime
    ) -> int | None:
        with self.database.begin() as tx:
            return inbox.add(
                tx,
                source="replay",
                key=delivery.guid,
                event=delivery.event,
                payload=payload,
                address=address(delivery.event, payload),
                now=at,
            )

    def _policy(self, name: str, text: str) -> Policy:
        try:
            return self.parse_policy(text)
        except UserError as error:
            raise UserError(
                f"the recording's policy of {name} cannot be used: {error.message}",
                hint="Mend it in the header, the first line of the recording.",
            ) from error


def _installation(payload: dict[str, object]) -> Installation:
    """The installation of a recorded payload; of one that does not fit, only that there is one."""
    for part in (payload.get("installation"), {"id": NO_INSTALLATION}):
        try:
            return Installation.model_validate(part)
        except ValidationError:
            continue
    raise RuntimeError("an id alone is an installation")
