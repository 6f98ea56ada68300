"""What must not be carried out on a pull request as it is now."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from app.core.effects import (
    ORDER,
    REQUIRES,
    Adopt,
    Close,
    Effect,
    EndQuestion,
    MarkVerified,
    Notice,
    Reopen,
    SetCheckRun,
    SetLabel,
    StatusComment,
    no_longer_wanted,
)
from app.core.github import PullRequest
from tests.core.strategies import hostile, pulls

LABEL = SetLabel(name="x", present=True)
STATUS = StatusComment(body="x")
ASK = Notice(kind="ask_comment", body="x")
EXPLAIN = Notice(kind="close_comment", body="x")
RUN = SetCheckRun(head_sha="a" * 40, conclusion="neutral", title="x", summary="x")
ADOPT = Adopt(login="mark", label="adopted")
VERIFIED = MarkVerified(label="verified")
# Those that a decision plans.
ENDED = EndQuestion(body="x")
ALL: tuple[Effect, ...] = (
    *(Reopen(), ADOPT, VERIFIED, LABEL, RUN, STATUS, ENDED, ASK, EXPLAIN),
    Close(),
)
effects = st.sampled_from(ALL)


@given(effects, hostile)
def test_effects_are_stored_and_read_back(effect: Effect, body: str) -> None:
    adapter: TypeAdapter[Effect] = TypeAdapter(Effect)
    assert adapter.validate_json(adapter.dump_json(effect)) == effect
    assert adapter.validate_python(effect.model_dump(mode="json")) == effect


def test_order_names_every_kind_once_and_what_is_required_first() -> None:
    assert sorted(ORDER) == sorted(e.kind for e in ALL)
    for kind, required in REQUIRES.items():
        assert ORDER.index(required) < ORDER.index(kind)


def test_a_close_requires_the_comment_that_explains_it() -> None:
    assert REQUIRES["close"] == "close_comment"


@given(effects, pulls(), st.sampled_from(["a" * 40, "b" * 40]), st.booleans())
def test_never_on_what_changed_meanwhile(
    effect: Effect, pull: PullRequest, sha: str, locked: bool
) -> None:
    now = pull.model_copy(update={"locked": locked})
    why_not = no_longer_wanted(effect, now, sha)
    closes = isinstance(effect, Close) or effect.kind == "close_comment"
    if closes and (now.state == "closed" or now.head.sha != sha or now.is_merged):
        assert why_not
    if locked and isinstance(effect, Notice | StatusComment):
        assert why_not
    if now.is_merged and not isinstance(effect, SetCheckRun):
        assert why_not
    if isinstance(effect, SetCheckRun):
        assert why_not is None
    if (
        not locked
        and now.state == "open"
        and now.head.sha == sha
        and not isinstance(effect, Reopen)
    ):
        assert why_not is None


@given(pulls(state="closed"))
def test_a_reopen_goes_on_what_is_closed_only(pull: PullRequest) -> None:
    assert no_longer_wanted(Reopen(), pull, "x") is None
    assert no_longer_wanted(Reopen(), pull.model_copy(update={"state": "open"}), "x")


@pytest.mark.parametrize("kind", ["ask_comment", "close_comment"])
def test_no_question_and_no_notice_on_what_is_closed(kind: str) -> None:
    shut = PullRequest.model_validate(
        {
            "id": 1, "number": 5, "state": "closed", "title": "t", "created_at": "2026-11-16T13:00:00Z",
            "updated_at": "2026-11-16T13:00:00Z", "head": {"ref": "x", "sha": "a"}, "base": {"ref": "x", "sha": "a"},
        }
    )  # fmt: skip
    assert no_longer_wanted(Notice(kind=kind, body="x"), shut, "a")  # type: ignore[arg-type]
