"""Hostile text comes out safe: to store, to read, and to post as Markdown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.text import BODY_LIMIT, clean, markdown, one_line
from tests.core.strategies import hostile, shows, text

# A text made of what means something in GitHub's Markdown.
MARKUP = st.lists(
    st.sampled_from(
        [
            "@",
            "#",
            "GH-",
            "gh-",
            "www.",
            "http://",
            "https://",
            ":",
            "[",
            "](",
            ")",
            "<",
            ">",
            "&lt;",
            "`",
            "*",
            "_",
            "\\",
            "!",
            "|",
            "~~",
            "$",
            "-",
            "+",
            "octocat",
            "org/team",
            "1",
            "a.example",
            "img src=x",
            " ",
            "\u2060",
            "\n",
            "{",
            "}",
        ]
    ),
    max_size=12,
).map("".join)


def rendered(source: str) -> str:
    """What a reader sees of a line in which every character of markup is escaped."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", source).replace("\u2060", "")


@given(MARKUP | hostile)
def test_markdown_pings_links_and_formats_nothing(typed: str) -> None:
    source = markdown(typed)
    assert "\n" not in source
    unescaped = re.sub(r"\\.", "", source)
    assert not set(unescaped) & set("`*_{}[]<>()#+-!|~&$\\")
    # No mention, e-mail address, reference, scheme, bare host or emoji code is left whole.
    assert not re.search(r"@(?!\u2060)", source)
    assert not re.search(r"#(?!\u2060)", source)
    assert not re.search(r"(?i)gh\\-(?!\u2060)", source)
    assert not re.search(r"(?i)www\.", source)
    assert not re.search(r":(?!\u2060)", source)
    assert rendered(source) == one_line(typed).replace("\u2060", "")


@pytest.mark.parametrize(
    ("typed", "posted"),
    [
        ("thanks @octocat", "thanks @\u2060octocat"),
        ("see #12 and GH-12", "see \\#\u206012 and GH\\-\u206012"),
        ("www.evil.example", "www\u2060.evil.example"),
        ("https://evil.example", "https:\u2060//evil.example"),
        ("<!-- hidden -->", "\\<\\!\\-\\- hidden \\-\\-\\>"),
        ("[a](b)", "\\[a\\]\\(b\\)"),
        (None, ""),
    ],
)
def test_markdown_of_known_tricks(typed: str | None, posted: str) -> None:
    assert markdown(typed) == posted


@given(text | hostile, st.integers(1, 50))
def test_one_line_shows_what_it_says(typed: str, limit: int) -> None:
    line = one_line(typed, limit)
    assert shows(line)
    assert len(line) <= limit
    assert one_line(line, limit) == line
    line.encode()


@pytest.mark.parametrize(
    "hidden",
    [
        "\u202e",
        "\u2066",
        "\u200b",
        "\ufeff",
        "\u00ad",
        "\u3164",
        "\U000e0041",
        "\0",
        "\x1b",
        "\ud800",
    ],
)
def test_one_line_drops_what_hides(hidden: str) -> None:
    assert one_line(f"ad{hidden}min") == "admin"


def test_one_line_keeps_every_language() -> None:
    for line in ("修复分页缓存", "Исправить гонку", "إصلاح", "नमस्ते", "Ünïcode é", "🚀 ship it"):
        assert one_line(line) == line


@given(text | hostile)
def test_clean_text_can_be_stored_and_keeps_its_lines(typed: str) -> None:
    stored = clean(typed)
    stored.encode()
    assert not re.search("[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\x7f-\x9f]", stored)
    assert clean(stored) == stored


def test_clean_is_bounded_in_time_and_space() -> None:
    assert len(clean("a\0" * 10_000_000)) <= BODY_LIMIT
    assert clean("a\r\nb\rc\n\td") == "a\nb\nc\n\td"
    assert clean(None) == ""
