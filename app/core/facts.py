"""What is true of a pull request and its author at the moment of a decision."""

from datetime import datetime, timedelta
from enum import IntEnum
from typing import Literal

from app.core.change import Change
from app.core.commands import Command
from app.core.due_process import Earned
from app.core.fact import Fact
from app.core.github import Account, PullRequest
from app.core.local import Local
from app.core.proofs.challenge import Challenge, State
from app.core.proofs.probe import Probe
from app.core.proofs.standing import Proof
from app.core.said import Said


class Role(IntEnum):
    """Permission on one repository, GitHub's own five and none, in GitHub's order."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5

    @property
    def word(self) -> str:
        """As GitHub writes it."""
        return self.name.lower()


class RepositoryRef(Fact):
    """Where to reach a repository now. Names change; `id` does not."""

    id: int
    installation_id: int
    owner: str
    name: str

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"


HandAct = Literal[
    "labeled",
    "unlabeled",
    "closed",
    "reopened",
    # From here on by a button of ours or a command.
    "dismissed",
    "exempted",
    "held",
    "adopted",
    "undone",
    "ordered_closed",
    "released",
    # The author's own word, kept for maintainers; it governs nothing.
    "appealed",
]


class Hand(Fact):
    """What a person with triage rights or more did by hand; the gate never reverses it.

    `reason`: what they wrote behind `because`, or where they pressed a button.
    """

    act: HandAct
    account_id: int
    login: str
    at: datetime
    reason: str = ""


# A maintainer's word on what the gate may do with a pull request; the last one counts.
RULING: frozenset[HandAct] = frozenset(
    {
        *("reopened", "dismissed", "held", "undone", "exempted", "adopted", "ordered_closed"),
        "released",  # the rules apply again
    }
)


class Request(Fact):
    """Somebody asked the gate for something by a command in a comment.

    `by_author` is by numeric id; `role` is the live permission of who asked. `target`: the login
    that the command names, without @.
    """

    command: Command
    account_id: int
    login: str
    by_author: bool
    role: Role
    target: str | None = None
    days: int | None = None
    reason: str = ""


class Opened(Fact):
    """One pull request of the author in this repository."""

    number: int
    at: datetime


class OpenPull(Fact):
    """One pull request of the author here that is open now, this one included.

    `again_at`: when it was last opened again; `ready_at`: when it was last a draft no more.
    """

    number: int
    at: datetime
    draft: bool = False
    again_at: datetime | None = None
    ready_at: datetime | None = None

    def place(self, *, drafts: bool) -> tuple[datetime, bool, int]:
        """What its place in the line goes by: since when it counts, where drafts do or do not.

        GitHub's times have whole seconds. What was opened within one comes before what came
        back to the line within it: that one waited outside, this one may have stood there.
        """
        turns = (self.again_at, None if drafts else self.ready_at)
        since = max((self.at, *(t for t in turns if t is not None)))
        return since, since in turns, self.number


class Rival(Fact):
    """Another open pull request here that is for the same issue.

    `good`: no rule applies to it.
    """

    issue: int
    number: int
    at: datetime
    author_id: int | None
    good: bool


TrustKind = Literal["vouched", "denied", "to_verify"]


class Trust(Fact):
    """A maintainer's word on an account, in one repository. It ends at `until`, if ever."""

    kind: TrustKind
    by_id: int = 0
    by_login: str
    at: datetime
    until: datetime | None = None
    reason: str = ""

    def is_over(self, now: datetime) -> bool:
        """Whether its time has passed."""
        return self.until is not None and self.until <= now


class Appeal(Fact):
    """An author asked for a second look, and nobody answered yet. `named` is who was asked to."""

    at: datetime
    deadline_at: datetime
    named: str | None = None


CampaignAct = Literal["label", "ask", "close"]


class CampaignWord(Fact):
    """What a maintainer decided of a whole campaign that the pull request belongs to.

    `named`: they named this very one, although its author is vouched for.
    """

    word: CampaignAct
    by_login: str
    at: datetime
    named: bool = False


class History(Fact):
    """What became of the author's earlier pull requests here, as far as we saw them.

    `answered` and `unanswered` count those in which somebody else wrote: with and without a
    later word by the author. `merged_lately`: within the time of `trust.earned`.
    """

    merged: int = 0
    merged_lately: int = 0
    closed_unmerged: int = 0
    open: int = 0
    answered: int = 0
    unanswered: int = 0


