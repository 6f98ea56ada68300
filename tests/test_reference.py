"""The reference pages say what the code says."""

import re
from pathlib import Path

import pytest

from app.core.policy import Policy
from ops import reference, reference_policy

PAGES = reference.pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_a_written_page_is_current(page: Path) -> None:
    assert page.read_text() == PAGES[page], "run: python -m ops.reference"


def test_every_key_and_variable_has_a_meaning() -> None:
    pages = reference.configuration() + reference_policy.page()
    rows = [r for r in pages.splitlines() if r.startswith("| `")]
    assert len(rows) > 80
    assert [r for r in rows if re.search(r"\|\s*\|$", r)] == []


def test_the_readme_s_file_is_understood() -> None:
    from app.adapters.policy_file import parse_policy

    readme = (reference.DOCS.parent / "README.md").read_text()
    (example,) = re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)
    assert parse_policy(example).mode.word == "close"
    assert isinstance(parse_policy(example), Policy)


def test_the_whole_file_of_the_reference_is_understood() -> None:
    from app.adapters.policy_file import parse_policy

    policy = parse_policy(reference_policy.EXAMPLE)
    assert policy.mode.word == "close"
    # Also the lines that stand there as comments.
    shown = re.sub(r"^( *)# (\w+: \{)", r"\1\2", reference_policy.EXAMPLE, flags=re.MULTILINE)
    assert parse_policy(shown).ladder.limit is not None
