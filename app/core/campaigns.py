"""Campaigns: floods folded into one thing to decide on.

Pull requests belong together that are one author's burst, or that are nearly the same.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from app.core.fact import Fact
from app.core.facts import CampaignAct, CampaignWord

CampaignKind = Literal["burst", "similar"]
# `reopen` takes back what the gate did on all of them, and leaves them alone.
CampaignOrder = Literal["label", "ask", "close", "reopen"]


class Member(Fact):
    """A pull request of a campaign. `named`: a person named it although it would be spared.

    `vouched`: a maintainer vouched for its author. `proven`: its author showed that somebody is
    there, before anything was decided on the campaign or it was opened. `exempt`: no rule applies to its author, or a
    maintainer's hand governs it; why, in words.
    """

    case_id: int
    number: int
    author_id: int | None
    opened_at: datetime
    named: bool = False
    vouched: bool = False
    proven: bool = False
    exempt: str = ""


def spared(members: Sequence[Member]) -> dict[int, str]:
    """Who stays out of what is decided on all, by case id, and why. `members` are all there are.

    Of a group by several accounts anybody may be one that the others copied, so that nobody can
    have the earliest closed by copying it, nor anybody who is known to be there.
    """
    why = {m.case_id: m.exempt for m in members if m.exempt and not (m.vouched and m.named)}
    if len({m.author_id for m in members}) == 1:
        return why
    first = min(members, key=lambda m: (m.opened_at, m.number), default=None)
    for member in members:
        if member.named:
            continue
        if member.proven:
            why.setdefault(member.case_id, "its author has shown that somebody is there")
        elif member is first:
            why.setdefault(member.case_id, "the earliest of them, which the others may have copied")
    return why


def left_out(members: Sequence[Member], order: CampaignOrder) -> dict[int, str]:
    """Whom an order does not meet, by case id, and why: whoever is spared, but not of good news."""
    if order == "reopen":
        return {m.case_id: m.exempt for m in members if m.exempt}
    return spared(members)


def word_for(
    case_id: int, members: Sequence[Member], word: CampaignWord | None
) -> CampaignWord | None:
    """The word that holds for one member; None where it is spared."""
    if word is None or case_id in spared(members):
        return None
    return word.model_copy(update={"named": any(m.named and m.case_id == case_id for m in members)})


class Joined(Fact):
    """Which campaign a pull request joins, and which others become one with it."""

    into: int | None
    merged: tuple[int, ...] = ()


def joined(known: Sequence[int], decided: Sequence[int]) -> Joined:
    """Where what belongs together lies in several campaigns: the oldest takes in the others.

    One that a maintainer decided on takes in only those that nobody decided on, and is never taken
    in: what somebody decided meets nobody whom they did not see in it. `known` are ids.
    """
    if not known:
        return Joined(into=None)
    first = next(iter(sorted(set(known) & set(decided))), min(known))
    rest = sorted(k for k in set(known) - {first} if k not in decided)
    return Joined(into=first, merged=tuple(rest))


ORDERS: dict[CampaignOrder, str] = {
    "label": "label all",
    "ask": "ask all",
    "close": "close all",
    "reopen": "reopen all and leave them alone",
}
ACTS: tuple[CampaignAct, ...] = ("label", "ask", "close")
