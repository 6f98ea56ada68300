"""The reference pages say what the code says."""

import re
from pathlib import Path

import pytest

from app.core.policy import Policy
from ops import reference

PAGES = reference.pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_a_written_page_is_current(page: Path) -> None:
    assert page.read_text() == PAGES[page], "run: python -m ops.reference"


def test_every_key_and_variable_has_a_meaning() -> None:
    rows = [r for r in reference.configuration().splitlines() if r.startswith("| `")]
    assert [r for r in rows if re.search(r"\|\s*\|$", r)] == []


def test_the_readme_s_file_is_understood() -> None:
    from app.adapters.policy_file import parse_policy

    readme = (reference.DOCS.parent / "README.md").read_text()
    (example,) = re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)
    assert parse_policy(example).mode.word == "close"
    assert isinstance(parse_policy(example), Policy)
