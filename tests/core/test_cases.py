"""What the decision never does, whatever the facts and the configuration."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.core.cases import decide
from app.core.decision import Case, CaseState, Decision, Planned
from app.core.effects import ORDER, REQUIRES, SetCheckRun, SetLabel
from app.core.facts import Facts, Hand, HandAct, Opened, Request, Role
from app.core.features import Signal
from app.core.github import Account, Branch, PullRequest
from app.core.modes import Mode
from app.core.plan import MOST_NOTICES, asks_to_reopen
from app.core.policy import Policy, Rules
from app.core.rules.burst import BurstRule
from app.core.rules.unattended import UnattendedRule
from app.core.said import say
from app.core.scoring import Score, add_up
from tests.core.strategies import AUTHOR, MEANS, NOW, all_facts, fresh_case, policies, scores

MAINTAINER = 3
SURE = add_up(-2.0, (Signal(name="x", value="", sentence="Seen.", weight=9, evidence=99),), "x")
UNKNOWN = add_up(-2.0, (), "x")


@dataclass
class Situation:
    """One decision and all that it rested on."""

    case: Case
    facts: Facts
    score: Score
    policy: Policy
    decision: Decision


def after(case: Case, decision: Decision) -> Case:
    """The case once the decision was stored."""
    return case.model_copy(
        update={
            "version": decision.version,
            "state": decision.state,
            "fingerprint": decision.fingerprint,
            "planned": decision.planned,
        }
    )


def decided(
    case: Case, facts: Facts, score: Score, policy: Policy, *, force: bool = False
) -> Decision | None:
    return decide(case, facts, score, policy, "sha", NOW, means=MEANS, force=force)


def live(planned: tuple[Planned, ...]) -> list[str]:
    return [p.effect.kind for p in planned if not p.observe]


@st.composite
def situations(draw: st.DrawFn, *, state: str | None = None) -> Situation:
    """A decision, on a case that may have a decision of other facts and rules behind it."""
    case = fresh_case()
    if draw(st.booleans()):
        before = decided(case, draw(all_facts()), draw(scores), draw(policies))
        assert before is not None
        closed = "close" in live(before.planned) and draw(st.booleans())
        case = after(case, before).model_copy(
            update={
                "notices": draw(st.integers(0, MOST_NOTICES)),
                "closed_by_us": closed,
                "reopened_at": NOW if closed and draw(st.booleans()) else None,
                "has_status_comment": "status_comment" in live(before.planned),
            }
        )
    facts, score, policy = draw(all_facts(state=state)), draw(scores), draw(policies)
    decision = decided(case, facts, score, policy, force=draw(st.booleans()))
    assume(decision is not None)
    assert decision is not None
    return Situation(case, facts, score, policy, decision)


@given(situations())
def test_any_decision_is_stored_and_read_back(one: Situation) -> None:
    assert Decision.model_validate_json(one.decision.model_dump_json()) == one.decision
    assert one.decision.version == one.case.version + 1
    assert one.decision.summary


@given(situations())
def test_same_facts_twice_decide_nothing(one: Situation) -> None:
    case = after(one.case, one.decision)
    facts = one.facts
    if one.decision.state is CaseState.REOPENED and asks_to_reopen(facts):
        # Whoever asks for it again is opened for again: GitHub may have refused.
        again = decided(case, facts, one.score, one.policy)
        assert again is not None
        assert {p.effect.kind for p in again.effects} <= {"reopen"}
        facts = facts.model_copy(update={"requests": ()})
        case = after(case, again)
    assert decided(case, one.facts, one.score, one.policy) is None or facts is not one.facts
    again = decided(case, one.facts, one.score, one.policy, force=True)
    assert again is not None
    assert {p.effect.kind for p in again.effects} <= {"check_run", "reopen"}


@given(situations())
def test_a_mode_plans_nothing_beyond_it(one: Situation) -> None:
    allowed = {
        Mode.OFF: set(),
        Mode.OBSERVE: set(),
        Mode.LABEL: {"label", "check_run"},
        Mode.ASK: {"label", "check_run", "status_comment", "ask_comment"},
        Mode.CLOSE: set(ORDER),
    }[one.policy.mode]
    # A reopen puts our own act back: always allowed.
    assert set(live(one.decision.effects)) - {"reopen"} <= allowed


@given(situations())
def test_effects_come_in_order_and_what_explains_first(one: Situation) -> None:
    kinds = [p.effect.kind for p in one.decision.planned]
    assert kinds == sorted(kinds, key=ORDER.index)
    assert len(kinds) == len(set(kinds)), "the key of an effect is its kind"
    for kind in live(one.decision.effects):
        if kind in REQUIRES:
            assert REQUIRES[kind] in live(one.decision.effects), "a close without its comment"


@given(situations())
def test_team_and_exempt_accounts_are_never_flagged(one: Situation) -> None:
    author, policy = one.facts.author, one.policy
    team = one.facts.role is not None and one.facts.role >= Role.TRIAGE
    hinted = one.facts.role is None and one.facts.pull.author_association in {
        "OWNER",
        "MEMBER",
        "COLLABORATOR",
    }
    app = author is not None and author.is_app and author.id in policy.exempt.apps
    if team or hinted or app or (author is not None and author.id in policy.exempt.accounts):
        assert one.decision.state is not CaseState.FLAGGED
    if one.decision.state is CaseState.EXEMPT:
        assert set(live(one.decision.effects)) <= {"check_run", "label", "status_comment"}
        labels = [p.effect for p in one.decision.effects if isinstance(p.effect, SetLabel)]
        assert not any(label.present for label in labels)


@given(situations())
def test_nobody_is_flagged_who_cannot_be_asked_or_was_there_before(one: Situation) -> None:
    if one.facts.author is None or one.facts.pull.created_at < one.facts.installed_at:
        assert one.decision.state is not CaseState.FLAGGED


@given(situations())
def test_the_score_alone_never_closes(one: Situation) -> None:
    if not any(f.rule == "burst" for f in one.decision.findings):
        assert not {"close", "close_comment"} & {p.effect.kind for p in one.decision.effects}
    if one.score.unknown:
        assert not any(f.rule == "unattended" for f in one.decision.findings)


@given(situations(state="open"))
def test_a_maintainers_hand_ends_all_but_the_check_run(one: Situation) -> None:
    if any(h.act in {"reopened", "dismissed"} for h in one.facts.hands):
        assert one.decision.state is CaseState.LEFT_ALONE
        # A status comment that stands there says so.
        stands = {"status_comment"} if one.case.has_status_comment else set()
        assert {p.effect.kind for p in one.decision.planned} <= {"check_run", *stands}
        for planned in one.decision.planned:
            if isinstance(planned.effect, SetCheckRun):
                assert planned.effect.conclusion == "success"


@given(situations())
def test_a_label_changed_by_hand_is_left(one: Situation) -> None:
    if any(h.act in {"labeled", "unlabeled"} for h in one.facts.hands):
        assert "label" not in [p.effect.kind for p in one.decision.effects]


@given(situations())
def test_after_three_comments_it_is_silent(one: Situation) -> None:
    comments = [k for k in live(one.decision.effects) if k in {"ask_comment", "close_comment"}]
    assert len(comments) <= 1
    if one.case.notices >= MOST_NOTICES:
        assert not comments
        assert "close" not in live(one.decision.effects)


@given(situations())
def test_an_ended_pull_request_is_left(one: Situation) -> None:
    if one.facts.pull.is_merged or (one.facts.pull.state == "closed" and not one.case.closed_by_us):
        assert one.decision.state is CaseState.ENDED
        assert one.decision.planned == one.decision.effects == ()


@given(situations())
def test_check_runs_never_block_and_never_come_late_for_a_rule_that_observes(
    one: Situation,
) -> None:
    runs = [p for p in one.decision.planned if isinstance(p.effect, SetCheckRun)]
    if one.facts.pull.state == "open" and one.decision.state is not CaseState.LEFT_ALONE:
        assert [r.effect.head_sha for r in runs] == [one.facts.pull.head.sha]  # type: ignore[union-attr]
        assert [r.observe for r in runs] == [one.policy.mode < Mode.LABEL]


@given(all_facts(), scores, policies)
def test_a_higher_mode_only_adds(facts: Facts, score: Score, policy: Policy) -> None:
    reached: list[set[str]] = []
    for mode in Mode:
        decision = decided(fresh_case(), facts, score, policy.model_copy(update={"mode": mode}))
        assert decision is not None
        reached.append(set(live(decision.planned)))
    for lower, higher in pairwise(reached):
        # Who closes need not ask: the comment that explains the close takes the question's place.
        extra = {"ask_comment"} if "close_comment" in higher else set()
        assert lower - extra <= higher


@given(all_facts(state="open"), scores, policies)
def test_no_text_of_the_pull_request_stands_in_what_we_write(
    facts: Facts, score: Score, policy: Policy
) -> None:
    words = "zqx @octocat <b>zqx</b> [zqx](https://zqx.example) #1"
    branch = Branch(ref=f"claude/{words}", sha="a" * 40)
    pull = facts.pull.model_copy(
        update={
            "title": words,
            "body": f"{words}\nAssisted-by: {words}",
            "head": branch,
            "user": Account(id=AUTHOR, login=words),
        }
    )
    score = score.model_copy(
        update={
            "signals": (Signal(name="x", value="", sentence=say("{words}", words=words), weight=0),)
        }
    )
    decision = decided(fresh_case(), facts.model_copy(update={"pull": pull}), score, policy)
    assert decision is not None
    for planned in decision.planned:
        body = getattr(planned.effect, "body", None)
        assert body is None or "zqx" not in body
        if isinstance(planned.effect, SetCheckRun):
            for bare in ("@octocat", "<b>", "](", "https://", " #1"):
                assert bare not in planned.effect.summary


@given(
    all_facts(state="open"), scores, policies, st.sampled_from(["head", "title", "body", "draft"])
)
def test_decides_anew_when_the_pull_request_changes(
    facts: Facts, score: Score, policy: Policy, part: str
) -> None:
    first = decided(fresh_case(), facts, score, policy)
    assert first is not None
    changed = {
        "head": Branch(ref="x", sha="d" * 40),
        "title": facts.pull.title + "x",
        "body": facts.pull.body + "x",
        "draft": not facts.pull.draft,
    }[part]
    other = facts.model_copy(update={"pull": facts.pull.model_copy(update={part: changed})})
    second = decided(after(fresh_case(), first), other, score, policy)
    assert second is not None
    assert second.fingerprint != first.fingerprint


# What follows are single situations, each of which once came out wrong or nearly did.

BRANCH = Branch(ref="main", sha="a" * 40)
PULL = PullRequest(
    id=1, number=5, state="open", title="t", created_at=NOW, updated_at=NOW, head=BRANCH, base=BRANCH,
    user=Account(id=AUTHOR, login="author"),
)  # fmt: skip
FLOOD = tuple(Opened(number=n, at=NOW) for n in range(5, 15))
CLOSES = Policy(mode=Mode.CLOSE)
FLOODED = Facts(pull=PULL, role=Role.NONE, opened=FLOOD, installed_at=NOW - timedelta(days=1))


def with_modes(mode: Mode, burst: Mode, unattended: Mode) -> Policy:
    rules = Rules(burst=BurstRule(mode=burst), unattended=UnattendedRule(mode=unattended))
    return Policy(mode=mode, rules=rules)


def must(decision: Decision | None) -> Decision:
    assert decision is not None
    return decision


def test_a_flood_is_labelled_explained_and_closed() -> None:
    decision = must(decided(fresh_case(), FLOODED, UNKNOWN, CLOSES))
    assert decision.state is CaseState.FLAGGED
    assert live(decision.effects) == [
        "label",
        "check_run",
        "status_comment",
        "close_comment",
        "close",
    ]


def test_a_sure_score_asks_and_never_closes() -> None:
    alone = FLOODED.model_copy(update={"opened": FLOOD[:1]})
    decision = must(
        decided(fresh_case(), alone, SURE, with_modes(Mode.CLOSE, Mode.CLOSE, Mode.CLOSE))
    )
    kinds = [p.effect.kind for p in decision.planned]
    assert kinds == ["label", "check_run", "status_comment", "ask_comment"]
    assert kinds == live(decision.effects)


@pytest.mark.parametrize("act", ["dismissed", "reopened"])
def test_a_maintainers_hand_drops_what_waits(act: HandAct) -> None:
    first = must(decided(fresh_case(), FLOODED, UNKNOWN, CLOSES))
    hand = Hand(act=act, account_id=MAINTAINER, login="m", at=NOW)
    held = FLOODED.model_copy(update={"hands": (hand,)})
    second = must(decided(after(fresh_case(), first), held, UNKNOWN, CLOSES))
    assert second.state is CaseState.LEFT_ALONE
    assert live(second.planned) == ["check_run"]
    assert {"label", "status_comment", "close_comment", "close"} <= set(second.dropped_kinds)


def test_a_push_before_the_close_does_not_escape_it() -> None:
    first = must(decided(fresh_case(), FLOODED, UNKNOWN, CLOSES))
    pushed = PULL.model_copy(update={"head": Branch(ref="main", sha="b" * 40)})
    second = must(
        decided(
            after(fresh_case(), first), FLOODED.model_copy(update={"pull": pushed}), UNKNOWN, CLOSES
        )
    )
    assert live(second.effects) == ["check_run", "close_comment", "close"]
    assert {"close_comment", "close"} <= set(second.dropped_kinds)


def test_a_push_to_what_we_closed_plans_no_second_close() -> None:
    first = must(decided(fresh_case(), FLOODED, UNKNOWN, CLOSES))
    case = after(fresh_case(), first).model_copy(update={"closed_by_us": True, "notices": 1})
    pushed = PULL.model_copy(update={"head": Branch(ref="main", sha="b" * 40), "state": "closed"})
    second = must(decided(case, FLOODED.model_copy(update={"pull": pushed}), UNKNOWN, CLOSES))
    assert second.state is CaseState.CLOSED
    assert second.effects == ()
    assert second.dropped_kinds == ()


def test_what_another_app_opened_again_is_not_closed_again() -> None:
    first = must(decided(fresh_case(), FLOODED, UNKNOWN, CLOSES))
    case = after(fresh_case(), first).model_copy(update={"closed_by_us": True, "notices": 1})
    shut = FLOODED.model_copy(update={"pull": PULL.model_copy(update={"state": "closed"})})
    case = after(case, must(decided(case, shut, UNKNOWN, CLOSES)))
    pushed = PULL.model_copy(update={"head": Branch(ref="main", sha="b" * 40)})
    open_again = case.model_copy(update={"closed_by_us": False})
    third = must(decided(open_again, FLOODED.model_copy(update={"pull": pushed}), UNKNOWN, CLOSES))
    assert third.state is CaseState.REOPENED
    assert not {"close", "close_comment"} & set(live(third.planned))


def test_a_rule_that_observes_takes_nothing_from_one_that_acts() -> None:
    decision = must(
        decided(fresh_case(), FLOODED, SURE, with_modes(Mode.CLOSE, Mode.OBSERVE, Mode.ASK))
    )
    assert live(decision.effects) == ["label", "check_run", "status_comment", "ask_comment"]
    recorded = [p.effect.kind for p in decision.effects if p.observe]
    assert recorded == ["close_comment", "close"]
    for planned in decision.effects:
        if not planned.observe:
            assert "One account opened" not in planned.effect.model_dump_json()


def test_a_rule_that_observes_holds_up_no_required_check() -> None:
    decision = must(
        decided(fresh_case(), FLOODED, UNKNOWN, with_modes(Mode.CLOSE, Mode.OBSERVE, Mode.OFF))
    )
    assert live(decision.effects) == ["check_run"]
    run = decision.effects[[p.effect.kind for p in decision.effects].index("check_run")].effect
    assert isinstance(run, SetCheckRun)
    assert run.conclusion == "success"
    assert "burst" not in run.summary


def test_the_team_gets_its_check_run_whatever_a_rule_would_do() -> None:
    team = FLOODED.model_copy(update={"role": Role.WRITE})
    decision = must(
        decided(fresh_case(), team, UNKNOWN, with_modes(Mode.LABEL, Mode.OBSERVE, Mode.OFF))
    )
    assert decision.state is CaseState.EXEMPT
    assert live(decision.effects) == ["check_run"]


def test_a_label_is_taken_off_again_also_where_another_rule_observes() -> None:
    first = must(decided(fresh_case(), FLOODED, UNKNOWN, CLOSES))
    case = after(fresh_case(), first).model_copy(update={"has_status_comment": True})
    promoted = FLOODED.model_copy(update={"role": Role.WRITE})
    second = must(decided(case, promoted, UNKNOWN, with_modes(Mode.CLOSE, Mode.OBSERVE, Mode.OFF)))
    assert live(second.effects) == ["label", "check_run", "status_comment"]
    assert second.effects[0].effect == SetLabel(name="needs-verification", present=False)
    assert {"close", "close_comment"} <= set(second.dropped_kinds)


def test_no_fourth_comment_where_a_question_turns_into_a_close() -> None:
    asks = with_modes(Mode.CLOSE, Mode.CLOSE, Mode.ASK)
    alone = FLOODED.model_copy(update={"opened": FLOOD[:1]})
    first = must(decided(fresh_case(), alone, SURE, asks))
    assert "ask_comment" in live(first.effects)
    case = after(fresh_case(), first).model_copy(update={"notices": MOST_NOTICES})
    second = must(decided(case, FLOODED, SURE, asks))
    assert not {"ask_comment", "close_comment", "close"} & set(live(second.effects))


def test_a_rerun_in_observe_mode_writes_nothing_on_what_we_closed() -> None:
    first = must(decided(fresh_case(), FLOODED, UNKNOWN, CLOSES))
    case = after(fresh_case(), first).model_copy(update={"closed_by_us": True})
    shut = FLOODED.model_copy(update={"pull": PULL.model_copy(update={"state": "closed"})})
    second = must(decided(case, shut, UNKNOWN, Policy(mode=Mode.OBSERVE), force=True))
    assert second.effects == ()


@pytest.mark.parametrize(
    ("by_author", "role", "state"),
    [
        (True, Role.NONE, CaseState.REOPENED),
        (False, Role.TRIAGE, CaseState.REOPENED),
        (False, Role.READ, CaseState.CLOSED),
    ],
)
def test_who_may_have_it_opened_again(by_author: bool, role: Role, state: CaseState) -> None:
    case = fresh_case().model_copy(update={"closed_by_us": True})
    ask = Request(command="reopen", account_id=9, login="x", by_author=by_author, role=role)
    shut = PULL.model_copy(update={"state": "closed"})
    decision = must(
        decided(
            case, FLOODED.model_copy(update={"pull": shut, "requests": (ask,)}), UNKNOWN, CLOSES
        )
    )
    assert decision.state is state
    assert ("reopen" in live(decision.effects)) is (state is CaseState.REOPENED)


def test_what_a_maintainer_closed_is_not_opened_for_its_author() -> None:
    case = fresh_case().model_copy(update={"closed_by_us": True})
    ask = Request(command="reopen", account_id=AUTHOR, login="a", by_author=True, role=Role.NONE)
    hand = Hand(act="closed", account_id=MAINTAINER, login="m", at=NOW)
    shut = PULL.model_copy(update={"state": "closed"})
    facts = FLOODED.model_copy(update={"pull": shut, "requests": (ask,), "hands": (hand,)})
    assert must(decided(case, facts, UNKNOWN, CLOSES)).state is CaseState.ENDED
