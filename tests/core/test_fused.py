"""The trained score: it adds up, one part alone flags nobody, and how somebody writes leads to nothing.

The texts here are written for these tests.
"""

import math
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings

from app.adapters.model import load
from app.adapters.patterns import LinearPatterns
from app.core.activity import LEAST_ACTIVITIES
from app.core.facts import Facts, History, Opened, PublicEvent
from app.core.fused import ALONE
from app.core.github import Account, Branch, PullRequest
from app.core.local import Local
from app.core.rules.base import Seen
from app.core.rules.unattended import RULE, UnattendedRule
from app.core.scoring import Score
from app.core.textmodel import TextModel
from tests.core.strategies import NOW, all_facts, shows

MODELS = load(Path(__file__).parents[2] / "models")
SCORER = MODELS.scorer()
LEAST_THRESHOLD = 0.5  # of the rule `unattended`: nobody can set it lower

FLUENT = """The cache kept entries of deleted users until the process restarted, so a user who signed up
again saw an old avatar. I clear the entry in `UserStore.delete` now.

I ran the test suite and added a case that deletes and creates the same user."""
WRITTEN = {
    "fluent": FLUENT,
    "non-native": """Cache was keep entry of deleted user until restart of process, so user who is register
again he see old avatar. Now I am clear entry in `UserStore.delete`.

I was run all test and add one case where same user is delete and create.""",
    "machine-translated": """The cache has retained the entries of the deleted users up to the restart of the
process, whereby a user newly registering has seen an old avatar. The entry is now emptied in
`UserStore.delete`.

The test suite has been carried out by me and a case has been supplemented.""",
    "terse": "stale avatar after re-signup. clear cache on delete.",
    "Chinese": """缓存会保留已删除用户的条目，直到进程重启，因此重新注册的用户会看到旧头像。
现在我在 `UserStore.delete` 中清除该条目。

我运行了测试，并增加了删除后重新创建同一用户的用例。""",
    "emoji": """🐛 The cache kept entries of deleted users until restart 😱 so people who signed up again saw an
old avatar! Now cleared in `UserStore.delete` ✅🚀

🧪 ran the tests, added a case 🎉""",
    "bullets": """## Summary
- Clear the cache entry in `UserStore.delete`
- Add a regression test

## Testing
- `pytest tests/users`""",
}
TITLES = ["Clear the user cache on delete", "fix cache", "🐛 fix stale avatar", "修复头像缓存"]


def facts(body: str = FLUENT, title: str = TITLES[0], **more: object) -> Facts:
    ref = str(more.pop("ref", "fix"))
    side = Branch(ref=ref, sha="a" * 40)
    pull = PullRequest(
        id=1, number=5, state="open", title=title, body=body, user=Account(id=7, login="ada"),
        author_association=str(more.pop("association", "NONE")),
        created_at=NOW, updated_at=NOW, head=side, base=side,
    )  # fmt: skip
    return Facts.model_validate(
        {"pull": pull, "role": None, "installed_at": NOW - timedelta(days=9), **more}
    )


SILENT = History(unanswered=12, closed_unmerged=0)
FLOODING = tuple(Opened(number=n, at=NOW - timedelta(minutes=5)) for n in range(6, 46))
HISTORIES: list[dict[str, object]] = [
    {},
    {"history": History(merged=3, answered=2)},
    {"history": History(unanswered=4)},
    {"history": SILENT},
    {"history": History(unanswered=12, closed_unmerged=9), "opened": FLOODING},
]


def flagged(score: Score, given_facts: Facts) -> bool:
    seen = Seen(facts=given_facts, score=score, patterns=LinearPatterns(), now=NOW)
    return RULE.find(UnattendedRule(threshold=LEAST_THRESHOLD), seen) is not None


def what_acts(score: Score) -> tuple[float, float, float, bool]:
    return score.probability, score.low, score.high, score.unknown


@pytest.mark.parametrize("history", HISTORIES, ids=range(len(HISTORIES)))
def test_how_a_text_is_written_leads_to_nothing(history: dict[str, object]) -> None:
    scores = [
        SCORER.of(facts(body, title, **history)) for body in WRITTEN.values() for title in TITLES
    ]
    assert len({what_acts(s) for s in scores}) == 1


@pytest.mark.parametrize("history", HISTORIES, ids=range(len(HISTORIES)))
def test_newcomer_or_veteran_on_githubs_word_and_profile_lead_to_nothing(
    history: dict[str, object],
) -> None:
    words = ["NONE", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "CONTRIBUTOR"]
    assert len({what_acts(SCORER.of(facts(association=w, **history))) for w in words}) == 1
    # A profile is no part of the facts at all: there is nothing of it that could count.
    assert not {"name", "bio", "company", "created_at"} & set(Account.model_fields)


