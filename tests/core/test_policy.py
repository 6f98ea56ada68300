"""The configuration: what is misspelt or of the wrong kind is refused, never guessed."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.core.modes import Mode
from app.core.policy import DEPENDENCY_APPS, Policy
from tests.core.strategies import json_values, modes, policies

SMALLEST = """
version: 1
mode: close
rules:
  burst: {mode: close, prs: 5, minutes: 10}
"""


def read(text: str) -> Policy:
    return Policy.model_validate(yaml.safe_load(text))


def test_smallest_useful_file() -> None:
    policy = read(SMALLEST)
    assert policy.mode is Mode.CLOSE
    assert policy.rules.burst.prs == 5
    assert policy.rules.unattended.mode is Mode.ASK
    assert policy.exempt.apps == DEPENDENCY_APPS


def test_an_empty_file_observes() -> None:
    assert Policy.model_validate({}).mode is Mode.OBSERVE


@pytest.mark.parametrize("word", ["off", "OFF", "no", "false", "'off'"])
def test_yaml_reads_off_as_a_boolean_and_means_off(word: str) -> None:
    assert read(f"mode: {word}").mode is Mode.OFF
    assert read(f"rules: {{burst: {{mode: {word}}}}}").rules.burst.mode is Mode.OFF


@pytest.mark.parametrize("mode", list(Mode))
def test_each_mode_by_its_word(mode: Mode) -> None:
    assert read(f"mode: {mode.word}").mode is mode
    assert read(f"mode: {mode.word.title()}").mode is mode


@pytest.mark.parametrize(
    "text",
    [
        "mode: on",
        "mode: yes",
        "mode: 4",
        "mode: 0",
        "mode: close!",
        "mode:",
        "modes: close",
        "version: 2",
        "rules: {bursts: {}}",
        "rules: {burst: {pr: 5}}",
        "rules: {burst: {prs: '5'}}",
        "rules: {burst: {prs: 1}}",
        "rules: {burst: {prs: 5.0}}",
        "rules: {burst: {minutes: yes}}",
        "rules: {burst: {minutes: 0}}",
        "rules: {unattended: {threshold: yes}}",
        "rules: {unattended: {threshold: .nan}}",
        "rules: {unattended: {threshold: 0.2}}",
        "exempt: {accounts: [yes]}",
        "exempt: {accounts: [octocat]}",
        "exempt: {accounts: ['1']}",
        "exempt: {accounts: [-1]}",
        "exempt: {account: [1]}",
        "label: ''",
        "label: ' x'",
        'label: "a\\nb"',
        'label: "a\\0b"',
        'label: "a\\u202Eb"',
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        read(text)


@given(
    json_values
    | st.dictionaries(st.sampled_from(["version", "mode", "label", "rules", "exempt"]), json_values)
)
def test_anything_else_is_a_policy_or_a_validation_error(value: Any) -> None:
    try:
        policy = Policy.model_validate(value)
    except ValidationError:
        return
    assert set(value) <= set(Policy.model_fields)
    assert Policy.model_validate_json(policy.model_dump_json()) == policy


@given(policies)
def test_stored_policy_is_the_same_policy(policy: Policy) -> None:
    assert Policy.model_validate(policy.model_dump(mode="json")) == policy
    assert Policy.model_validate_json(policy.model_dump_json()) == policy


@given(policies, modes)
def test_in_force_is_the_smaller(policy: Policy, rule: Mode) -> None:
    assert policy.in_force(rule) == min(policy.mode, rule)


def test_who_names_one_tier_of_a_budget_leaves_the_others_as_they_are() -> None:
    policy = read("budgets: {github_requests: {newcomer: 100}, runner_minutes: {known: 60}}\n")
    assert policy.budgets.github_requests.known == 20_000
    assert policy.budgets.runner_minutes.newcomer == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("label: x\nadopt_label: X\n", "three different labels"),
        ("label: verified\n", "three different labels"),
        ("rules: {accepted_issue: {labels: [], assigned: false}}\n", "no issue could ever do"),
    ],
)
def test_what_could_never_work_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        read(text)
