"""Places in the queue: proven, unknown, suspected; a text moves within a part and never out of it."""

from datetime import UTC, datetime, timedelta

import pytest

from app.core.facts import Facts, Trust
from app.core.github import Account, Branch, PullRequest
from app.core.proofs.standing import Proof
from app.core.queueing import Tier, turn
from app.core.scoring import Score

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROOF = Proof(at=NOW, until=NOW + timedelta(days=90))
UNKNOWN = {"probability": 0.3, "low": 0.1, "high": 0.6, "unknown": True}
HIGH = {"probability": 0.9, "low": 0.7, "high": 0.97, "unknown": False}
SIDE = Branch(ref="fix", sha="a" * 40)
PULL = PullRequest(
    id=1, number=1, state="open", title="A title", user=Account(id=1, login="a"), created_at=NOW,
    updated_at=NOW, head=SIDE, base=SIDE,
)  # fmt: skip
FACTS = Facts(pull=PULL, role=None, installed_at=NOW)


def _score(*, high: bool = False, order: float = 0.0) -> Score:
    base = {"base": -0.8, "signals": (), "model": "m", "order": order}
    return Score.model_validate({**(HIGH if high else UNKNOWN), **base})


def _tier(facts: Facts, score: Score, *, exempt: bool = False, applies: bool = False) -> Tier:
    return turn(facts, score, exempt=exempt, applies=applies).tier


def test_the_parts_in_their_order() -> None:
    vouched = Trust(kind="vouched", by_login="wendy", at=NOW)
    proven = FACTS.model_copy(update={"proof": PROOF})
    assert _tier(FACTS, _score()) is Tier.UNKNOWN
    assert _tier(FACTS, _score(), applies=True) is Tier.SUSPECTED
    assert _tier(FACTS, _score(high=True)) is Tier.SUSPECTED
    assert _tier(FACTS, _score(high=True), exempt=True) is Tier.PROVEN
    for known in (proven, FACTS.model_copy(update={"trust": vouched})):
        assert _tier(known, _score(high=True), applies=True) is Tier.PROVEN


@pytest.mark.parametrize("order", [-9.0, 9.0])
def test_a_text_leads_out_of_no_part(order: float) -> None:
    found = turn(FACTS, _score(order=order), exempt=False, applies=False)
    assert (found.tier, found.order) == (Tier.UNKNOWN, order)
