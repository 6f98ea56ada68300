"""Commands in comments, from their text to what follows: permissions and logins are read live."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.appeals import opened
from app.core.commands import Given, Wrong, commands
from app.core.effects import React
from app.core.events import CommentEvent
from app.core.facts import RULING, Appeal, Hand, Request, Role
from app.core.github import Account
from app.core.ladder import is_word
from app.core.modes import Mode
from app.core.orders import ONE_COUNTS, RIGHTS, Outcome, Scene, obey
from app.core.proofs.challenge import Answer, Challenge, Tick, step
from app.core.rules import denied
from app.db import appeals, cases, people, trust
from app.db.engine import Tx
from app.db.inbox import Stimulus
from app.flows.evidence import Evidence, Roles, Word
from app.flows.naming import who_answers

_WHERE = {"issue_comment": "issue_comment", "pull_request_review_comment": "review_comment"}


# A delivery that comes so long after its comment was redelivered, or held up on its way.
_LATE = timedelta(minutes=1)


def _as_written(stimulus: Stimulus, event: CommentEvent) -> Stimulus:
    """The stimulus as of when its comment was written, where it came late: the last word counts.

    Else as of when it came, since GitHub's times have whole seconds.
    """
    at = event.comment.at
    if at is None or stimulus.received_at - at <= _LATE:
        return stimulus
    return stimulus.model_copy(update={"received_at": at})


@dataclass(frozen=True)
class Obeying:
    """What commands are given about.

    `page` is where maintainers read the evidence, `mine` where authors read what is kept of them.
    """

    row: cases.Row
    roles: Roles
    page: str
    mine: str

    def take(self, stimulus: Stimulus, event: CommentEvent, evidence: Evidence) -> None:
        """Reads one comment. What its commands come to is added to the evidence.

        An edited comment gives none: people quote and mend what they wrote long ago.
        """
        user = event.comment.user
        if user is None or user.is_app or event.action not in {"created", "submitted"}:
            return
        stimulus = _as_written(stimulus, event)
        taken = [self._one(one, user, stimulus) for one in commands(event.comment.body)]
        rulings = [outcome for outcome, _ in taken if outcome and outcome.rules]
        for outcome, request in taken:
            if outcome is None:
                continue
            meant = outcome.granted or outcome.answer is not None
            evidence.by_team |= meant and not self._is_author(user)
            if outcome.rules and outcome is not rulings[-1]:
                if ONE_COUNTS not in evidence.obeyed.answers:
                    evidence.obeyed.answers.append(ONE_COUNTS)
                continue
            self._react(event, outcome, evidence)
            if outcome.answer is not None:
                evidence.obeyed.answers.append(outcome.answer)
            if request is not None and outcome.granted:
                self._keep(outcome, request, user, stimulus, evidence)

    def _keep(
        self,
        outcome: Outcome,
        request: Request,
        user: Account,
        stimulus: Stimulus,
        evidence: Evidence,
    ) -> None:
        """What a command that is carried out comes to."""
        evidence.requests.append(request)
        evidence.obeyed.named = outcome.named or evidence.obeyed.named
        if outcome.trust is not None:
            target = self._account(request.target)
            if target is not None:
                evidence.obeyed.words.append(Word(target, user, outcome.trust))
        if outcome.hand is not None:
            at, reason = stimulus.received_at, request.reason
            hand = Hand(
                act=outcome.hand, account_id=user.id, login=user.login, at=at, reason=reason
            )
            evidence.hands.append(hand)

    def _is_author(self, user: Account) -> bool:
        author = self.row.pull.user
        return author is not None and author.id == user.id

    def _one(
        self, one: Given | Wrong, user: Account, stimulus: Stimulus
    ) -> tuple[Outcome | None, Request | None]:
        by_author = self._is_author(user)
        if isinstance(one, Wrong):
            # Only to who could mean it: a stranger's slip is nobody's business.
            if by_author or self.roles.is_team(user):
                return Outcome(reaction="confused", answer=one.problem), None
            return None, None
        # Authors need no permission for what is theirs to ask, and cost no request.
        free = by_author and RIGHTS[one.command].author
        role = Role.NONE if free else self.roles.of(user)
        request = Request(
            command=one.command,
            account_id=user.id,
            login=user.login,
            by_author=by_author,
            role=role or Role.NONE,
            target=one.login,
            days=one.days,
            reason=one.reason,
        )
        return self._obeyed(request, stimulus), request

    def _obeyed(self, request: Request, stimulus: Stimulus) -> Outcome:
        target, target_role = None, Role.NONE
        team = request.role >= Role.TRIAGE
        if request.command in {"verify", "vouch", "deny"} and team:
            target = self._account(request.target)
            if target is not None and request.command != "vouch":
                target_role = self.roles.of(target) or Role.NONE
        pull = self.row.pull
        named = self._named(request)
        with self.roles.database.begin() as tx:
            hands = people.hands_on(tx, self.row.case.id)
            appeal, declined = self._appeal(tx, request, named, stimulus)
            by_a_word = self._by_a_word() or self._is_denied(tx, stimulus)
        ruling = [h.act for h in hands if h.act in RULING]
        scene = Scene(
            author=pull.user,
            open=pull.state == "open",
            closed_by_us=self.row.case.closed_by_us and not self.row.case.closed_by_hand(hands),
            ordered_closed=ruling[-1:] == ["ordered_closed"] or by_a_word,
            page=self.page,
            mine=self.mine,
            challenge=self._challenge(request, stimulus.received_at),
            appeal=appeal,
            declined=declined,
            target=target,
            target_role=target_role,
            now=stimulus.received_at,
        )
        return obey(request, scene)

    def _named(self, request: Request) -> str | None:
        """Who would be asked to answer the appeal that a command opens."""
        if request.command != "appeal" or self.roles.standing.recorded:
            return None
        standing = self.roles.standing
        with self.roles.database.begin() as tx:
            if appeals.open_on(tx, self.row.case.id) is not None:
                return None
        return who_answers(
            self.roles.database,
            standing.repository.id,
            standing.policy.appeals,
            request.login,
            self._account,
            self.roles.of,
        )

    def _appeal(
        self, tx: Tx, request: Request, named: str | None, stimulus: Stimulus
    ) -> tuple[Appeal | None, bool]:
        """The appeal that is open or would be opened, and whether the last one was declined."""
        case, standing = self.row.case, self.roles.standing
        known = appeals.open_on(tx, case.id)
        if request.command != "appeal":
            return known, False
        at = appeals.last_declined(tx, case.id)
        declined = at is not None and (case.closed_at is None or case.closed_at <= at)
        if known is not None or not (case.rules or self.row.pull.state == "closed"):
            return known, declined
        return opened(standing.policy.appeals, named, stimulus.received_at), declined

    def _challenge(self, request: Request, at: datetime) -> Challenge:
        """Where it stands with this comment, which answers the question if it is its author's."""
        known = step(self.row.asked.challenge, Tick(), at)
        by_author = request.by_author and known.since is not None
        return step(known, Answer(account_id=request.account_id), at) if by_author else known

    def _by_a_word(self) -> bool:
        case = self.row.case
        return case.closed_by_us and is_word(case.closed_for)

    def _is_denied(self, tx: Tx, stimulus: Stimulus) -> bool:
        """Whether a word against its author would close it at once."""
        author, standing = self.row.pull.user, self.roles.standing
        policy, at = standing.policy, stimulus.received_at
        if author is None or policy.in_force(policy.of(denied.RULE).mode) is not Mode.CLOSE:
            return False
        word = trust.current(tx, standing.repository.id, author.id, at, shared=policy.trust.shared)
        return word is not None and word.kind == "denied"

    def _account(self, login: str | None) -> Account | None:
        """Whom a command names: by default, and by name, the author costs no request."""
        author = self.row.pull.user
        if author is not None and login in {None, author.login}:
            return author
        if login is None or self.roles.standing.recorded:
            return None
        return self.roles.reader.account(self.roles.standing.repository, login)

    def _react(self, event: CommentEvent, outcome: Outcome, evidence: Evidence) -> None:
        where = _WHERE.get(event.name)
        if where is None:  # a review: GitHub has no reactions for those
            return
        reaction = React(
            where=where,
            comment_id=event.comment.id,
            content=outcome.reaction,
        )
        if reaction not in evidence.obeyed.reactions:
            evidence.obeyed.reactions.append(reaction)
