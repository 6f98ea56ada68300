"""Where a challenge stands by all that is known of a pull request now.

Nobody tells the challenge what happened: each time a pull request is looked at, the events are read
off its facts, which are all stored. So it does not matter where a process died in between.
"""

from collections.abc import Iterator
from datetime import datetime

from app.core.decision import CaseState
from app.core.facts import Facts, HandAct
from app.core.proofs.challenge import (
    Answer,
    Challenge,
    End,
    Event,
    Judge,
    Lose,
    Prove,
    Tick,
    Waive,
    Withdraw,
    step,
)

# A maintainer's last word on the pull request that asks nothing more of its author.
_ENOUGH: frozenset[HandAct] = frozenset(
    {"exempted", "held", "dismissed", "adopted", "undone", "reopened"}
)


def follow(old: Challenge, facts: Facts, now: datetime) -> Challenge:
    """The challenge after all that the facts say. Following them twice changes nothing."""
    found = old
    for event, at in _events(old, facts, now):
        found = step(found, event, at)
    for word in _words(found, facts):
        found = step(found, word, now)
    return found


def after(challenge: Challenge, state: CaseState, now: datetime) -> Challenge:
    """The challenge once it was decided: where no rule asks any more, its question is over."""
    asks = state in {CaseState.FLAGGED, CaseState.CLOSED}
    return challenge if asks else step(challenge, End(), now)


def _events(old: Challenge, facts: Facts, now: datetime) -> Iterator[tuple[Event, datetime]]:
    acted = facts.asked.author_at
    # GitHub's times have whole seconds: what bears the question's own came before it.
    if acted is not None and old.since is not None and acted > old.since:
        yield Answer(account_id=old.account_id), acted
    yield Tick(), now
    if facts.proof is not None:
        yield Prove(account_id=old.account_id, until=facts.proof.until), now
    elif old.until is not None:
        yield Lose(), now


def _words(old: Challenge, facts: Facts) -> Iterator[Event]:
    """What a maintainer said, by their last word on the pull request or on its author."""
    ruling, trust = facts.ruling, facts.trust
    if ruling is not None and ruling.act in _ENOUGH:
        yield from _enough(old, ruling.account_id)
    elif ruling is not None and ruling.act == "ordered_closed":
        yield Judge(by=ruling.account_id, accepted=False)
    elif facts.voucher is not None and trust is not None:
        yield from _enough(old, trust.by_id)
    elif old.word is not None:
        yield Withdraw(by=old.by or 0)


def _enough(old: Challenge, by: int) -> Iterator[Event]:
    """Nothing more is asked: an answer that was there is accepted, else the proof is waived."""
    yield Judge(by=by, accepted=True) if old.answered_at is not None else Waive(by=by)
