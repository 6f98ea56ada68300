"""What is true of a pull request and its author at the moment of a decision."""

from datetime import datetime, timedelta
from enum import IntEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

from app.core.github import Account, PullRequest


class Fact(BaseModel):
    """Base: immutable, and a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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


HandAct = Literal["labeled", "unlabeled", "closed", "reopened", "dismissed"]


class Hand(Fact):
    """What a person with triage rights or more did by hand; the gate never reverses it."""

    act: HandAct
    account_id: int
    login: str
    at: datetime


class Request(Fact):
    """Somebody asked the gate for something by a command in a comment.

    `by_author` is by numeric id; `role` is the live permission of who asked.
    """

    command: Literal["reopen"]
    account_id: int
    login: str
    by_author: bool
    role: Role


class Opened(Fact):
    """One pull request of the author in this repository."""

    number: int
    at: datetime


class History(Fact):
    """What became of the author's earlier pull requests here, as far as we saw them.

    `answered` and `unanswered` count those in which somebody else wrote: with and without a
    later word by the author.
    """

    merged: int = 0
    closed_unmerged: int = 0
    open: int = 0
    answered: int = 0
    unanswered: int = 0


class Facts(Fact):
    """All that a decision rests on.

    `role` is None where no permission could be asked for (a recording without that answer);
    where GitHub failed to answer, there are no facts and no decision. `opened` holds the author's
    pull requests in this repository near this one's creation, this one included.
    """

    pull: PullRequest
    role: Role | None
    opened: tuple[Opened, ...] = ()
    history: History = History()
    hands: tuple[Hand, ...] = ()
    requests: tuple[Request, ...] = ()
    installed_at: datetime

    @property
    def author(self) -> Account | None:
        """Who opened it; None once that account was deleted."""
        return self.pull.user

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
