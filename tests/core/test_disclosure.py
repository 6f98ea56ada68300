"""Only exact forms disclose; a name never does."""

import pytest
from hypothesis import given

from app.core.disclosure import disclosed
from app.core.events import Branch, PullRequest
from tests.core.strategies import NOW, hostile, pulls, shows


def pull(*, ref: str = "fix", body: str = "") -> PullRequest:
    branch = Branch(ref=ref, sha="a" * 40)
    return PullRequest(
        id=1,
        number=5,
        state="open",
        title="by Claude",
        body=body,
        created_at=NOW,
        updated_at=NOW,
        head=branch,
        base=branch,
    )


@pytest.mark.parametrize(
    ("ref", "body", "name"),
    [
        ("claude/fix", "", "Claude Code"),
        ("fix", "Text.\n\nAssisted-by: Some Agent 1.0\n", "Some Agent 1.0"),
        ("fix", "generated-by: tool", "tool"),
        ("fix", "Assisted-by: " + "x" * 200, "x" * 80),
        ("fix", "Assisted-by: a\u202eb", "ab"),
        ("fix", "Assisted-by: \u200b\nGenerated-by: tool", "tool"),
    ],
)
def test_said(ref: str, body: str, name: str) -> None:
    assert disclosed(pull(ref=ref, body=body)) == name


@pytest.mark.parametrize(
    ("ref", "body"),
    [
        ("fix-claude/x", "I am Claude."),
        ("claude-fix", "Reviewed-by: Claude Moreau"),
        ("fix", "> Assisted-by: quoted"),
        ("fix", "Assisted-by:   \nnext line"),
        ("fix", "This was not Assisted-by: anything"),
    ],
)
def test_not_said(ref: str, body: str) -> None:
    assert disclosed(pull(ref=ref, body=body)) is None


@given(pulls(), hostile)
def test_what_is_disclosed_is_shown_safely(given_pull: PullRequest, words: str) -> None:
    for one in (given_pull, pull(body=f"Assisted-by:{words}")):
        name = disclosed(one)
        assert name is None or (0 < len(name) <= 80 and shows(name))