def test_somebody_never_seen_is_unknown_and_flagged_by_nothing() -> None:
    for body in WRITTEN.values():
        one = facts(body)
        score = SCORER.of(one)
        assert score.unknown
        assert not flagged(score, one)


def test_one_part_alone_flags_nobody_and_two_do() -> None:
    silent = facts(history=SILENT)
    assert SCORER.of(silent).probability > 0.8
    assert SCORER.of(silent).low <= ALONE
    assert not flagged(SCORER.of(silent), silent)
    flood = facts(opened=FLOODING)
    assert not flagged(SCORER.of(flood), flood)
    both = facts(history=History(unanswered=12, closed_unmerged=9))
    assert flagged(SCORER.of(both), both)


def test_having_been_merged_never_counts_against_anybody() -> None:
    before = SCORER.of(facts(history=SILENT))
    after = SCORER.of(facts(history=SILENT.model_copy(update={"merged": 5})))
    assert after.probability <= before.probability


def test_disclosure_drops_the_text_and_adds_nothing() -> None:
    for body in WRITTEN.values():
        hidden = SCORER.of(facts(body, history=SILENT))
        said = SCORER.of(facts(body, history=SILENT, ref="codex/fix"))
        assert what_acts(said) == what_acts(hidden)
        assert [s.name for s in said.signals if s.name in {"text", "disclosed"}] == ["disclosed"]
        assert said.order == pytest.approx(
            said.base + sum(s.weight for s in said.signals), abs=1e-3
        )


def _events(count: int, minutes: float, repositories: int) -> tuple[PublicEvent, ...]:
    return tuple(
        PublicEvent(
            kind="PullRequestEvent opened",
            repository=f"owner{n % repositories}/r",
            at=NOW - timedelta(minutes=minutes * n),
        )
        for n in range(count)
    )


def test_an_account_that_no_hand_could_drive_is_said_so_and_is_one_part() -> None:
    robot = facts(activity=_events(60, 10, 40))
    score = SCORER.of(robot)
    (signal,) = [s for s in score.signals if s.name == "account"]
    assert signal.value == "automation"
    assert "40 repositories of others" in str(signal.sentence)
    assert not flagged(score, robot)
    few = SCORER.of(facts(activity=_events(LEAST_ACTIVITIES - 1, 1, 4)))
    assert not [s for s in few.signals if s.name == "account"]
    own = tuple(e.model_copy(update={"repository": "Ada/x"}) for e in _events(60, 10, 1))
    told = [str(s.sentence) for s in SCORER.of(facts(activity=own)).signals]
    assert not [line for line in told if "of others" in line]


def test_drift_says_unknown_and_an_offset_is_a_part_that_shows() -> None:
    moved = SCORER.of(facts(history=SILENT, local=Local(offset=-1.5, outcomes=40, unattended=2)))
    assert moved.probability < SCORER.of(facts(history=SILENT)).probability
    assert "nobody answered on 2" in str(moved.signals[-2].sentence) or any(
        s.name == "here" for s in moved.signals
    )
    drifted = Local(offset=0.2, outcomes=90, unattended=60, drifted=True)
    assert SCORER.of(facts(history=SILENT, local=drifted)).unknown


@settings(max_examples=60, deadline=None)
@given(all_facts())
def test_what_is_shown_adds_up_and_is_explained(given_facts: Facts) -> None:
    score = SCORER.of(given_facts)
    assert score == SCORER.of(given_facts)
    odds = score.base + sum(s.weight for s in score.signals)
    assert math.isclose(score.probability, 1 / (1 + math.exp(-odds)), abs_tol=2e-4)
    assert 0 <= score.low <= score.probability <= score.high <= 1
    for signal in score.signals:
        assert shows(str(signal.sentence))
        assert str(signal.sentence).endswith(".")


TRICKS = {
    "zero width": lambda t: t.replace(" ", " \u200b").replace("e", "e\u2060"),
    "homoglyphs": lambda t: t.replace("a", "\u0430").replace("o", "\u043e"),
    "compatibility forms": lambda t: t.replace("S", "\uff33").replace("T", "\uff34"),
    "hidden comment": lambda t: t + "\n<!-- I wrote this by hand, honestly. -->",
    "a link and a mention": lambda t: t + "\n\nhttps://example.org/1",
}


@pytest.mark.parametrize("trick", TRICKS, ids=str)
def test_what_nobody_sees_moves_the_text_s_reading_little(trick: str) -> None:
    body = WRITTEN["bullets"] + "\n\nThis ensures comprehensive handling of edge cases."
    before = MODELS.text.read(TITLES[0], body).log_odds
    after = MODELS.text.read(TITLES[0], TRICKS[trick](body)).log_odds
    assert abs(after - before) < 0.3


def test_a_model_of_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="another format"):
        TextModel({"format": 0})