NOBODY = Challenge(account_id=0)


class Asked(Fact):
    """The question that we wrote on the pull request, and when its author last did something there.

    Only a question that really stands there starts the clock, and only its author stops it.
    """

    challenge: Challenge = NOBODY
    author_at: datetime | None = None

    @property
    def answered(self) -> bool:
        """Whether the author did something after the question."""
        return self.challenge.state is State.ANSWERED


class PublicEvent(Fact):
    """One public act of an account. `kind` is GitHub's event type with its action, if it has one."""

    kind: str
    repository: str
    at: datetime


class Facts(Fact):
    """All that a decision rests on.

    `role` is None where no permission could be asked for (a recording without that answer);
    where GitHub failed to answer, there are no facts and no decision. `opened` holds the author's
    pull requests in this repository near this one's creation, this one included.
    """

    pull: PullRequest
    role: Role | None
    opened: tuple[Opened, ...] = ()
    # When pull requests of the author were opened anywhere near this one, those here included.
    opened_anywhere: tuple[datetime, ...] = ()
    open_pulls: tuple[OpenPull, ...] = ()
    rivals: tuple[Rival, ...] = ()
    trust: Trust | None = None
    appeal: Appeal | None = None
    # The author showed that somebody is there, and what shows it is enough here.
    proof: Proof | None = None
    campaign: CampaignWord | None = None
    asked: Asked = Asked()
    # What would be asked about this very change; None where nothing is asked, or nothing fits.
    probe: Probe | None = None
    # Nobody answered an appeal here in time.
    appeal_lapsed: bool = False
    # None where it was not read: no rule asks for it, or GitHub did not answer.
    change: Change | None = None
    history: History = History()
    # The author's public activity; None where it was not read.
    activity: tuple[PublicEvent, ...] | None = None
    # What came of earlier scores in this repository; None where nobody counted.
    local: Local | None = None
    hands: tuple[Hand, ...] = ()
    requests: tuple[Request, ...] = ()
    # Where the author can show that somebody is there; "" where that is not set up.
    verify_page: str = ""
    # What was answered to commands, for the status comment.
    answers: tuple[Said, ...] = ()
    installed_at: datetime

    @property
    def author(self) -> Account | None:
        """Who opened it; None once that account was deleted."""
        return self.pull.user

    @property
    def voucher(self) -> str | None:
        """Who vouched for the author, unless a maintainer named this very pull request since."""
        if self.trust is None or self.trust.kind != "vouched":
            return None
        named = self.campaign is not None and self.campaign.named
        return None if named else self.trust.by_login

    def earned(self, trust: Earned | None) -> bool:
        """Whether so many of the author's pull requests were merged here lately."""
        return trust is not None and self.history.merged_lately >= trust.merged

    @property
    def ruling(self) -> Hand | None:
        """The last that a maintainer said of what the gate may do here."""
        return next((h for h in reversed(self.hands) if h.act in RULING), None)

    def burst(self, prs: int, minutes: int) -> tuple[Opened, ...]:
        """The burst that this pull request is part of, or nothing.

        A burst is a window of `minutes` that holds `prs` or more pull requests; the answer is the
        union of all such windows that hold this one, so that it does not depend on the order in
        which deliveries arrive.
        """
        times = sorted(self.opened, key=lambda o: (o.at, o.number))
        mine = next((i for i, o in enumerate(times) if o.number == self.pull.number), None)
        if mine is None:
            return ()
        first, last, start = mine, None, 0
        for end in range(mine, len(times)):
            while times[end].at - times[start].at > timedelta(minutes=minutes):
                start += 1
            if start > mine:
                break
            if end - start + 1 >= prs:
                # All these windows hold this one, so that their union has no gap.
                first, last = min(first, start), end
        return () if last is None else tuple(times[first : last + 1])

    def burst_anywhere(self, prs: int, minutes: int) -> bool:
        """Whether a window of `minutes` with `prs` or more of them anywhere holds this one."""
        within = timedelta(minutes=minutes)
        at = self.pull.created_at
        times = sorted(t for t in self.opened_anywhere if abs(t - at) <= within)
        windows = (times[i : i + prs] for i in range(len(times) - prs + 1))
        return any(w[-1] - w[0] <= within and w[0] <= at <= w[-1] for w in windows)
