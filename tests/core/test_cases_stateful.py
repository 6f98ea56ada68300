"""One pull request through any sequence of events: decided, acted on, interrupted, decided anew."""

from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.core.cases import decide
from app.core.decision import Case, CaseState, Decision, Planned
from app.core.effects import REQUIRES, no_longer_wanted
from app.core.facts import Facts, Hand, HandAct, History, Opened, Request, Role
from app.core.github import Account, Branch, PullRequest
from app.core.modes import Mode
from app.core.plan import MOST_NOTICES
from app.core.policy import Policy, Rules
from app.core.rules.burst import BurstRule
from app.core.rules.unattended import UnattendedRule
from tests.core.strategies import AUTHOR, MEANS, NOW, fresh_case
from tests.scorer import SCORER

Waiting = tuple[int, str, Planned]


class OnePullRequest(RuleBasedStateMachine):
    """GitHub, the outbox and the case, each as small as can be; only `decide` is the real thing."""

    def __init__(self) -> None:
        super().__init__()
        branch = Branch(ref="fix", sha="0" * 40)
        self.pull = PullRequest(
            id=1, number=5, state="open", title="t", user=Account(id=AUTHOR, login="author"),
            created_at=NOW, updated_at=NOW, head=branch, base=branch,
        )  # fmt: skip
        self.case: Case = fresh_case()
        self.policy = Policy(mode=Mode.CLOSE)
        self.role = Role.NONE
        self.opened = [Opened(number=5, at=NOW)]
        self.hands: list[Hand] = []
        self.requests: list[Request] = []
        self.outbox: list[Waiting] = []
        self.done: set[tuple[int, str]] = set()
        self.closes = 0
        self.clock = NOW
        # Nothing was refused for good so far.
        self.smooth = True

    @initialize(others=st.sampled_from([0, 2, 9, 9]))
    def starts_alone_or_in_a_flood(self, others: int) -> None:
        if others:
            self.author_opens_more(others)

    # What people and other Apps do.

    @rule()
    def push(self) -> None:
        sha = f"{int(self.pull.head.sha) + 1:040}"
        self.change(head=Branch(ref="fix", sha=sha))

    @rule(title=st.sampled_from(["t", "u"]), draft=st.booleans(), locked=st.booleans())
    def edit(self, title: str, draft: bool, locked: bool) -> None:
        self.change(title=title, draft=draft, locked=locked)

    @rule(count=st.integers(1, 5))
    def author_opens_more(self, count: int) -> None:
        start = 100 + len(self.opened)
        self.opened += [
            Opened(number=start + i, at=NOW + timedelta(seconds=i)) for i in range(count)
        ]

    # Not after a close: who joined the team meanwhile, was opened again by another App, and left
    # the team, is judged anew.
    @precondition(lambda self: not self.closes)
    @rule(role=st.sampled_from([Role.NONE, Role.READ, Role.WRITE]))
    def permission_changes(self, role: Role) -> None:
        self.role = role

    @rule(mode=st.sampled_from(Mode), burst=st.sampled_from(Mode), unattended=st.sampled_from(Mode))
    def configuration_changes(self, mode: Mode, burst: Mode, unattended: Mode) -> None:
        rules = Rules(burst=BurstRule(mode=burst), unattended=UnattendedRule(mode=unattended))
        self.policy = Policy(mode=mode, rules=rules)

    @rule(
        act=st.sampled_from(
            [
                "labeled",
                "unlabeled",
                "dismissed",
                "held",
                "exempted",
                "undone",
                "adopted",
                "released",
            ]
        )
    )
    def maintainer_acts(self, act: HandAct) -> None:
        self.by_hand(act)

    @precondition(lambda self: self.pull.state == "open")
    @rule(by_hand=st.booleans())
    def somebody_closes(self, by_hand: bool) -> None:
        self.change(state="closed")
        if by_hand:
            self.by_hand("closed")

    @precondition(lambda self: self.pull.state == "closed" and not self.pull.merged)
    @rule(by_hand=st.booleans())
    def somebody_reopens(self, by_hand: bool) -> None:
        self.change(state="open")
        self.case = self.case.model_copy(update={"closed_by_us": False})
        if by_hand:
            self.by_hand("reopened")

    @precondition(lambda self: self.pull.state == "open")
    @rule(chance=st.integers(0, 5))
    def somebody_merges(self, chance: int) -> None:
        if not chance:
            self.change(state="closed", merged=True)

    @rule(by_author=st.booleans())
    def somebody_asks_to_reopen(self, by_author: bool) -> None:
        asked = Request(
            command="reopen", account_id=AUTHOR, login="a", by_author=by_author, role=Role.NONE
        )
        # A request belongs to the batch that it came with.
        self.requests = [asked]

    # What the gate does.

    @rule(force=st.booleans())
    def triage(self, force: bool) -> None:
        decision = self.decide(force=force)
        self.requests = []
        if decision is None:
            return
        self.check(decision)
        self.store(decision)
        assert self.decide() is None or decision.state is CaseState.REOPENED

    @rule(fails=st.booleans())
    def perform_one(self, fails: bool) -> None:
        if not self.outbox:
            return
        version, sha, planned = self.outbox.pop(0)
        kind = planned.effect.kind
        required = REQUIRES.get(kind)
        if required and (version, required) not in self.done:
            return
        why_not = no_longer_wanted(planned.effect, self.pull, sha)
        if why_not or fails:
            # Only a close that a push overtook is owed once more.
            self.smooth &= not fails and why_not is not None and "head moved" in why_not
            return
        self.done.add((version, kind))
        self.carry_out(kind, version)

    @precondition(lambda self: self.pull.state == "open" and not self.pull.merged)
    @rule(pushes=st.integers(0, 1))
    def all_is_quiet(self, pushes: int) -> None:
        """After at most a last push nobody does anything any more: what had to come has come."""
        if pushes:
            self.triage(force=False)
            self.push()
        for _ in range(3):
            self.triage(force=False)
            while self.outbox:
                self.perform_one(fails=False)
        assert self.decide() is None
        rules = self.policy.rules.burst
        closes = min(self.policy.mode, rules.mode) is Mode.CLOSE and self.facts().burst(5, 10)
        turns = [h.act for h in self.hands if h.act in {"labeled", "unlabeled", "released"}]
        # Who took the label off is not overruled by a close.
        closes = closes and turns[-1:] != ["unlabeled"]
        if closes and self.case.state is CaseState.FLAGGED and self.smooth:
            assert self.case.notices >= MOST_NOTICES

    # Invariants.

    @invariant()
    def at_most_three_comments(self) -> None:
        assert self.case.notices <= MOST_NOTICES

    @invariant()
    def closed_at_most_once(self) -> None:
        assert self.closes <= 1

    # The world behind it.

    def change(self, **values: object) -> None:
        self.clock += timedelta(seconds=1)
        self.pull = self.pull.model_copy(update={**values, "updated_at": self.clock})

    def by_hand(self, act: HandAct) -> None:
        self.clock += timedelta(seconds=1)
        self.hands.append(Hand(act=act, account_id=3, login="m", at=self.clock))

    def facts(self) -> Facts:
        return Facts(
            pull=self.pull,
            role=self.role,
            opened=tuple(self.opened),
            history=History(open=len(self.opened) - 1),
            hands=tuple(self.hands),
            requests=tuple(self.requests),
            installed_at=NOW - timedelta(days=1),
        )

    def decide(self, *, force: bool = False) -> Decision | None:
        facts = self.facts()
        score = SCORER.of(facts)
        return decide(
            self.case, facts, score, self.policy, "sha", self.clock, means=MEANS, force=force
        )

    def check(self, decision: Decision) -> None:
        live = [p.effect.kind for p in decision.effects if not p.observe]
        assert decision.version == self.case.version + 1
        facts = self.facts()
        ruling = facts.ruling.act if facts.ruling else None
        ordered = ruling in {"undone", "exempted", "adopted"}
        # What a maintainer orders is done in every mode; it only takes back, but for `adopt`.
        free = {"reopen", "adopt", "label", "status_comment"} if ordered else {"reopen"}
        assert self.policy.mode >= Mode.LABEL or set(live) <= free
        assert self.policy.mode >= Mode.CLOSE or "close" not in live
        assert "close" not in live or "close_comment" in live
        if self.role >= Role.TRIAGE or ruling not in {None, "released"}:
            assert not {"ask_comment", "close_comment", "close"} & set(live)
        if decision.state is CaseState.REOPENED:
            assert not {"close_comment", "close"} & set(live)

    def store(self, decision: Decision) -> None:
        self.case = self.case.model_copy(
            update={
                "version": decision.version,
                "state": decision.state,
                "fingerprint": decision.fingerprint,
                "planned": decision.planned,
            }
        )
        # GitHub has no rows to drop for what was carried out; only what waits goes.
        self.outbox = [w for w in self.outbox if w[2].effect.kind not in decision.dropped_kinds]
        self.outbox += [
            (decision.version, decision.head_sha, p) for p in decision.effects if not p.observe
        ]

    def carry_out(self, kind: str, version: int) -> None:
        if kind in {"ask_comment", "close_comment"}:
            self.case = self.case.model_copy(update={"notices": self.case.notices + 1})
        elif kind == "status_comment":
            self.case = self.case.model_copy(update={"has_status_comment": True})
        elif kind == "close":
            assert (version, "close_comment") in self.done
            self.closes += 1
            self.change(state="closed")
            self.case = self.case.model_copy(
                update={"closed_by_us": True, "closed_at": self.clock, "reopened_at": None}
            )
        elif kind == "reopen":
            self.change(state="open")
            self.case = self.case.model_copy(
                update={"closed_by_us": False, "reopened_at": self.clock}
            )


OnePullRequest.TestCase.settings = settings(max_examples=150, stateful_step_count=25, deadline=None)
TestOnePullRequest = OnePullRequest.TestCase


def test_who_opens_again_what_we_closed_after_a_hand_did_is_not_closed_a_second_time() -> None:
    """A maintainer closed it, somebody opened it again, we closed it, somebody opened it again."""
    state = OnePullRequest()
    state.starts_alone_or_in_a_flood(others=9)
    state.somebody_closes(by_hand=True)
    state.somebody_reopens(by_hand=False)
    state.all_is_quiet(pushes=0)
    assert state.closes == 1
    state.somebody_reopens(by_hand=False)
    state.all_is_quiet(pushes=0)
    assert state.closes == 1
