"""A command counts where somebody gives it, not where somebody shows it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.commands import MOST, Given, Wrong, commands
from tests.core.strategies import hostile, shows

REOPEN = Given(command="reopen")


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
        "    /pulse reopen",
        "\n /pulse reopen\n",
        "/Pulse reopen",
    ],
)
def test_given(body: str) -> None:
    assert commands(body) == (REOPEN,)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "please /pulse reopen",
        "/pulsereopen",
        "> /pulse reopen",
        "so:\n    /pulse reopen",
        "so:\n /pulse reopen",
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
    assert len(found) <= MOST
    if REOPEN in found:
        assert "/pulse reopen" in body
    quoted = "\n".join(f"> {line}" for line in body.split("\n"))
    assert commands(quoted) == ()


@pytest.mark.parametrize(
    "bit",
    ["> ", ">", "- ", "`", "``` ", "~", "<!--", "<a ", "\\", "* * ", "#", "1. ", "\n> ", "\n- ", "`a", "<", "\n", "[", "-\n", "- \n ", "`\n", "<!-", "a\n=", "\n    ", "\t"],
)  # fmt: skip
def test_a_whole_comment_of_anything_is_read_in_time(bit: str) -> None:
    commands((bit * 65_536)[:65_536] + "\n/pulse status")
    commands(("/pulse x" + bit) * (65_536 // (8 + len(bit))))


def test_long_lines_are_read_in_no_time() -> None:
    long = "`" * 60_000 + "x`\n" + "~" * 60_000 + "\n" + "/pulse " + " " * 60_000
    assert commands(long) == ()
    for words in ("vouch @" + "a-" * 30_000, "appeal " + "x" * 60_000, "deny @a because " * 4_000):
        assert len(commands(f"/pulse {words}")) == 1


@pytest.mark.parametrize(
    "body",
    [
        "<!--\n/pulse reopen\n-->",
        "text <!-- hidden\n/pulse reopen\n--> text",
        "`\n/pulse reopen\n`",
        "text `code\n/pulse reopen` more",
        "``\n/pulse reopen\n`` and `\n/pulse reopen\n`",
        "- > quoted\n/pulse reopen",
        "<pre>\n/pulse reopen\n</pre>",
        "> quoted\n/pulse reopen",
        ">quoted\nmore of it\n/pulse reopen",
    ],
)
def test_what_nobody_sees_or_somebody_quotes_is_no_command(body: str) -> None:
    assert commands(body) == ()


@pytest.mark.parametrize(
    "body",
    [
        "<!-- a note -->\n/pulse reopen",
        "> quoted\n\n/pulse reopen",
        "a -->\n/pulse reopen",
        "text <!-- seen\n\n/pulse reopen\n--> text",
        "`open\n/pulse reopen\n\n`",
        "- mended\n/pulse reopen",
        "\\`\n/pulse reopen\n\\`",
        "\ue0000\ue001 x\r\n/pulse reopen\r\n",
        "a\\\n/pulse reopen",
    ],
)
def test_what_comes_after_a_quote_or_an_html_comment_is_a_command(body: str) -> None:
    assert commands(body) == (REOPEN,)


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("status", Given(command="status")),
        ("verify", Given(command="verify")),
        ("verify @some-body", Given(command="verify", login="some-body")),
        ("vouch @a", Given(command="vouch", login="a")),
        ("vouch @A1-b for 90d", Given(command="vouch", login="A1-b", days=90)),
        ("vouch @a for 6w because we met", Given(command="vouch", login="a", days=42, reason="we met")),
        ("verify\t@bob", Given(command="verify", login="bob")),
        ("deny\t@bob\tfor 1y", Given(command="deny", login="bob", days=365)),
        ("vouch @bob_acme", Given(command="vouch", login="bob_acme")),
        ("vouch @a because", Given(command="vouch", login="a")),
        ("vouch @a\tbecause\tfor 90d", Given(command="vouch", login="a", reason="for 90d")),
        ("vouch @a because for 90d", Given(command="vouch", login="a", reason="for 90d")),
        ("deny @agent[bot] for 1y", Given(command="deny", login="agent[bot]", days=365)),
        ("hold because of the release", Given(command="hold", reason="of the release")),
        ("appeal I did  write\tit", Given(command="appeal", reason="I did write it")),
        ("appeal", Given(command="appeal")),
    ],
)  # fmt: skip
def test_what_they_take(words: str, given: Given) -> None:
    assert commands(f"/pulse {words}") == (given,)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "takes one of these words"),
        ("frobnicate", "takes one of these words"),
        ("reopne", "did you mean `/pulse reopen`"),
        ("REOPEN", "did you mean `/pulse reopen`"),
        ("reopen please", "does not take"),
        ("vouch", "Say whom"),
        ("vouch somebody", "Say whom"),
        ("vouch @-a", "no GitHub login"),
        ("vouch @a--b", "no GitHub login"),
        ("vouch @a\u202e", "no GitHub login"),
        ("vouch @a for ever", "is no time"),
        ("vouch @a for 0d", "is no time"),
        ("vouch @a for 6y", "is no time"),
        ("vouch @a @b", "does not take"),
        ("deny @alicebecause of that", "does not take"),
        ("deny @alice for 90dbecause of that", "is no time"),
        ("status @a", "does not take"),
    ],
)
def test_what_is_meant_and_wrong_is_told_how_it_is_right(words: str, said: str) -> None:
    (found,) = commands(f"/pulse {words}")
    assert isinstance(found, Wrong)
    assert said in str(found.problem)


def test_so_many_are_read_and_no_more() -> None:
    body = "\n".join(f"/pulse vouch @user{n}" for n in range(50))
    *read, more = commands(body)
    assert [type(one) for one in read] == [Given] * MOST
    assert isinstance(more, Wrong)
    assert f"only the first {MOST}" in str(more.problem)


@given(hostile)
def test_any_words_behind_it_are_read(words: str) -> None:
    for found in commands(f"/pulse {words}"):
        if isinstance(found, Wrong):
            assert shows(str(found.problem))
        else:
            assert found.login is None or found.login.isascii()
            assert shows(found.reason)
