"""A challenge through any sequence of events, stored and loaded between any two of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule
from pydantic import ValidationError

from app.core.proofs.challenge import (
    EVENTS,
    LEAST_GRACE,
    MOST_ASKS,
    Answer,
    Ask,
    Challenge,
    End,
    Judge,
    Lose,
    Prove,
    State,
    Tick,
    Waive,
    Withdraw,
    step,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
AUTHOR, OTHER, MAINTAINER = 7, 8, 3
HOUR, DAY = timedelta(hours=1), timedelta(days=1)

ASK = Ask(comment_id=1, grace=3 * DAY)
ASK_AGAIN = Ask(comment_id=2, grace=3 * DAY)
ANSWER = Answer(account_id=AUTHOR)
PROVE = Prove(account_id=AUTHOR, until=NOW + 180 * DAY)
ACCEPT, DECLINE = Judge(by=MAINTAINER, accepted=True), Judge(by=MAINTAINER, accepted=False)
WAIVE, WITHDRAW = Waive(by=MAINTAINER), Withdraw(by=MAINTAINER)
LATER = NOW + 4 * DAY

# How each state is reached, by events at `NOW`; the window is over at `LATER`.
REACHED: dict[str, list[Any]] = {
    "not_asked": [],
    "asked": [ASK],
    "answered": [ASK, ANSWER],
    "verified": [PROVE],
    "expired": [ASK, (Tick(), LATER)],
    "waived": [WAIVE],
    "failed": [ASK, ANSWER, DECLINE],
}
# From each state by each event: the state after it.
COLUMNS = {
    "ask": ASK_AGAIN, "answer": ANSWER, "prove": PROVE, "lose": Lose(), "accept": ACCEPT,
    "decline": DECLINE, "waive": WAIVE, "withdraw": WITHDRAW, "tick": Tick(), "end": End(),
}  # fmt: skip
TABLE = {
    #             ask          answer       prove       lose         accept       decline      waive       withdraw     tick         end
    "not_asked": ("asked",     "not_asked", "verified", "not_asked", "not_asked", "not_asked", "waived",   "not_asked", "not_asked", "not_asked"),
    "asked":     ("asked",     "answered",  "verified", "asked",     "asked",     "asked",     "waived",   "asked",     "expired", "not_asked"),
    "answered":  ("asked",     "answered",  "verified", "answered",  "verified",  "failed",    "waived",   "answered",  "answered", "answered"),
    "verified":  ("verified",  "verified",  "verified", "not_asked", "verified",  "verified",  "verified", "verified",  "verified", "verified"),
    "expired":   ("asked",     "answered",  "verified", "expired",   "expired",   "expired",   "waived",   "expired",   "expired", "not_asked"),
    "waived":    ("waived",    "waived",    "verified", "waived",    "waived",    "waived",    "waived",   "not_asked", "waived", "waived"),
    "failed":    ("failed",    "failed",    "verified", "failed",    "verified",  "failed",    "waived",   "answered",  "failed", "failed"),
}  # fmt: skip


def reached(state: str) -> Challenge:
    found = Challenge(account_id=AUTHOR)
    for one in REACHED[state]:
        event, at = one if isinstance(one, tuple) else (one, NOW)
        found = step(found, event, at)
    assert found.state == state
    return found


@pytest.mark.parametrize(
    ("start", "word", "end"),
    [
        (start, word, end)
        for start, row in TABLE.items()
        for word, end in zip(COLUMNS, row, strict=True)
    ],
)
def test_every_transition(start: str, word: str, end: str) -> None:
    assert step(reached(start), COLUMNS[word], LATER).state == end


def test_the_table_is_complete() -> None:
    assert set(TABLE) == set(REACHED) == set(State)


def test_a_proof_ends_after_its_time_and_what_else_was_said_holds_again() -> None:
    end = NOW + 180 * DAY
    for before in ("waived", "failed", "answered"):
        proven = step(reached(before), PROVE, NOW)
        assert proven.due == end
        assert step(proven, Tick(), end - HOUR).state == "verified"
        assert step(proven, Tick(), end).state == before
    # A question that was open is asked anew, with all its time.
    over = step(step(reached("asked"), PROVE, NOW), Tick(), end)
    assert (over.state, over.due, over.may_ask) == ("not_asked", None, True)


def test_a_reminder_never_shortens_the_window_and_questions_have_an_end() -> None:
    asked = step(Challenge(account_id=AUTHOR), Ask(comment_id=1, grace=9 * DAY), NOW)
    again = step(asked, Ask(comment_id=2, grace=DAY), NOW + HOUR)
    assert again.due == NOW + 9 * DAY
    third = step(again, Ask(comment_id=3, grace=10 * DAY), NOW + HOUR)
    assert third.due == NOW + HOUR + 10 * DAY
    assert step(third, Ask(comment_id=4, grace=20 * DAY), NOW + HOUR) == third


@pytest.mark.parametrize(
    "event",
    [
        Answer(account_id=OTHER),
        Prove(account_id=OTHER, until=NOW + DAY),
        Prove(account_id=AUTHOR, until=NOW),
        ASK,
        Tick(),
        Lose(),
        ACCEPT,
    ],
)
def test_what_says_nothing_new_changes_nothing(event: Any) -> None:
    assert step(reached("asked"), event, NOW + HOUR) == reached("asked")


def test_words_from_before_the_question_are_no_answer() -> None:
    assert step(reached("asked"), ANSWER, NOW - timedelta(seconds=1)).state == "asked"


def test_no_window_is_too_short() -> None:
    with pytest.raises(ValidationError):
        Ask(comment_id=1, grace=LEAST_GRACE - timedelta(seconds=1))


class OneChallenge(RuleBasedStateMachine):
    """What happens to one challenge, beside a plain log of it from which all is told again."""

    given = Bundle("given")

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.challenge = Challenge(account_id=AUTHOR)
        # What a bystander would note down.
        self.windows: list[datetime] = []  # ends that were announced and are not settled
        self.asks = 0
        self.waits_since: datetime | None = None
        self.answered = False
        self.word: str | None = None
        self.proof: datetime | None = None

    def apply(self, event: Any, at: datetime | None = None) -> None:
        """Through the inbox: as JSON, twice, with a restart between."""
        event = EVENTS.validate_json(EVENTS.dump_json(event))
        at = at or self.now
        once = step(self.challenge, event, at)
        loaded = Challenge.model_validate_json(once.model_dump_json())
        assert loaded == once
        assert step(loaded, event, at) == once
        self.challenge = loaded

    def settle(self) -> None:
        self.windows, self.waits_since = [], None

    @rule(hours=st.integers(0, 24 * 40))
    def time_passes(self, hours: int) -> None:
        self.now += hours * HOUR

    @rule(target=given, hours=st.integers(24, 24 * 20))
    def we_ask(self, hours: int) -> Ask:
        event = Ask(comment_id=100 + self.asks, grace=hours * HOUR)
        free = self.word is None and self.proof is None
        if free and self.asks < MOST_ASKS:
            assert self.challenge.may_ask
            if not any(end > self.now for end in self.windows) and self.challenge.state != "asked":
                self.windows = []
            self.asks += 1
            self.answered = False
            self.windows.append(self.now + event.grace)
            self.waits_since = self.waits_since or self.now
        else:
            assert not self.challenge.may_ask
        self.apply(event)
        return event

    @rule(event=consumes(given))
    def our_comment_is_delivered_once_more(self, event: Ask) -> None:
        before = self.challenge
        if event.comment_id in before.questions:
            self.apply(event)
            assert self.challenge == before

    @rule(who=st.sampled_from([AUTHOR, OTHER]), late=st.integers(-48, 0))
    def somebody_writes(self, who: int, late: int) -> None:
        at = self.now + late * HOUR
        if who == AUTHOR and self.waits_since is not None and at >= self.waits_since:
            self.answered = True
            self.settle()
        self.apply(Answer(account_id=who), at)

    @rule(who=st.sampled_from([AUTHOR, OTHER]), days=st.integers(-1, 200))
    def somebody_proves(self, who: int, days: int) -> None:
        until = self.now + days * DAY
        if who == AUTHOR and days > 0:
            self.proof = until
            self.settle()
        self.apply(Prove(account_id=who, until=until))

    @rule()
    def the_proof_is_revoked(self) -> None:
        self.proof = None
        self.apply(Lose())

    @rule(accepted=st.booleans())
    def a_maintainer_judges(self, accepted: bool) -> None:
        if self.answered:
            self.word = "verified" if accepted else "failed"
        self.apply(Judge(by=MAINTAINER, accepted=accepted))

    @rule()
    def a_maintainer_waives(self) -> None:
        self.word = "waived"
        self.settle()
        self.apply(WAIVE)

    @rule()
    def a_maintainer_takes_it_back(self) -> None:
        self.word = None
        self.apply(WITHDRAW)

    @rule()
    def the_sweeper_comes(self) -> None:
        due, before = self.challenge.due, self.challenge
        if self.proof is not None and self.proof <= self.now:
            self.proof = None
        self.apply(Tick())
        # It comes for nothing before the time that was named, and never for nothing after it.
        assert (self.challenge != before) == (due is not None and due <= self.now)

    @invariant()
    def the_state_is_what_the_log_says(self) -> None:
        state = self.challenge.state
        if self.proof is not None:
            assert state == "verified"
        elif self.word is not None:
            assert state == self.word
        elif self.answered:
            assert state == "answered"
        elif self.waits_since is None:
            assert state == "not_asked"
        else:
            assert state in {"asked", "expired"}

    @invariant()
    def nothing_expires_before_every_announced_window_is_over(self) -> None:
        if self.challenge.state == "expired":
            assert self.windows
            assert max(self.windows) <= self.now
        if self.challenge.state == "asked":
            assert self.challenge.due is not None
            assert self.challenge.due == max(self.windows)

    @invariant()
    def we_do_not_nag(self) -> None:
        assert len(self.challenge.questions) == self.asks <= MOST_ASKS


TestOneChallenge = OneChallenge.TestCase
