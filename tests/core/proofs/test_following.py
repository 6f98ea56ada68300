"""The state of a challenge is read off the facts: at any time, any number of times, to the same end."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.decision import CaseState
from app.core.facts import Asked, Facts, Hand, HandAct, Trust
from app.core.proofs.challenge import Answer, Ask, Challenge, State, step
from app.core.proofs.following import after, follow
from app.core.proofs.standing import Proof
from app.core.proofs.telling import told
from tests.core.strategies import NOW
from tests.core.test_ladder import facts as seen

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ASKED = step(Challenge(account_id=7), Ask(comment_id=1, grace=DAY), NOW)
ANSWERED = step(ASKED, Answer(account_id=7), NOW + HOUR)
PROOF = Proof(at=NOW, until=NOW + 180 * DAY)
VOUCHED = Trust(kind="vouched", by_id=3, by_login="mark", at=NOW)


def hand(act: HandAct) -> Hand:
    return Hand(act=act, account_id=3, login="mark", at=NOW)


def known(challenge: Challenge, **more: object) -> Facts:
    acted = more.pop("author_at", None)
    asked = Asked(challenge=challenge, author_at=acted)  # type: ignore[arg-type]
    return seen(asked).model_copy(update=more)


@pytest.mark.parametrize(
    ("before", "facts", "hours", "then"),
    [
        (ASKED, {}, 23, "asked"),
        (ASKED, {}, 24, "expired"),
        (ASKED, {"author_at": NOW + HOUR}, 2, "answered"),
        (ASKED, {"author_at": NOW}, 2, "asked"),
        (ASKED, {"author_at": NOW + HOUR}, 99, "answered"),
        (ASKED, {"proof": PROOF}, 1, "verified"),
        (ASKED, {"hands": (hand("held"),)}, 1, "waived"),
        (ANSWERED, {"hands": (hand("exempted"),)}, 1, "verified"),
        (ANSWERED, {"trust": VOUCHED}, 1, "verified"),
        (ASKED, {"trust": VOUCHED}, 1, "waived"),
        (ANSWERED, {"hands": (hand("ordered_closed"),)}, 1, "failed"),
        (ASKED, {"hands": (hand("ordered_closed"),)}, 1, "asked"),
        (ANSWERED, {"hands": (hand("held"), hand("released"))}, 1, "answered"),
        (ANSWERED, {"hands": (hand("labeled"),)}, 1, "answered"),
    ],
)
def test_what_the_facts_say(
    before: Challenge, facts: dict[str, object], hours: int, then: str
) -> None:
    found = follow(before, known(before, **facts), NOW + hours * HOUR)
    assert found.state == then
    assert told(found).id


def test_what_is_taken_back_or_ends_is_so_no_longer() -> None:
    vouched = follow(ANSWERED, known(ANSWERED, trust=VOUCHED), NOW + HOUR)
    assert follow(vouched, known(vouched), NOW + HOUR).state is State.ANSWERED
    proven = follow(ASKED, known(ASKED, proof=PROOF), NOW)
    assert follow(proven, known(proven), NOW + HOUR).state is State.NOT_ASKED
    over = follow(proven, known(proven), PROOF.until)
    assert over.state is State.NOT_ASKED


@pytest.mark.parametrize("state", CaseState)
def test_a_question_ends_where_no_rule_asks_any_more(state: CaseState) -> None:
    still = state in {CaseState.FLAGGED, CaseState.CLOSED}
    assert after(ASKED, state, NOW).state == ("asked" if still else "not_asked")
    assert after(ANSWERED, state, NOW).state is State.ANSWERED


@given(
    st.sampled_from([Challenge(account_id=7), ASKED, ANSWERED]),
    st.fixed_dictionaries(
        {
            "author_at": st.sampled_from([None, NOW, NOW + HOUR, NOW + 2 * DAY]),
            "proof": st.sampled_from([None, PROOF]),
            "trust": st.sampled_from([None, VOUCHED]),
            "hands": st.lists(
                st.sampled_from(["held", "exempted", "released", "ordered_closed", "labeled"]).map(
                    hand  # type: ignore[arg-type]
                ),
                max_size=3,
            ).map(tuple),
        }
    ),
    st.integers(0, 100),
)
def test_following_twice_changes_nothing_also_after_a_restart(
    before: Challenge, facts: dict[str, object], hours: int
) -> None:
    now = NOW + hours * HOUR
    once = follow(before, known(before, **facts), now)
    loaded = Challenge.model_validate_json(once.model_dump_json())
    assert follow(loaded, known(loaded, **facts), now) == once
