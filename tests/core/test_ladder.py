"""The ladder: a question first, its clock, its author's word, and what opens again by itself."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.cases import decide
from app.core.decision import Case, CaseState, Decision
from app.core.effects import Close, Notice
from app.core.facts import Asked, Facts, Opened, Role
from app.core.features import Signal
from app.core.github import Account, Branch, PullRequest
from app.core.ladder import cured
from app.core.modes import Mode
from app.core.policy import Ladder, Policy, Rules
from app.core.proofs.challenge import Ask, Challenge, step
from app.core.proofs.following import follow
from app.core.rules.base import Finding
from app.core.rules.burst import BurstRule
from app.core.rules.unattended import UnattendedRule
from app.core.said import say
from app.core.scoring import add_up
from tests.core.strategies import MEANS, NOW, fresh_case

SURE = add_up(-2.0, (Signal(name="x", value="", sentence="Seen.", weight=9, evidence=99),), "x")
HOURS = 48
GRACE = timedelta(hours=HOURS)
CLOSING = Policy(
    mode=Mode.CLOSE,
    ladder=Ladder(grace_hours=HOURS),
    rules=Rules(unattended=UnattendedRule(mode=Mode.CLOSE), burst=BurstRule(mode=Mode.OFF)),
)


def facts(asked: Asked = Asked()) -> Facts:  # noqa: B008 - immutable
    return Facts(
        pull=PullRequest(
            id=1,
            number=5,
            state="open",
            title="A change",
            user=Account(id=7, login="author"),
            created_at=NOW - timedelta(days=9),
            updated_at=NOW,
            head=Branch(ref="topic", sha="a" * 40),
            base=Branch(ref="main", sha="c" * 40),
        ),
        role=Role.NONE,
        asked=asked,
        installed_at=NOW - timedelta(days=99),
    )


@dataclass
class Story:
    """One pull request through time; the question and the close are carried out at once."""

    policy: Policy = CLOSING
    now: datetime = NOW
    facts: Facts = field(default_factory=facts)
    case: Case = field(default_factory=fresh_case)
    last: Decision | None = None

    def keep(self, challenge: Challenge) -> None:
        asked = self.facts.asked.model_copy(update={"challenge": challenge})
        self.facts = self.facts.model_copy(update={"asked": asked})

    def look(self) -> Decision | None:
        self.keep(follow(self.facts.asked.challenge, self.facts, self.now))
        decision = decide(self.case, self.facts, SURE, self.policy, "sha", self.now, means=MEANS)
        if decision is None:
            return None
        self.last = decision
        self.case = self.case.model_copy(
            update={
                "version": decision.version,
                "state": decision.state,
                "fingerprint": decision.fingerprint,
                "planned": decision.planned,
            }
        )
        for planned in decision.effects:
            if planned.observe:
                continue
            if planned.effect.kind == "ask_comment":
                hours = planned.effect.grace_hours
                grace = timedelta(hours=hours) if hours else None
                ask = Ask(comment_id=self.case.notices + 1, grace=grace)
                self.keep(step(self.facts.asked.challenge, ask, self.now))
                self.case = self.case.model_copy(update={"notices": self.case.notices + 1})
            elif planned.effect.kind in {"close", "reopen"}:
                closed = planned.effect.kind == "close"
                pull = self.facts.pull.model_copy(update={"state": "closed" if closed else "open"})
                self.facts = self.facts.model_copy(update={"pull": pull})
                self.case = self.case.model_copy(
                    update={"closed_by_us": closed, "reopened_at": None if closed else self.now}
                )
        return decision

    def author_does_something(self) -> None:
        asked = self.facts.asked.model_copy(update={"author_at": self.now})
        self.facts = self.facts.model_copy(update={"asked": asked})

    def kinds(self) -> list[str]:
        assert self.last is not None
        return [p.effect.kind for p in self.last.effects if not p.observe]


def test_a_question_comes_first_and_says_what_follows() -> None:
    story = Story()
    story.look()
    assert story.last is not None
    assert story.last.state is CaseState.FLAGGED
    assert story.last.rung is Mode.ASK
    assert "close" not in story.kinds()
    question = next(p.effect for p in story.last.effects if isinstance(p.effect, Notice))
    assert question.grace_hours == HOURS
    assert f"{HOURS} hours" in question.body


def test_silence_until_the_end_of_the_window_closes_and_not_a_second_before() -> None:
    story = Story()
    story.look()
    story.now += GRACE - timedelta(seconds=1)
    waits = story.look()
    assert waits is None or waits.rung is Mode.ASK
    story.now += timedelta(seconds=1)
    story.look()
    assert story.kinds()[-2:] == ["close_comment", "close"]
    story.look()
    assert story.case.state is CaseState.CLOSED


@given(st.integers(0, HOURS * 3600), st.integers(0, 1000))
def test_a_word_of_the_author_at_any_time_cancels_the_close(after: int, later: int) -> None:
    story = Story()
    story.look()
    # The clock of the word may not be ahead of the question's by less than it can tell apart.
    story.now += timedelta(seconds=after, microseconds=1)
    story.author_does_something()
    story.now += timedelta(hours=later)
    found = story.look()
    assert found is not None
    assert found.rung is Mode.ASK
    assert found.findings[0].answered
    assert found.due_at is None
    assert "close" not in story.kinds()
    assert "answered" in next(
        p.effect.body for p in found.planned if p.effect.kind == "status_comment"
    )


def test_what_the_author_did_before_the_question_is_no_answer() -> None:
    story = Story()
    story.author_does_something()
    story.now += timedelta(hours=1)
    story.look()
    story.now += GRACE
    story.look()
    assert "close" in story.kinds()


def test_the_time_to_look_again_is_stored_once_the_question_stands() -> None:
    story = Story()
    first = story.look()
    assert first is not None
    assert first.due_at is None
    story.facts = story.facts.model_copy(
        update={"pull": story.facts.pull.model_copy(update={"title": "Another title"})}
    )
    story.now += timedelta(hours=1)
    second = story.look()
    assert second is not None
    assert second.due_at == NOW + GRACE


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.LABEL, Mode.ASK])
def test_a_repository_that_may_not_close_starts_no_clock(mode: Mode) -> None:
    story = Story(policy=CLOSING.model_copy(update={"mode": mode}))
    story.look()
    assert story.last is not None
    for planned in story.last.effects:
        if isinstance(planned.effect, Notice) and not planned.observe:
            assert planned.effect.grace_hours == 0
            assert "Nothing is closed" in planned.effect.body
    story.now += GRACE * 2
    story.look()
    assert "close" not in story.kinds()


def test_a_close_that_no_question_announced_is_announced_first() -> None:
    """The repository asked only, and the author was told that nothing is closed."""
    story = Story(policy=CLOSING.model_copy(update={"mode": Mode.ASK}))
    story.look()
    story.now += GRACE * 3
    story.policy = CLOSING
    story.look()
    assert "ask_comment" in story.kinds()
    assert "close" not in story.kinds()
    story.now += GRACE - timedelta(seconds=1)
    assert story.look() is None
    story.now += timedelta(seconds=1)
    story.look()
    assert "close" in story.kinds()


def test_a_window_that_was_announced_is_not_made_shorter() -> None:
    story = Story()
    story.look()
    story.policy = CLOSING.model_copy(update={"ladder": Ladder(grace_hours=24)})
    story.now += timedelta(hours=25)
    story.look()
    assert "close" not in story.kinds()
    story.policy = CLOSING.model_copy(update={"ladder": Ladder(grace_hours=96)})
    story.now = NOW + timedelta(hours=95)
    assert story.look() is None
    story.now += timedelta(hours=1)
    story.look()
    assert "close" in story.kinds()


def test_the_score_never_closes_at_once_whatever_the_configuration_says() -> None:
    with pytest.raises(ValueError, match="24 or more"):
        UnattendedRule(mode=Mode.CLOSE, grace_hours=0)
    with pytest.raises(ValueError, match="greater than or equal to 24"):
        Ladder(grace_hours=1)


def test_a_label_that_is_switched_off_is_not_put_on() -> None:
    policy = CLOSING.model_copy(update={"ladder": Ladder(label=False)})
    story = Story(policy=policy)
    story.look()
    assert "label" not in story.kinds()
    assert story.last is not None
    status = next(p.effect for p in story.last.effects if p.effect.kind == "status_comment")
    assert policy.label not in status.body


def _finding(rule: str) -> Finding:
    return Finding(rule=rule, sentence=say("It is so."), rung=Mode.ASK, in_force=Mode.CLOSE)


def test_a_burst_and_a_score_are_never_cured_by_themselves() -> None:
    for rule in ("burst", "unattended"):
        assert not cured((rule,), (), facts(), CLOSING)


def test_nothing_is_cured_by_a_rule_nobody_knows_or_by_no_rule() -> None:
    assert not cured((), (), facts(), CLOSING)
    assert not cured(("gone",), (), facts(), CLOSING)
    assert not cured(("burst", "gone"), (_finding("burst"),), facts(), CLOSING)


def test_what_it_was_closed_for_is_kept_with_the_close() -> None:
    policy = Policy(mode=Mode.CLOSE, rules=Rules(burst=BurstRule(prs=2)))
    now = facts().pull.created_at
    opened = (Opened(number=5, at=now), Opened(number=6, at=now))
    story = Story(policy=policy, facts=facts().model_copy(update={"opened": opened}))
    story.look()
    story.look()
    assert story.case.state is CaseState.CLOSED
    assert story.case.closed_for == ("burst",)
    closes = [p.effect for p in story.case.planned if isinstance(p.effect, Close)]
    assert [c.rules for c in closes] == [("burst",)]
