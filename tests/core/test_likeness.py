"""How alike two pull requests are, and who is spared in a campaign of them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.minhash import VALUES, MinHashes
from app.core.campaigns import Joined, Member, joined, spared, word_for
from app.core.change import Change, ChangedFile, Template
from app.core.facts import CampaignWord
from app.core.likeness import Traits, alike, likeness, traits
from tests.core.rules.seeing import pull
from tests.core.strategies import hostile

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
SKETCHER = MinHashes()
BODY = (
    "The parser read the whole body before it looked at the header, so that big requests were slow."
)


def sketch(title: str, body: str, change: Change | None = None):
    return SKETCHER.sketch(traits(pull(title=title, body=body), change))


def files(*lines: tuple[str, int, int]) -> Change:
    found = tuple(
        ChangedFile(path=p, status="modified", additions=a, deletions=d) for p, a, d in lines
    )
    return Change(head_sha="a" * 40, files=found, files_total=len(found))


def test_the_same_words_are_alike_and_others_are_not() -> None:
    one, same = sketch("Read the header first", BODY), sketch("Read the header first", BODY)
    assert likeness(one, same) == 1
    other = sketch("Say which port is taken", "Nobody knew which port the server wanted to have.")
    assert likeness(one, other) < 0.2
    assert set(one.bands) == set(same.bands)


def test_the_estimate_is_near_the_jaccard_index() -> None:
    """128 values: a standard error of at most 0.05 (Broder 1997)."""
    for shared in (0, 30, 60, 90):
        one = frozenset(f"s{i}" for i in range(shared)) | {f"a{i}" for i in range(100 - shared)}
        two = frozenset(f"s{i}" for i in range(shared)) | {f"b{i}" for i in range(100 - shared)}
        none: frozenset[str] = frozenset()
        found = likeness(
            SKETCHER.sketch(Traits(words=one, changes=none)),
            SKETCHER.sketch(Traits(words=two, changes=none)),
        )
        assert found == pytest.approx(shared / (200 - shared), abs=0.16)


def test_a_sketch_is_the_same_on_every_machine() -> None:
    made = SKETCHER.sketch(Traits(words=frozenset({"a b c", "b c d"}), changes=frozenset()))
    assert made.words is not None
    assert len(made.words) == VALUES
    assert (
        made.words[:6].hex()
        == MinHashes()
        .sketch(Traits(words=frozenset({"b c d", "a b c"}), changes=frozenset()))
        .words[:6]
        .hex()
    )
    assert made.bands[:2] == (FIRST_BANDS)


FIRST_BANDS = (50715174, -486735547)


def test_too_little_says_nothing() -> None:
    assert sketch("Fix typo", "in the README").bands == ()
    assert sketch("Fix typo", "", files(("README.md", 1, 1))).bands == ()
    assert likeness(sketch("Fix typo", ""), sketch("Fix typo", "")) == 0


def test_the_repositorys_own_template_counts_for_nothing() -> None:
    form = "## What\n\nSay what it changes, and why it is needed here.\n\n## Tests\n\nHow was it tried out?\n"
    change = Change(head_sha="a" * 40, templates=(Template(name="", body=form),))
    one = traits(pull(title="One", body=form), change)
    assert one.words == frozenset()


def test_the_same_change_is_alike_whatever_the_words() -> None:
    change = files(("src/a.py", 10, 2), ("src/b.py", 3, 3))
    one = sketch("Improve parsing", BODY, change)
    assert likeness(one, sketch("Other words", "Nothing else is the same in it.", change)) == 1
    other = files(("src/a.py", 11, 2), ("src/c.py", 3, 3))
    assert likeness(sketch("x", "", change), sketch("y", "", other)) < 0.2
    assert alike(one, [(1, one), (2, sketch("x", "", other))], 0.7) == [1]


@given(hostile, hostile)
def test_any_text_is_sketched(title: str, body: str) -> None:
    made = sketch(title, body)
    assert likeness(made, made) in {0.0, 1.0}


def test_a_megabyte_is_sketched_in_time() -> None:
    assert len(traits(pull(title="x", body="word " * 200_000), None).words) <= 4000


def member(n: int, author: int, **more: object) -> Member:
    return Member(
        case_id=n, number=n, author_id=author, opened_at=NOON + timedelta(minutes=n), **more
    )


def test_the_earliest_of_several_accounts_is_spared_and_of_one_nobody() -> None:
    assert list(spared([member(2, 8), member(1, 7), member(3, 9)])) == [1]
    assert spared([member(1, 7), member(2, 7)]) == {}
    assert spared([member(1, 7, named=True), member(2, 8)]) == {}
    assert list(spared([member(1, 7), member(2, 8), member(3, 9, exempt="vouched")])) == [3, 1]


def test_a_word_holds_for_all_but_those() -> None:
    word = CampaignWord(word="close", by_login="olivia", at=NOON)
    members = [member(1, 7), member(2, 8)]
    assert [word_for(n, members, word) for n in (1, 2)] == [None, word]
    assert word_for(2, members, None) is None


@given(st.sets(st.integers(1, 9), max_size=5), st.sets(st.integers(1, 9), max_size=5))
def test_what_was_decided_is_never_taken_in(known: set[int], decided: set[int]) -> None:
    to = joined(sorted(known), sorted(decided & known))
    assert not set(to.merged) & decided
    if known:
        assert to.into in known
        assert to.into not in to.merged
    else:
        assert to == Joined(into=None)
