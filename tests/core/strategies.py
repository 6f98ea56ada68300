"""Examples for the property tests of the core: any JSON, hostile text, facts, policies."""

import unicodedata
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from app.adapters.patterns import LinearPatterns
from app.core.cases import Means
from app.core.decision import Case
from app.core.facts import Facts, Hand, History, Opened, Request, Role
from app.core.features import Signal
from app.core.github import Account, Branch, PullRequest
from app.core.modes import Mode
from app.core.policy import Exempt, Policy, Rules
from app.core.rules.burst import BurstRule
from app.core.rules.unattended import UnattendedRule
from app.core.said import say
from app.core.scoring import Score, add_up
from app.core.text import one_line

MEANS = Means(patterns=LinearPatterns())
NOW = datetime(2026, 11, 16, 13, tzinfo=UTC)
AUTHOR = 7

text = st.text(st.characters(exclude_categories=[]), max_size=40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
HOSTILE = (
    "plain",
    "@octocat please @org/team",
    "[x](https://evil.example) <img src=x onerror=y> <!-- hide",
    "\u202eevil\u2066\u200b\ufeff\U000e0041",
    "nul\0esc\x1b[31m\ud800",
    "#1 GH-2 org/repo#3 www.evil.example a@b.example :+1: $x$ | `code` ~~s~~",
    "line\r\n\r\n# heading\n- [ ] task\u2028tail\u2029",
    "$(reboot) `reboot` ; rm -rf /",
    "修复分页 KV 缓存",
    "x" * 1000,
)
hostile = st.sampled_from(HOSTILE) | text
# Hostile words as they stand in our own facts: read by an event's type first.
line = hostile.map(one_line)


# Format characters that are drawn: Arabic, Syriac and Kaithi number and verse signs, hieroglyphs.
_DRAWN = {
    0x6DD,
    0x70F,
    0x8E2,
    0x890,
    0x891,
    0x110BD,
    0x110CD,
    *range(0x600, 0x606),
    *range(0x13430, 0x13440),
}


def shows(words: str) -> bool:
    """Whether a text holds nothing but what a reader can see, in the order of reading."""
    hidden = {"Cc", "Cs", "Cf", "Zl", "Zp"}
    return all(unicodedata.category(c) not in hidden or ord(c) in _DRAWN for c in words)


@st.composite
def pulls(draw: st.DrawFn, *, state: str | None = None) -> PullRequest:
    merged = draw(st.sampled_from([False, False, False, True])) if state is None else False
    return PullRequest(
        id=1,
        number=5,
        state=state or ("closed" if merged else draw(st.sampled_from(["open", "open", "closed"]))),
        title=draw(hostile),
        body=draw(hostile),
        user=draw(
            st.sampled_from(
                [
                    Account(id=AUTHOR, login="author"),
                    Account(id=49699333, login="dependabot[bot]", type="Bot"),
                    None,
                ]
            )
        )
        if draw(st.booleans())
        else Account(id=AUTHOR, login=draw(hostile)),
        draft=draw(st.booleans()),
        merged=merged,
        author_association=draw(
            st.sampled_from(["NONE", "NONE", "CONTRIBUTOR", "MEMBER", "OWNER"])
        ),
        created_at=NOW - timedelta(minutes=draw(st.integers(0, 100))),
        updated_at=NOW,
        head=Branch(ref=draw(hostile), sha=draw(st.sampled_from(["a" * 40, "b" * 40]))),
        base=Branch(ref="main", sha="c" * 40),
    )


@st.composite
def opened(draw: st.DrawFn, at: datetime) -> tuple[Opened, ...]:
    offsets = draw(st.lists(st.integers(-1300, 1300), max_size=12))
    others = [Opened(number=100 + i, at=at + timedelta(seconds=s)) for i, s in enumerate(offsets)]
    return tuple(draw(st.permutations([Opened(number=5, at=at), *others])))


@st.composite
def all_facts(draw: st.DrawFn, *, state: str | None = None) -> Facts:
    pull = draw(pulls(state=state))
    acts = st.sampled_from(["dismissed", "reopened", "labeled", "unlabeled", "closed"])
    hands = st.builds(Hand, act=acts, account_id=st.just(3), login=line, at=st.just(NOW))
    asks = st.builds(
        Request,
        command=st.just("reopen"),
        account_id=st.just(AUTHOR),
        login=line,
        by_author=st.booleans(),
        role=st.sampled_from(Role),
    )
    few = st.integers(0, 6)
    return Facts(
        pull=pull,
        role=draw(st.sampled_from([None, Role.NONE, Role.NONE, Role.READ, *Role])),
        opened=draw(opened(pull.created_at)),
        history=draw(
            st.builds(
                History,
                merged=st.integers(0, 1),
                closed_unmerged=few,
                open=few,
                answered=few,
                unanswered=few,
            )
        ),
        hands=tuple(draw(st.lists(hands, min_size=1, max_size=3))) if draw(st.booleans()) else (),
        requests=tuple(draw(st.lists(asks, max_size=2))),
        installed_at=NOW - timedelta(minutes=draw(st.sampled_from([50, 1000, 1000]))),
    )


modes = st.sampled_from(Mode)
policies = st.builds(
    Policy,
    mode=modes,
    label=st.sampled_from(["needs-verification", "other"]),
    rules=st.builds(
        Rules,
        burst=st.builds(BurstRule, mode=modes, prs=st.integers(2, 6), minutes=st.integers(1, 20)),
        unattended=st.builds(UnattendedRule, mode=modes, threshold=st.sampled_from([0.5, 0.8])),
    ),
    exempt=st.builds(Exempt, accounts=st.sampled_from([(), (AUTHOR,)])),
)
signals = st.builds(
    Signal,
    name=st.just("rate"),
    value=line,
    sentence=line.map(lambda words: say("{words}", words=words)),
    weight=st.floats(-5, 5),
    evidence=st.integers(0, 20),
)
_seen = st.lists(signals, max_size=4)
# Also some that are sure of it: rules that read the score have to apply now and then.
_sure = st.just([Signal(name="x", value="", sentence="Seen.", weight=9, evidence=99)])
scores: st.SearchStrategy[Score] = (_seen | _sure).map(lambda s: add_up(-2.0, tuple(s), "x"))


def fresh_case() -> Case:
    return Case(id=1, repository_id=2, number=5)
