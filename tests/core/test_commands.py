"""A command counts where somebody gives it, not where somebody shows it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.commands import commands
from tests.core.strategies import hostile


@pytest.mark.parametrize(
    "body",
    [
        "/pulse reopen",
        "Sorry, I was asleep.\n\n/pulse reopen\n",
        "/pulse\treopen  ",
        "```\ncode\n```\n/pulse reopen",
        "````\n```\n````\n/pulse reopen",
        "```inline``` words\n/pulse reopen",
        "/pulse reopen\n/pulse reopen",
        "/pulse reopen\n/pulse nonsense",
    ],
)
def test_given(body: str) -> None:
    assert commands(body) == ("reopen",)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "please /pulse reopen",
        "/pulse reopen please",
        "/pulsereopen",
        "/pulse REOPEN",
        "> /pulse reopen",
        "    /pulse reopen",
        " /pulse reopen",
        "- /pulse reopen",
        "```\n/pulse reopen\n```",
        "~~~ text\n/pulse reopen\n~~~",
        "````\n```\n/pulse reopen\n````",
        "```\n/pulse reopen",
        "```\n~~~\n/pulse reopen\n```",
        "> quoted\u2028/pulse reopen",
        "`/pulse reopen`",
    ],
)
def test_shown_or_unknown(body: str) -> None:
    assert commands(body) == ()


@given(
    st.lists(
        st.sampled_from(["/pulse reopen", "```", "~~~", "````", "> ", "text", ""]) | hostile
    ).map("\n".join)
)
def test_any_comment_is_read(body: str) -> None:
    found = commands(body)
    assert found in {(), ("reopen",)}
    if found:
        assert "/pulse reopen" in body
    quoted = "\n".join(f"> {line}" for line in body.split("\n"))
    assert commands(quoted) == ()


def test_long_lines_are_read_in_no_time() -> None:
    assert commands("`" * 60_000 + "x`\n" + "~" * 60_000 + "\n" + "/pulse " + " " * 60_000) == ()


@pytest.mark.parametrize(
    "body",
    [
        "<!--\n/pulse reopen\n-->",
        "text <!-- hidden\n\n/pulse reopen\n--> text",
        "> quoted\n/pulse reopen",
        ">quoted\nmore of it\n/pulse reopen",
    ],
)
def test_what_nobody_sees_or_somebody_quotes_is_no_command(body: str) -> None:
    assert commands(body) == ()


@pytest.mark.parametrize(
    "body", ["<!-- a note -->\n/pulse reopen", "> quoted\n\n/pulse reopen", "a -->\n/pulse reopen"]
)
def test_what_comes_after_a_quote_or_an_html_comment_is_a_command(body: str) -> None:
    assert commands(body) == ("reopen",)
