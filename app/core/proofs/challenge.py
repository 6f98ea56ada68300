"""A challenge: the request to show that somebody is there, from not asked to how it ended.

    not asked ──ask──▶ asked ──answer──▶ answered ──accept──▶ verified
                        │ ▲                 ├──decline──▶ failed
    the window ends ──▶ │ └──ask again ─────┘
                        ▼
                     expired ──answer──▶ answered

A question without a window, after which nothing follows, never expires.

A proof verifies and a maintainer waives from anywhere. Nobody is locked out: who answers late has
answered, who proves late is verified. What a maintainer said holds until a maintainer takes it back;
only a proof stands above "this answer will not do".

`step` is pure. The clock comes in with each event, the challenge is a value that can be stored and
loaded between any two events, and an event that comes twice changes nothing the second time.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from app.core.fact import Fact
from app.core.github import Id, Moment

MOST_ASKS = 3  # comments that ask something, for one pull request
LEAST_GRACE = timedelta(hours=1)
MOST_GRACE = timedelta(days=365)


class State(StrEnum):
    """Where a challenge stands."""

    NOT_ASKED = "not_asked"
    ASKED = "asked"
    ANSWERED = "answered"
    VERIFIED = "verified"
    EXPIRED = "expired"
    WAIVED = "waived"
    FAILED = "failed"


class Ask(Fact):
    """Our question stands on GitHub as this comment, and announces the window. Never before that.

    `grace` is None where nothing follows from silence.
    """

    kind: Literal["ask"] = "ask"
    comment_id: Id
    grace: Annotated[timedelta, Field(ge=LEAST_GRACE, le=MOST_GRACE)] | None


class Answer(Fact):
    """Somebody wrote, pushed or edited. Only what the author does counts, by numeric id."""

    kind: Literal["answer"] = "answer"
    account_id: Id


class Prove(Fact):
    """The account's proofs are enough, until `until`."""

    kind: Literal["prove"] = "prove"
    account_id: Id
    until: Moment


class Lose(Fact):
    """The proofs are no more: their owner revoked them, or a maintainer did."""

    kind: Literal["lose"] = "lose"


class Judge(Fact):
    """A maintainer's word on the author's answer: it will do, or it will not."""

    kind: Literal["judge"] = "judge"
    by: Id
    accepted: bool


class Waive(Fact):
    """A maintainer wants no proof: they vouch for the author, or the change speaks for itself."""

    kind: Literal["waive"] = "waive"
    by: Id


class Withdraw(Fact):
    """A maintainer takes back what was said by them or a colleague."""

    kind: Literal["withdraw"] = "withdraw"
    by: Id


class End(Fact):
    """The question no longer counts: no rule asks it any more, or the pull request has ended.

    Who is asked later is asked anew, with all the time again. An answer stays one.
    """

    kind: Literal["end"] = "end"


class Tick(Fact):
    """Time went by; the sweeper says so once `due` has come."""

    kind: Literal["tick"] = "tick"


Event = Annotated[
    Ask | Answer | Prove | Lose | Judge | Waive | Withdraw | End | Tick, Field(discriminator="kind")
]
EVENTS: TypeAdapter[Event] = TypeAdapter(Event)

Word = Literal[State.VERIFIED, State.WAIVED, State.FAILED]


class Challenge(Fact):
    """What is kept of one. Its state follows from it, so that no two fields can disagree.

    `account_id` is the author's. `questions` are our comments that asked. `since` is when the first
    of them that still waits for words was asked; `due_at` the end of the window, None where none
    runs; `expired`: one ended. `word` is a maintainer's and `by` whose; `until` the end of the author's proof.
    """

    account_id: Id
    questions: Annotated[tuple[Id, ...], Field(max_length=MOST_ASKS)] = ()
    since: Moment | None = None
    due_at: Moment | None = None
    expired: bool = False
    answered_at: Moment | None = None
    word: Word | None = None
    by: Id | None = None
    until: Moment | None = None

    @property
    def state(self) -> State:
        """A proof before a maintainer's word, that before an answer, that before the question."""
        if self.until is not None:
            return State.VERIFIED
        if self.word is not None:
            return self.word
        if self.answered_at is not None:
            return State.ANSWERED
        if self.since is None:
            return State.NOT_ASKED
        return State.EXPIRED if self.expired else State.ASKED

    @property
    def due(self) -> datetime | None:
        """When a `Tick` would change something; None while time changes nothing."""
        return self.due_at if self.until is None else self.until

    @property
    def may_ask(self) -> bool:
        """Whether one more question would change something."""
        open_ = {State.NOT_ASKED, State.ASKED, State.ANSWERED, State.EXPIRED}
        return self.state in open_ and len(self.questions) < MOST_ASKS

    def but(self, **changed: object) -> "Challenge":
        """The same with some fields changed, and checked."""
        return Challenge.model_validate(self.model_dump() | changed)


def step(old: Challenge, event: Event, now: datetime) -> Challenge:
    """The challenge after an event; the same one where the event says nothing new.

    `now` is the time of the event at its source (GitHub's for what happened there), or the clock's.
    """
    match event:
        case Ask():
            return _asked(old, event, now)
        case Answer():
            return _answered(old, event, now)
        case Prove():
            mine = event.account_id == old.account_id and event.until > now
            return _settled(old).but(until=event.until) if mine else old
        case Lose():
            return old.but(until=None)
        case Judge():
            # Only an answer can be judged.
            word = State.VERIFIED if event.accepted else State.FAILED
            known = old.answered_at is None or old.word is word
            return old if known else old.but(word=word, by=event.by)
        case Waive():
            said = old.word is State.WAIVED
            return old if said else _settled(old).but(word=State.WAIVED, by=event.by)
        case Withdraw():
            return old.but(word=None, by=None)
        case End():
            return _settled(old)
        case Tick():
            return _ticked(old, now)


def _settled(old: Challenge) -> Challenge:
    """Nothing is asked any more.

    A window that ran is not taken up again half over, should the proof or the word end: whoever is
    to answer then is asked anew, and has all the time again.
    """
    return old.but(since=None, due_at=None, expired=False)


def _asked(old: Challenge, event: Ask, now: datetime) -> Challenge:
    if not old.may_ask or event.comment_id in old.questions:
        return old
    ends = [now + event.grace] if event.grace is not None else []
    ends += [old.due_at] if old.due_at is not None else []  # what was announced is kept
    return old.but(
        questions=(*old.questions, event.comment_id),
        since=old.since or now,
        due_at=max(ends, default=None),
        expired=False,
        answered_at=None,
    )


def _answered(old: Challenge, event: Answer, now: datetime) -> Challenge:
    # Words from before the question are no answer to it; late ones are, for nobody has to be awake in
    # time. The window ends with them, whoever comes to read them and whenever.
    waits = old.since is not None and old.since <= now
    if event.account_id != old.account_id or not waits:
        return old
    return _settled(old).but(answered_at=now)


def _ticked(old: Challenge, now: datetime) -> Challenge:
    if old.until is not None:
        return old.but(until=None) if old.until <= now else old
    over = old.due_at is not None and old.due_at <= now
    return old.but(due_at=None, expired=True) if over else old
