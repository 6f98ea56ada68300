"""What the gate writes, in each language: current, whole, short, and readable aloud."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from app.adapters.catalogues import DOMAIN, LOCALE, words
from app.core import render
from app.core.facts import Facts
from app.core.modes import Mode
from app.core.rules.base import Finding
from app.core.said import Sentence, Words, english, say
from app.core.scoring import add_up
from ops.words import APP, pages, said
from tests.core.rules.seeing import facts

TAGS = [path.parent.parent.name for path in sorted(LOCALE.glob(f"*/LC_MESSAGES/{DOMAIN}"))]
HOLES = re.compile(r"\{\w+\}")
MARKS = re.compile(r"`[^`]*`|\*\*|\]\(")


def _catalogue(tag: str) -> Catalog:
    with (LOCALE / tag / "LC_MESSAGES" / DOMAIN).open("rb") as file:
        return read_po(file, locale=tag)


@pytest.mark.parametrize("path", pages(), ids=lambda p: p.parent.parent.name)
def test_the_catalogues_are_current(path: Path) -> None:
    assert path.read_text() == pages()[path], "run: python -m ops.words"


def test_there_is_simplified_chinese() -> None:
    assert "zh_CN" in TAGS


@pytest.mark.parametrize("tag", TAGS)
def test_every_sentence_is_translated_with_what_stands_in_it(tag: str) -> None:
    for message in _catalogue(tag):
        if not message.id:
            continue
        there, here = str(message.id), str(message.string)
        assert here, there
        assert not message.fuzzy, there
        assert sorted(HOLES.findall(there)) == sorted(HOLES.findall(here)), there
        # What is to be typed, and Markdown, stays as it is.
        assert sorted(MARKS.findall(there)) == sorted(MARKS.findall(here)), there


def test_what_is_said_is_a_literal_and_never_put_together() -> None:
    found = [sentence for source in APP.rglob("*.py") for sentence, _ in said(source)]
    assert len(found) > 80
    for sentence in found:
        assert sentence.strip() == sentence
        assert "{}" not in sentence


def _finding() -> Finding:
    return Finding(
        rule="burst",
        sentence=say("It is linked to no issue."),
        way=say("Edit the description and fill them in."),
        rung=Mode.CLOSE,
        in_force=Mode.CLOSE,
    )


def _every(words: Words) -> Iterator[tuple[str, str]]:
    finding, score, seen = [_finding()], add_up(-2.0, (), "x"), facts()
    assert isinstance(seen, Facts)
    yield "status", render.status(words, finding, "needs-verification")
    yield "answered", render.answered(words, "x", [say("It is open.")])
    yield "adopted", render.status_adopted(words, 7)
    yield "close", render.notice_close(words, finding)
    yield "ordered", render.notice_ordered(words)
    yield "ask", render.notice_ask(words, finding, 72)
    yield "ask only", render.notice_ask(words, finding, 0)
    for state in ("exempt", "reopened", "left_alone", "ended", "closed", "clear"):
        yield state, render.status_resolved(words, state)
    run = render.check_run(words, seen.pull, "flagged", finding, score, Mode.CLOSE)
    yield "check run", f"{run.title}\n{run.summary}"


@pytest.mark.parametrize("tag", ["en", *TAGS])
def test_every_text_is_short_and_can_be_read_aloud(tag: str) -> None:
    for name, text in _every(words(tag)):
        assert len(text) < 1200, name
        assert not HOLES.search(text), name
        levels = [len(m) for m in re.findall(r"^(#+) ", text, re.MULTILINE)]
        assert levels in ([], [3, 3]), name
        # No pictures that carry a meaning, and no lines drawn with signs.
        assert not re.search(r"[\U0001F000-\U0001FAFF☀-➿]|[-=_~]{4}|!\[", text), name
        assert max(len(p) for p in text.split("\n")) < 500, name
        # A block of code is for typing alone.
        for line in re.findall(r"^    (.*)", text, re.MULTILINE):
            assert line.startswith(("/pulse ", "gh ", "git ")), line


@pytest.mark.parametrize("tag", TAGS)
def test_every_text_is_in_its_language(tag: str) -> None:
    for (name, here), (_, there) in zip(_every(words(tag)), _every(english), strict=True):
        assert here != there, name


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("en", "en"), ("zh-CN", "zh"), ("zh", "en"), ("zh-TW", "en"), ("xx", "en"),
        ("../../etc", "en"), ("", "en"),
    ],
)  # fmt: skip
def test_what_has_no_catalogue_is_said_in_english(tag: str, language: str) -> None:
    told = words(tag)(say("It is open."))
    assert told == {"en": "It is open.", "zh": "它处于打开状态。"}[language]
    unknown = Sentence(id="Nobody translated {this}.", values={"this": "{that}"})
    assert words(tag)(unknown) == "Nobody translated {that}."
