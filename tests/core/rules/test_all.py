"""What holds for every rule, whichever it is."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.change import Template
from app.core.facts import History, Opened, Rival, Trust
from app.core.github import Account
from app.core.modes import Mode
from app.core.policy import Policy
from app.core.rules import RULES
from app.core.rules.base import Found, Rule, Seen
from tests.core.rules.seeing import NOW, PATTERNS, UNKNOWN, change, facts, pull
from tests.core.strategies import all_facts, hostile, scores, shows

every = pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
# Rules that nobody asked for in the file; what they may do by themselves is known beforehand.
ACTING = {"burst", "campaign", "denied", "asked_for", "unattended", "paths", "pause"}


def test_names_are_keys_and_no_two_are_alike() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and name.islower() for name in names)
    assert set(type(Policy().rules).model_fields) == set(names)


@every
def test_it_says_what_it_is_for(rule: Rule[Any]) -> None:
    assert len(rule.about) > 100
    assert rule.config.__doc__
    assert all(field.description for field in rule.config.model_fields.values())
    assert Mode.ASK <= rule.natural <= rule.most


@every
def test_its_configuration_survives_its_row(rule: Rule[Any]) -> None:
    config = rule.config()
    assert rule.config.model_validate(config.model_dump(mode="json")) == config


@every
def test_a_rule_that_nobody_wrote_down_does_not_act(rule: Rule[Any]) -> None:
    """Who has a file with a burst rule alone must not see others close after an upgrade."""
    config = rule.config()
    assert config.mode <= Mode.OBSERVE or rule.name in ACTING


@every
def test_an_ordinary_first_pull_request_is_nothing_to_it(rule: Rule[Any]) -> None:
    """Nothing filled in, an account of seven quiet years, nothing seen here before."""
    seen = Seen(
        facts=facts(pull_=pull(body="Fixes the off-by-one.", user=Account(id=1, login="quiet"))),
        score=UNKNOWN,
        patterns=PATTERNS,
        now=NOW,
    )
    assert rule.find(rule.config(), seen) is None


@every
@given(st.data())
def test_hostile_facts_break_nothing_and_are_shown_as_text(rule: Rule[Any], data: Any) -> None:
    known = data.draw(all_facts())
    words = data.draw(hostile)
    known = known.model_copy(
        update={
            "change": change(
                *([words] if words else []),
                "src/a.py",
                templates=(Template(name="", body=words),),
                top_level=("src",),
            ),
            "trust": data.draw(
                st.sampled_from(["vouched", "denied", "to_verify"]).map(
                    lambda kind: Trust(kind=kind, by_login=words, at=NOW, reason=words)
                )
            ),
            "rivals": (
                Rival(issue=1, number=2, at=NOW - timedelta(days=9), author_id=None, good=True),
            ),
            "history": History(open=9),
            "opened": (Opened(number=5, at=NOW),) * 9,
        }
    )
    seen = Seen(facts=known, score=data.draw(scores), patterns=PATTERNS, now=NOW)
    answer = rule.find(rule.config(), seen)
    assert answer is None or isinstance(answer, Found)
    if answer is not None:
        assert shows(answer.sentence.id)
        assert str(answer.sentence).rstrip("…").endswith(".")
        assert answer.way is None or answer.way.id.endswith(".")
