"""One pull request, from what waits in the inbox to a stored decision and its effects."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from app.core.audit import by_hand, decided
from app.core.cases import Means
from app.core.commands import Given, commands
from app.core.effects import SetCheckRun
from app.core.errors import Rejected, RetryLater
from app.core.events import CommentEvent, Event, PullRequestEvent, Unread
from app.core.likeness import Sketcher
from app.core.modes import Mode
from app.core.ports import AppApi, Doorbell, Policies, Reader
from app.core.proofs.following import after
from app.core.scoring import Scorer
from app.db import audit, cases, challenges, inbox, installations, neighbours, outbox, people, usage
from app.db.engine import Database
from app.db.inbox import Stimulus
from app.db.installations import Standing
from app.flows import campaigns, fairness, spending, waves
from app.flows.config_checks import ConfigChecks
from app.flows.evidence import Evidence, Roles, event_of, gather
from app.flows.housekeeping import NO_INSTALLATION, Housekeeping, ended_unheard, learn
from app.flows.judge import Changes, Judge, Judged
from app.flows.noting import keep_obeyed, note, place_of
from app.flows.obeying import Obeying
from app.flows.policy import Refresh
from app.flows.spending import Counted, OverBudget

Batch = Sequence[tuple[Stimulus, Event]]


# A configuration that GitHub did not show is looked for again.
_CHECK_AGAIN = timedelta(minutes=15)
_UNCHANGED = "nothing that matters changed"


@dataclass(frozen=True)
class Triage:
    """What deciding needs of the world.

    `app_login` is our App's own login, `…[bot]`; `recorded` what a recording says of changes.
    """

    database: Database
    reader: Reader
    app: AppApi
    scorer: Scorer
    doorbell: Doorbell
    policies: Policies
    means: Means
    sketcher: Sketcher
    app_login: Callable[[], str | None]
    clock: Callable[[], datetime]
    recorded: Changes = field(default_factory=dict)

    def run(self, inbox_id: int) -> None:
        """Handles the row, and with it all that waits for the same pull request.

        A failure leaves the rows in the inbox with the reason and a later due time.
        """
        with self.database.begin() as tx:
            pull = inbox.pull_of(tx, inbox_id)
        if pull is None:
            Housekeeping(
                self.database, self.reader, self.app, self.doorbell, self.policies, self.clock
            ).run(inbox_id)
            return
        with self.database.pull_lock(*pull) as mine:
            if mine:
                self._pull(*pull)

    def _pull(self, repository_id: int, number: int) -> None:
        now = self.clock()
        with self.database.begin() as tx:
            rows = inbox.pending_of_pull(tx, repository_id, number, now)
            standing = installations.standing(tx, repository_id)
        if not rows:
            return
        try:
            self._batch([(row, event_of(row)) for row in rows], standing, repository_id, number)
        except OverBudget as error:
            with self.database.begin() as tx:
                inbox.wait(tx, rows, error.reason, error.until)
        except (RetryLater, Rejected) as error:
            if self._uninstalled(repository_id, error):
                self._handled([row.id for row in rows], "left: the App was uninstalled")
                return
            # Also a refusal is no finding: the installation's rights may just have changed.
            after = error.after if isinstance(error, RetryLater) else None
            with self.database.begin() as tx:
                inbox.put_off(tx, rows, error.reason, self.clock(), after)
        except Exception as error:
            # A fault of ours must neither lose the rows nor be tried again at once for ever.
            with self.database.begin() as tx:
                inbox.put_off(tx, rows, f"fault: {error!r}", self.clock())
            raise

    def _batch(
        self, events: Batch, standing: Standing | None, repository_id: int, number: int
    ) -> None:
        found = self._completed(standing, events, repository_id)
        ids = [row.id for row, _ in events]
        if isinstance(found, str):
            self._handled(ids, found)
            return
        standing = found
        if standing.gone or standing.suspended:
            self._handled(ids, f"left: {standing.gone or 'suspended'}")
            return
        now = max(row.received_at for row, _ in events) if standing.recorded else self.clock()
        kept, row = self._see(events, standing, number)
        if row is None and not standing.recorded:
            row = self._look(standing, number)
        if row is None:
            self._handled(ids, "left: the pull request is not known")
            return
        roles = Roles(self.database, self.reader, standing, now)
        given = _given(events)
        if given and not standing.recorded:
            row = self._as_it_is(standing, row, given)
        page = self.means.page(standing.repository.full_name, number)
        take = Obeying(row, roles, page, self.means.mine).take
        evidence = gather(events, row, kept, roles, take)
        if (
            not evidence.requests
            and row.case.closed_by_us
            and row.pull.state == "open"
            and not standing.recorded
        ):
            # Is it older than our close, or did somebody open it again? Only GitHub knows.
            row = self._look(standing, number) or row
        with self.database.begin() as tx:
            note(tx, events, row, kept, self.app_login())
            hands = people.add_hands(tx, row.case.id, evidence.hands)
            audit.note(tx, place_of(standing, number), *map(by_hand, hands))
            rings = keep_obeyed(tx, standing, row.case, evidence.obeyed, now)
        for task, id_ in rings:
            self.doorbell.ring(task, id_)
        if not evidence.material:
            self._handled(ids, _why_nothing(events))
            return
        judged = self._decide(standing, number, evidence, roles)
        judged, run = self._config_check(standing, judged, now)
        self._store(standing, number, judged, evidence, ids, now, run)

    def _config_check(
        self, standing: Standing, judged: Judged, now: datetime
    ) -> tuple[Judged, SetCheckRun | None]:
        """The check run of a changed configuration; where GitHub fails, it is looked for again."""
        if standing.recorded:
            return judged, None
        checks = ConfigChecks(self.database, self.reader, self.policies, self.means)
        wanted = checks.wanted(standing, judged.case.id, judged.facts)
        if wanted != "later":
            return judged, wanted
        again = now + _CHECK_AGAIN
        return judged._replace(due_at=min(judged.due_at or again, again)), None

    def _uninstalled(self, repository_id: int, error: Exception) -> bool:
        """Whether a read failed since the App is no longer there; recorded then."""
        with self.database.begin() as tx:
            standing = installations.standing(tx, repository_id)
        if standing is None or standing.recorded:
            return False
        where = standing.repository.installation_id
        return ended_unheard(self.database, self.app, where, error, self.clock())

    def _completed(
        self, standing: Standing | None, events: Batch, repository_id: int
    ) -> Standing | str:
        """The repository's standing, asked for where a delivery comes before its installation.

        An outcome where there is none.
        """
        first = next((e for _, e in events if e.installation_id and e.repository), None)
        if standing is None and first is not None:
            if not learn(self.database, self.app, first, self.clock()):
                return NO_INSTALLATION
            with self.database.begin() as tx:
                standing = installations.standing(tx, repository_id)
        if standing and not standing.policy_read and not standing.recorded and not standing.gone:
            Refresh(self.database, self.reader, self.policies).repository(
                standing.repository, self.clock()
            )
            with self.database.begin() as tx:
                standing = installations.standing(tx, repository_id)
        return standing or "left: unknown repository"

    def _see(
        self, events: Batch, standing: Standing, number: int
    ) -> tuple[set[int], cases.Row | None]:
        """Keeps each newer state of the pull request; answers which rows brought one, and the case.

        GitHub delivers in any order and its times have whole seconds, so that of two states of one
        second only GitHub knows the later.
        """
        kept: set[int] = set()
        doubt = False
        with self.database.begin() as tx:
            for row, event in events:
                if isinstance(event, PullRequestEvent):
                    rank = 0 if event.action == "opened" else 1
                    doubt |= cases.doubtful(tx, standing.repository.id, event.pull_request, rank)
                    if cases.see(tx, standing.repository.id, event.pull_request, rank):
                        kept.add(row.id)
            case = cases.get(tx, standing.repository.id, number)
        if doubt and not standing.recorded:
            return kept, self._look(standing, number)
        return kept, case

    def _look(self, standing: Standing, number: int) -> cases.Row | None:
        """The case with the pull request as it is now; a comment may come before we ever saw it."""
        pull = self.reader.pull(standing.repository, number)
        with self.database.begin() as tx:
            cases.see(tx, standing.repository.id, pull, 1)
        with self.database.begin() as tx:
            return cases.get(tx, standing.repository.id, number)

    def _as_it_is(self, standing: Standing, row: cases.Row, given: set[str]) -> cases.Row:
        """The case with the pull request as whoever asks for something sees it.

        The delivery of our own close may come after the command that answers it. While a close is
        under way, a `reopen` waits, since it would find the pull request open. All others stop a
        close that has not begun, and wait for one that may have been carried out.
        """
        begun = "reopen" not in given
        with self.database.begin() as tx:
            if outbox.closing(tx, standing.repository.id, row.case.number, begun=begun):
                raise RetryLater("our own close is under way; the command is read after it")
        return self._look(standing, row.case.number) or row

    def _decide(self, standing: Standing, number: int, evidence: Evidence, roles: Roles) -> Judged:
        policy = standing.policy
        if standing.recorded:
            policy = policy.model_copy(update={"mode": min(policy.mode, Mode.OBSERVE)})
        with self.database.begin() as tx:
            row = cases.get(tx, standing.repository.id, number)
        if row is None:
            raise RetryLater("the case vanished while it was decided")
        tier = spending.tier(self.database, row, roles.now)
        spending.require_budget(row, evidence, roles, policy, tier)
        judge = Judge(
            self.database, self.reader, self.scorer, self.means, self.clock, self.recorded
        )
        judged = judge.judge(row, evidence, roles, policy, standing.policy_sha)
        if isinstance(self.reader, Counted):
            with self.database.begin() as tx:
                spent = self.reader.take()
                usage.add(tx, standing.repository.id, "github_requests", tier, spent, roles.now)
        return judged

    def _store(  # noqa: PLR0913 - what one transaction holds
        self,
        standing: Standing,
        number: int,
        judged: Judged,
        evidence: Evidence,
        ids: Sequence[int],
        now: datetime,
        run: SetCheckRun | None,
    ) -> None:
        """One transaction: the decision, its effects, the handled rows, and who else to look at."""
        case, decision, facts = judged.case, judged.decision, judged.facts
        effects: list[int] = []
        sketch = campaigns.sketch(judged, self.sketcher)
        with self.database.begin() as tx:
            waves.hold_neighbours(tx, standing, facts)
            if facts.asked.author_at is not None:
                cases.acted(tx, case.id, facts.asked.author_at)
            state = decision.state if decision else case.state
            challenges.put(tx, case.id, after(facts.asked.challenge, state, now))
            if facts.change is not None and facts.change.issues is not None:
                neighbours.put_issues(tx, case.id, facts.change.issues)
            if decision is not None:
                cases.save(tx, case, decision)
                audit.note(tx, place_of(standing, number), decided(decision))
                effects = outbox.add_all(
                    tx,
                    case_id=case.id,
                    number=number,
                    repository=standing.repository,
                    decision=decision,
                    now=now,
                )
            if run is not None:
                made = outbox.add_config_check(tx, case.id, number, standing.repository, run, now)
                effects += [made] if made is not None else []
            if judged.due_at is not None:
                cases.look_again(tx, case.id, judged.due_at)
            outcome = f"decided: {decision.state.value}" if decision else _UNCHANGED
            inbox.handled(tx, ids, outcome, self.clock())
            rings = fairness.settle(tx, standing, judged, evidence, self.means.catalogues, now)
            rings += campaigns.join(tx, standing, judged, sketch, now)
            rings += [("triage", other) for other in waves.others(tx, standing, judged, now)]
        if effects:
            self.doorbell.ring("perform", effects[0])
        for task, id_ in rings:
            self.doorbell.ring(task, id_)

    def _handled(self, ids: Sequence[int], outcome: str) -> None:
        with self.database.begin() as tx:
            inbox.handled(tx, ids, outcome, self.clock())


def _given(events: Batch) -> set[str]:
    """The commands that people may have given, by name; "" for one that is none."""
    return {
        one.command if isinstance(one, Given) else ""
        for _, e in events
        if isinstance(e, CommentEvent) and e.action in {"created", "submitted"}
        if e.comment.user is not None and not e.comment.user.is_app
        for one in commands(e.comment.body)
    }


def _why_nothing(events: Batch) -> str:
    last = events[-1][1]
    if isinstance(last, Unread):
        return f"ignored: {last.problem}"
    if isinstance(last, PullRequestEvent):
        return "older than the state already known"
    return "noted"
