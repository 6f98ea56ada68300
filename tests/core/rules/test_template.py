"""The description: sections that are asked for, and not the untouched template."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.change import Template
from app.core.rules.template import RULE
from tests.core.rules.seeing import change, facts, pull, says

TEMPLATE = """## What
<!-- Say what it is for. -->

## How tested
Describe how you tried it out.

- [ ] I read CONTRIBUTING
"""
WANTED = {"sections": ["What", "How tested"], "filled": True}
BOTH = "The description lacks these sections, or they are empty: What, How tested."
SECOND = "The description lacks these sections, or they are empty: How tested."
NOTHING = "The description says nothing yet about this change."


def _said(body: str, config: dict[str, Any], *, known: bool = True) -> str | None:
    seen = change("a.py", templates=(Template(name="", body=TEMPLATE),)) if known else None
    return says(RULE, facts(pull_=pull(body=body), change=seen), config)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (TEMPLATE, BOTH),
        ("", BOTH),
        ("## What\nIt mends x.\n## How tested\npytest.", None),
        ("## What\r\nIt mends x.  \r\n\r\n## How tested  \r\npytest.\r\n", None),
        ("# what:\nIt mends x.\n#### HOW TESTED ##\npytest.", None),
        ("**What**\nIt mends x.\n\n**How tested:**\npytest.", None),
        ("## What\nIt mends x.\n## How tested\n<!-- pytest -->", SECOND),
        ("## What\nIt mends x.\n## How tested\nDescribe how you tried it out.", SECOND),
        ("## What\nIt mends x.\n## How tested\n- [ ] yes", SECOND),
        ("## What\nIt mends x.\n## How tested\n- [x] on a GPU", None),
        ("## What\nIt mends x.\n## How tested\n## More\npytest.", SECOND),
        ("## What\nIt mends x.\n<!-- ## How tested\npytest.", SECOND),
        ("## What\n### Why\nIt mends x.\n## How tested\n### CPU\n**Here**\npytest.", None),
        ("## What\nIt mends x.\n## How tested\n### CPU\n### GPU", SECOND),
        ("What\n====\nIt mends x.\n\nHow tested\r\n----------\r\npytest.", None),
        ("## What\nIt mends x.\n## How tested\n\n---\n", SECOND),
        ("## What\nIt mends x.\nHow tested\n----\nMore\n====\npytest.", SECOND),
    ],
    ids=[
        "the untouched template", "empty", "filled in", "trimmed, with CRLF", "other levels",
        "bold lines", "only a comment", "only the template's hint", "a box nobody ticked",
        "a ticked box", "an empty one before another", "a comment without an end",
        "below lower headings", "lower headings alone", "underlined headings", "a line across",
        "an underlined one before a higher one",
    ],
)  # fmt: skip
def test_sections(body: str, said: str | None) -> None:
    assert _said(body, WANTED) == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", NOTHING),
        ("  \r\n<!-- hidden -->", NOTHING),
        (TEMPLATE, NOTHING),
        (TEMPLATE.replace("\n", "\r\n"), NOTHING),
        ("## What\n## How tested\nDescribe how you tried it out.", NOTHING),
        (TEMPLATE + "It mends x.", None),
        ("It mends x.", None),
    ],
)
def test_filled(body: str, said: str | None) -> None:
    assert _said(body, {}) == said


def test_it_is_silent_where_it_is_told_to_be() -> None:
    assert _said("", {"filled": False}) is None


def test_sections_need_nothing_of_github() -> None:
    assert _said("## What\nx", WANTED, known=False) == SECOND
    # Whether it is the template cannot be known then; only that there is something.
    assert _said(TEMPLATE, {}, known=False) is None


@given(st.text(max_size=300), st.sampled_from(["\n", "\r\n", "\r"]))
def test_line_ends_do_not_matter(body: str, end: str) -> None:
    body = body.replace("\r", "")
    assert _said(body, WANTED) == _said(body.replace("\n", end), WANTED)


def test_a_long_hostile_body_is_read_in_time() -> None:
    for part in ("<!--", "**", "# ", "- [ ] ", "\n", "__", "#", " ", "# a ", "**a**:"):
        _said(part * (60_000 // len(part)), WANTED)
        _said("# a" + part * (60_000 // len(part)) + "b", WANTED)
        _said("**a" + part * (60_000 // len(part)) + "b", WANTED)


def test_a_change_that_could_not_be_read_cures_nothing() -> None:
    assert not RULE.can_say(facts())


@pytest.mark.parametrize(
    "body",
    [
        "## What\n```\n# the whole suite\nmake test\n```\n",
        "## What\n~~~~\n# not its end: ~~~\n~~~\nmake\n~~~~\n",
        "## What\n```sh\n# left open",
    ],
)
def test_what_stands_in_a_block_of_code_is_no_heading(body: str) -> None:
    assert _said(body, {"sections": ["What"], "filled": False}) is None


@pytest.mark.parametrize("body", ["## What\n```\n```\n", "```\n## What\nmake\n```\n"])
def test_an_empty_block_is_empty_and_a_heading_within_is_none(body: str) -> None:
    assert _said(body, {"sections": ["What"], "filled": False}) is not None
