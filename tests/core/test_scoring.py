"""The score: bounded, additive, monotone, and unknown where nothing was seen."""

import math

from hypothesis import given
from hypothesis import strategies as st

from app.core.facts import Facts
from app.core.features import Signal
from app.core.scoring import Score, add_up
from tests.core.strategies import all_facts, shows, signals
from tests.scorer import SCORER


def _score(found: tuple[Signal, ...]) -> Score:
    return add_up(-2.0, found, "x")


@given(
    st.lists(
        signals
        | st.builds(
            Signal,
            name=st.just("x"),
            value=st.just(""),
            sentence=st.just(""),
            weight=st.floats(allow_nan=False, allow_infinity=False),
            evidence=st.integers(0, 10**9),
        ),
        max_size=5,
    )
)
def test_score_is_a_probability_in_its_band(found: list[Signal]) -> None:
    score = _score(tuple(found))
    assert 0 <= score.low <= score.probability <= score.high <= 1
    assert score.unknown == (sum(s.evidence for s in found) == 0)
    assert score.signals == tuple(found)


@given(st.lists(signals, max_size=4))
def test_the_numbers_that_are_shown_add_up(found: list[Signal]) -> None:
    score = _score(tuple(found))
    odds = score.base + sum(s.weight for s in score.signals)
    assert math.isclose(score.probability, 1 / (1 + math.exp(-odds)), abs_tol=1e-4)


@given(st.lists(signals, max_size=4), signals)
def test_more_weight_means_a_higher_score_and_more_evidence_a_narrower_band(
    found: list[Signal], one: Signal
) -> None:
    before = _score((*found, one))
    heavier = _score((*found, one.model_copy(update={"weight": one.weight + 1})))
    assert heavier.probability >= before.probability
    surer = _score((*found, one.model_copy(update={"evidence": one.evidence + 5})))
    assert before.low <= surer.low
    assert surer.high <= before.high


def test_nothing_seen_is_unknown() -> None:
    score = _score(())
    assert score.unknown
    assert score.probability < 0.5


@given(all_facts())
def test_signals_are_explained_finite_and_of_some_order(facts: Facts) -> None:
    found = SCORER.of(facts).signals
    assert found == SCORER.of(facts).signals
    weights = [abs(s.weight) for s in found]
    assert weights == sorted(weights, reverse=True)
    for signal in found:
        assert shows(str(signal.sentence))
        assert str(signal.sentence).endswith(".")
        assert signal.evidence >= 0
        assert math.isfinite(signal.weight)
        # Disclosure informs, and a text orders the queue; neither adds suspicion.
        assert signal.name not in {"disclosed", "text"} or signal.weight == 0


@given(all_facts())
def test_style_and_language_are_no_evidence(facts: Facts) -> None:
    other = facts.pull.model_copy(
        update={"title": "修复 🚀 plz", "body": "teh fix", "author_association": "FIRST_TIMER"}
    )
    told = {"disclosed", "text"}
    before = [s for s in SCORER.of(facts).signals if s.name not in told]
    changed = facts.model_copy(update={"pull": other})
    after = [s for s in SCORER.of(changed).signals if s.name not in told]
    assert before == after
