"""Texts for projects fit what is configured, and promise nothing else."""

import re

import pytest

from app.adapters.policy_file import parse_policy
from app.core.documents import asks, contributing, privacy, why
from app.core.policy import Policy

FULL = """
version: 1
mode: close
rules:
  burst: {mode: close, prs: 4, minutes: 30}
  cap: {mode: close, open: 2}
  accepted_issue: {mode: label}
  template: {mode: ask}
  paths: {patterns: [.github/]}
  diff_shape: {mode: observe}
appeals: {hours: 48}
"""


def text(policy: Policy) -> str:
    return "\n".join(f"{head}\n{body}" for head, body in why(policy))


def test_an_observing_repository_promises_nothing() -> None:
    words = contributing(Policy(), "https://gate/why")
    assert "changes nothing" in words
    assert "https://gate/why" in words
    assert "only records" in text(Policy())
    assert "/pulse reopen" not in text(Policy())


def test_each_rule_that_acts_is_a_sentence_and_no_other() -> None:
    policy = parse_policy(FULL)
    found = asks(policy)
    assert "You open fewer than 4 pull requests within 30 minutes." in found
    assert any("at most 2 pull requests open" in s for s in found)
    assert any("an issue for it" in s for s in found)
    assert any("only maintainers change" in s for s in found)
    assert not any("beside it" in s for s in found)  # diff_shape observes
    assert not any("taken in again" in s for s in found)  # no pause is set
    words = contributing(policy, "https://gate/why")
    assert "may be closed" in words
    assert "after 2 days without an answer" in words
    assert "/pulse reopen" in text(policy)
    assert "72 hours" in text(policy)


@pytest.mark.parametrize(("mode", "said"), [("label", "gets a label"), ("ask", "gets a question")])
def test_it_says_no_more_than_the_mode_allows(mode: str, said: str) -> None:
    policy = parse_policy(FULL.replace("mode: close\nrules", f"mode: {mode}\nrules"))
    words = contributing(policy, "x")
    assert said in words
    assert "closed, with" not in words


def test_privacy_names_what_is_shared() -> None:
    assert "several repositories" not in privacy(Policy(), "https://gate")
    shared = parse_policy("trust: {shared: true}\n")
    assert "several repositories" in privacy(shared, "https://gate")


def test_links_lead_to_pages_that_exist() -> None:
    links = re.findall(r"\]\((/[a-z]+)\)", text(parse_policy(FULL)))
    assert links == ["/mine"]
