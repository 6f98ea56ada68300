"""Text made plain: what hides or names is gone, and doing it twice changes nothing."""

import time

import pytest
from hypothesis import given

from app.core.plain import BODY_MOST, plain
from app.core.shape import shape, style
from tests.core.strategies import hostile


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Тhis PR аdds а cache", "This PR adds a cache"),  # Cyrillic look-alikes within Latin words
        ("Th\u200bis P\u2060R adds", "This PR adds"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("Добавил кэш", "Добавил кэш"),  # a person's own alphabet stays
        ("see https://example.com/x?y=1 now", "see URL now"),
        ("thanks @somebody", "thanks USER"),
        ("ask me at a.b@example.org", "ask me at EMAIL"),
        ("made by Claude Code", "made by TOOL"),
        ("since 1a2b3c4d5e6f7", "since SHA"),
    ],
)
def test_it_reads_as_a_reader_would(written: str, read: str) -> None:
    assert plain("", written).body == read


@pytest.mark.parametrize(
    "line",
    [
        "Co-authored-by: Claude <noreply@anthropic.com>",
        "🤖 Generated with [Claude Code](https://claude.ai/code)",
        "<!-- a comment of a template -->",
        "<!-- one that never ends",
        "https://chatgpt.com/codex/tasks/1",
        "Link to Devin run: https://app.devin.ai/sessions/abc",
    ],
)
def test_what_names_an_agent_is_not_measured(line: str) -> None:
    assert plain("", f"Fix the cache.\n\n{line}").body == "Fix the cache."


@given(hostile, hostile)
def test_it_is_bounded_and_the_same_the_second_time(title: str, body: str) -> None:
    once = plain(title, body)
    again = plain(once.title, once.body)
    assert again[:2] == plain(again.title, again.body)[:2]
    assert len(once.body) <= 2 * BODY_MOST
    values = shape(once) | style(once)
    assert all(0 <= v < 101 for v in values.values())
    assert list(shape(once)) == list(shape(plain("", "")))


@pytest.mark.parametrize(
    "unit",
    ["word ", "- [x] `a`: **b**\n", "<!--", "(", "https://", "@a", "`", "## x\n", "\u0430a "],
)
def test_a_megabyte_is_read_in_bounded_time(unit: str) -> None:
    body = unit * (1_000_000 // len(unit))
    started = time.process_time()
    shape(plain("x", body))
    assert time.process_time() - started < 0.5
