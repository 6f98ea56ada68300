"""One pull request judged: the facts, with few reads of GitHub, and the decision on them."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from app.core.cases import Means, decide
from app.core.change import Change
from app.core.decision import Case, Decision
from app.core.errors import Rejected, RetryLater
from app.core.facts import Facts, PublicEvent, Role
from app.core.ladder import LIFE, wants_change
from app.core.policy import Policy
from app.core.ports import Reader
from app.core.proofs.following import follow
from app.core.proofs.question import question
from app.core.rules import RULES, burst
from app.core.scoring import Scorer
from app.db import activity, cases, neighbours
from app.db.engine import Database
from app.flows.evidence import Evidence, Roles
from app.flows.facts import facts_of

# Where GitHub did not show what a pull request changes, it is asked again, for a day.
_AGAIN = timedelta(minutes=15)
_AGAIN_FOR = timedelta(days=1)
# GitHub tells nobody of an issue that is linked by the side bar: looked for now and then.
_LINK_RULE = "accepted_issue"
_LINKS = ((timedelta(days=3), timedelta(hours=6)), (timedelta(days=30), timedelta(days=1)))
_NEEDY = {rule.name for rule in RULES if "change" in rule.needs}


# What a recording says of changes, by repository id and number.
Changes = Mapping[tuple[int, int], Change]


class Judged(NamedTuple):
    """A case, the facts that it was decided on, and the decision: None where nothing changed.

    `due_at`: when to look again although nothing happened.
    """

    case: Case
    facts: Facts
    decision: Decision | None
    due_at: datetime | None


@dataclass(frozen=True)
class Judge:
    """What judging needs of the world. `recorded`: changes of recordings, see `Changes`."""

    database: Database
    reader: Reader
    scorer: Scorer
    means: Means
    clock: Callable[[], datetime]
    recorded: Changes = field(default_factory=dict)

    def judge(
        self, row: cases.Row, evidence: Evidence, roles: Roles, policy: Policy, version: str
    ) -> Judged:
        """Decides. Raises `RetryLater` where a read that it must have fails."""
        facts, incomplete = self.facts(row, evidence, roles, policy)
        decision = self.decided(row.case, facts, policy, version, roles, force=evidence.force)
        if decision is not None and policy.ladder.probe and asks(decision, row.case):
            facts = self._with_probe(facts, row, roles)
            decision = self.decided(row.case, facts, policy, version, roles, force=evidence.force)
        if decision is not None and closes_for_silence(decision, facts):
            facts = self._heard(facts, row, roles)
            if facts.asked.answered:
                decision = self.decided(row.case, facts, policy, version, roles, force=True)
        due = self._due(row.case, facts, decision, roles.now)
        if incomplete and roles.now - facts.pull.updated_at < _AGAIN_FOR:
            due = min(due or roles.now + _AGAIN, roles.now + _AGAIN)
        return Judged(row.case, facts, decision, due)

    def decided(  # noqa: PLR0913 - what a decision rests on
        self,
        case: Case,
        facts: Facts,
        policy: Policy,
        version: str,
        roles: Roles,
        *,
        force: bool,
    ) -> Decision | None:
        """The decision on these facts."""
        score = self.scorer.of(facts)
        now = roles.now
        return decide(case, facts, score, policy, version, now, means=self.means, force=force)

    def facts(
        self, row: cases.Row, evidence: Evidence, roles: Roles, policy: Policy
    ) -> tuple[Facts, bool]:
        """The facts, and whether some that were wanted are missing."""
        where = roles.standing.repository.full_name
        page = self.means.verify_page(where, row.case.number)
        facts = facts_of(self.database, row, evidence, roles, policy)
        facts = facts.model_copy(update={"verify_page": page})
        if not wants_change(row.case, facts, policy):
            return followed(self._pushed(facts, evidence), roles.now), False
        change, missing = self._change(row, roles)
        if change is not None:
            with self.database.begin() as tx:
                found = neighbours.rivals(
                    tx, row.case.repository_id, row.case.number, change.issues or ()
                )
            facts = facts.model_copy(update={"change": change, "rivals": found})
        facts = facts.model_copy(update={"activity": self._activity(facts, roles)})
        return followed(self._pushed(facts, evidence), roles.now), missing

    def _change(self, row: cases.Row, roles: Roles) -> tuple[Change | None, bool]:
        if roles.standing.recorded:
            return self.recorded.get((row.case.repository_id, row.case.number)), False
        try:
            return self.reader.change(roles.standing.repository, row.case.number), False
        except (RetryLater, Rejected) as error:
            # What a rule found before stays found until GitHub says otherwise.
            if isinstance(error, RetryLater) and _NEEDY & set(row.case.rules):
                raise
            return None, isinstance(error, RetryLater)

    def _activity(self, facts: Facts, roles: Roles) -> tuple[PublicEvent, ...] | None:
        """The public activity of somebody of whom nothing was merged here; None where unknown.

        It orders and informs, so that a read which fails is not worth waiting for.
        """
        author = facts.author
        team = facts.role is not None and facts.role >= Role.TRIAGE
        if author is None or team or facts.history.merged or roles.standing.recorded:
            return None
        with self.database.begin() as tx:
            kept = activity.of(tx, author.id, roles.now)
        if kept is not None:
            return kept
        try:
            found = self.reader.activity(roles.standing.repository, author)
        except (RetryLater, Rejected):
            return None
        with self.database.begin() as tx:
            activity.keep(tx, author.id, found, roles.now)
        return found

    def _pushed(self, facts: Facts, evidence: Evidence) -> Facts:
        """The facts with a push of the author's as an activity of theirs.

        What the button "Update branch" makes is nobody's work, whoever pressed it.
        """
        updates = {c.sha for c in facts.change.commits if c.is_update} if facts.change else set()
        own = [at for at, sha in evidence.pushes if sha not in updates]
        if not own:
            return facts
        at = max(own)
        if facts.asked.author_at is not None and facts.asked.author_at >= at:
            return facts
        asked = facts.asked.model_copy(update={"author_at": at})
        return facts.model_copy(update={"asked": asked})

    def _with_probe(self, facts: Facts, row: cases.Row, roles: Roles) -> Facts:
        """The facts with a question about the change; without one where GitHub shows no diff."""
        if roles.standing.recorded:
            return facts
        try:
            patches = self.reader.patches(roles.standing.repository, row.case.number)
        except (RetryLater, Rejected):
            return facts  # it is asked all the same whether somebody is there
        pull = facts.pull
        picked = hashlib.sha256(f"{row.case.repository_id}:{pull.number}:{pull.head.sha}".encode())
        pick = int.from_bytes(picked.digest()[:6])
        probe = question(patches, pull.title, pull.body, pick)
        return facts.model_copy(update={"probe": probe})

    def _heard(self, facts: Facts, row: cases.Row, roles: Roles) -> Facts:
        """The facts, with what a lost webhook would have told of the author."""
        since = facts.asked.challenge.since
        if facts.author is None or since is None:
            return facts
        at = self.reader.spoke_since(
            roles.standing.repository, row.case.number, facts.author, since
        )
        if at is None:
            return facts
        asked = facts.asked.model_copy(update={"author_at": at})
        return followed(facts.model_copy(update={"asked": asked}), roles.now)

    def _due(
        self, case: Case, facts: Facts, decision: Decision | None, now: datetime
    ) -> datetime | None:
        rules = [f.rule for f in decision.findings] if decision else list(case.rules)
        known = decision.due_at if decision else case.due_at
        if facts.trust is not None:
            known = min((t for t in (known, facts.trust.until) if t is not None), default=None)
        times = [known, facts.asked.challenge.due]
        if facts.appeal is not None:
            times.append(facts.appeal.deadline_at)
        if _LINK_RULE in {*rules, *case.closed_for}:
            age = now - facts.pull.created_at
            times.append(next((now + every for until, every in _LINKS if age < until), None))
        return min((at for at in times if at is not None and at > now), default=None)


def followed(facts: Facts, now: datetime) -> Facts:
    """The facts with the challenge where they have brought it."""
    challenge = follow(facts.asked.challenge, facts, now)
    asked = facts.asked.model_copy(update={"challenge": challenge})
    return facts.model_copy(update={"asked": asked})


def asks(decision: Decision, case: Case) -> bool:
    """Whether a question is about to be asked whether somebody is there, for the first time.

    Not within a burst: forty pull requests within minutes cost no forty requests.
    """
    new = any(p.effect.kind == "ask_comment" and not p.observe for p in decision.effects)
    rules = {f.rule for f in decision.findings}
    return new and not case.notices and bool(rules & LIFE) and burst.RULE.name not in rules


def closes_for_silence(decision: Decision, facts: Facts) -> bool:
    """Whether it closes since nobody answered; then a lost webhook must not be the reason."""
    closes = any(p.effect.kind == "close" and not p.observe for p in decision.effects)
    asked = facts.asked.challenge.since is not None
    return closes and asked and any(f.grace_hours for f in decision.findings)
