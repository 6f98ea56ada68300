"""An accepted or assigned issue is required."""

from typing import Any

import pytest

from app.core.github import Branch
from app.core.rules.accepted_issue import RULE
from tests.core.rules.seeing import AUTHOR, change, facts, found, issue, pull, says

CODE = "src/engine.py"
NONE = "It is linked to no issue."
OTHER = "It is for no issue that was accepted here."


@pytest.mark.parametrize(
    ("linked", "said"),
    [
        ((), NONE),
        ((issue(),), OTHER),
        ((issue(labels=("bug",)),), OTHER),
        ((issue(labels=("Help Wanted",)),), None),
        ((issue(assignees=(AUTHOR,)),), None),
        ((issue(assignees=(99,)),), OTHER),
        ((issue(labels=("accepted",), open=False),), OTHER),
        ((issue(), issue(13, labels=("accepted",))),  None),
        (None, None),
    ],
    ids=[
        "none", "not accepted", "another label", "label in another case", "assigned to the author",
        "assigned to somebody else", "closed since", "one of two", "GitHub did not show one",
    ],
)  # fmt: skip
def test_which_issues_count(linked: Any, said: str | None) -> None:
    assert says(RULE, facts(change=change(CODE, issues=linked))) == said


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (change("README.md", "docs/deep/guide.rst"), None),
        (change("README.md", CODE), NONE),
        (change(CODE, lines=10), None),
        (change(CODE, lines=11), NONE),
        (change("a.md", files_total=2), NONE),
        (change(), NONE),
        (None, None),
    ],
    ids=[
        "only documentation", "also code", "trivial", "one line more", "not all files known",
        "no files known", "nothing known",
    ],
)  # fmt: skip
def test_what_needs_none(known: Any, said: str | None) -> None:
    assert says(RULE, facts(change=known)) == said


def test_nothing_is_trivial_by_default_where_it_is_set_so() -> None:
    small = facts(change=change(CODE, lines=1))
    assert says(RULE, small) is None
    assert says(RULE, small, {"trivial_lines": 0}) == NONE


def test_who_counts_assignment_for_nothing_wants_a_label() -> None:
    mine = facts(change=change(CODE, issues=(issue(assignees=(AUTHOR,)),)))
    assert says(RULE, mine, {"assigned": False}) == OTHER


def test_the_way_out_is_in_the_maintainers_words_where_there_are_some() -> None:
    bare = facts(change=change(CODE))
    answer = found(RULE, bare, {"message": "See [CONTRIBUTING](https://x.example) {first}."})
    assert answer is not None
    assert str(answer.way) == "See [CONTRIBUTING](https://x.example) {first}."
    answer = found(RULE, bare, {"labels": ["ready"]})
    assert answer is not None
    assert "ready" in str(answer.way)
    answer = found(RULE, bare, {"labels": []})
    assert answer is not None
    assert "assigned to you" in str(answer.way)


def test_an_issue_of_another_repository_counts_for_nothing() -> None:
    """Anybody has a repository of their own, with labels and people to assign."""
    here = Branch(ref="main", sha="c" * 40, repo={"id": 2})
    own = issue(labels=("accepted",)).model_copy(update={"repository_id": 2})
    theirs = own.model_copy(update={"repository_id": 666})
    seen = facts(pull_=pull(base=here), change=change(CODE, issues=(theirs,)))
    assert says(RULE, seen) == NONE
    seen = facts(pull_=pull(base=here), change=change(CODE, issues=(theirs, own)))
    assert says(RULE, seen) is None
