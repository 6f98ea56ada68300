"""Commands in comments, from their text to what follows: permissions and logins are read live."""

from dataclasses import dataclass

from app.core.appeals import opened
from app.core.commands import Given, Wrong, commands
from app.core.effects import React
from app.core.events import CommentEvent
from app.core.facts import Appeal, Hand, Request, Role
from app.core.github import Account
from app.core.ladder import is_word
from app.core.orders import RIGHTS, Outcome, Scene, obey
from app.db import appeals, cases, people
from app.db.engine import Tx
from app.db.inbox import Stimulus
from app.flows.evidence import Evidence, Roles, Word

_WHERE = {"issue_comment": "issue_comment", "pull_request_review_comment": "review_comment"}


@dataclass(frozen=True)
class Obeying:
    """What commands are given about. `page` is where maintainers read the evidence."""

    row: cases.Row
    roles: Roles
    page: str

    def take(self, stimulus: Stimulus, event: CommentEvent, evidence: Evidence) -> None:
        """Reads one comment. What its commands come to is added to the evidence.

        An edited comment gives none: people quote and mend what they wrote long ago.
        """
        user = event.comment.user
        if user is None or user.is_app or event.action not in {"created", "submitted"}:
            return
        for one in commands(event.comment.body):
            outcome, request = self._one(one, user, stimulus)
            if outcome is None:
                continue
            self._react(event, outcome, evidence)
            if outcome.answer is not None:
                evidence.obeyed.answers.append(outcome.answer)
            if request is None or not outcome.granted:
                continue
            evidence.requests.append(request)
            if outcome.trust is not None:
                target = self._account(request.target)
                if target is not None:
                    evidence.obeyed.words.append(Word(target, user, outcome.trust))
            if outcome.hand is not None:
                at = stimulus.received_at
                hand = Hand(
                    act=outcome.hand,
                    account_id=user.id,
                    login=user.login,
                    at=at,
                    reason=request.reason,
                )
                evidence.hands.append(hand)

    def _one(
        self, one: Given | Wrong, user: Account, stimulus: Stimulus
    ) -> tuple[Outcome | None, Request | None]:
        author = self.row.pull.user
        by_author = author is not None and author.id == user.id
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
        with self.roles.database.begin() as tx:
            hands = people.hands_on(tx, self.row.case.id)
            appeal, declined = self._appeal(tx, request, stimulus)
        ruling = [h.act for h in hands if h.act in {"ordered_closed", "undone", "adopted"}]
        scene = Scene(
            author=pull.user,
            open=pull.state == "open",
            closed_by_us=self.row.case.closed_by_us and not self.row.case.closed_by_hand(hands),
            ordered_closed=ruling[-1:] == ["ordered_closed"] or self._by_a_word(),
            page=self.page,
            appeal=appeal,
            declined=declined,
            target=target,
            target_role=target_role,
            now=stimulus.received_at,
        )
        return obey(request, scene)

    def _appeal(self, tx: Tx, request: Request, stimulus: Stimulus) -> tuple[Appeal | None, bool]:
        """The appeal that is open or would be opened, and whether the last one was declined."""
        case, standing = self.row.case, self.roles.standing
        known = appeals.open_on(tx, case.id)
        if request.command != "appeal":
            return known, False
        at = appeals.last_declined(tx, case.id)
        declined = at is not None and (case.closed_at is None or case.closed_at <= at)
        if known is not None or not (case.rules or self.row.pull.state == "closed"):
            return known, declined
        config = standing.policy.appeals
        turns = appeals.loads(tx, standing.repository.id, config.maintainers)
        return opened(config, turns, request.login, stimulus.received_at), declined

    def _by_a_word(self) -> bool:
        case = self.row.case
        return case.closed_by_us and is_word(case.closed_for)

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
