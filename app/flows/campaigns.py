"""Campaigns: pull requests join them as they are decided; maintainers decide on all at once."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from app.core.audit import Entry, Place
from app.core.campaigns import CampaignOrder, Member, joined, left_out
from app.core.decision import CaseState
from app.core.facts import CampaignAct
from app.core.github import Account
from app.core.likeness import Sketch, Sketcher, alike, traits
from app.core.modes import Mode
from app.core.proofs.standing import enough
from app.core.rules import burst
from app.core.said import Catalogues
from app.db import audit, campaigns, proofs
from app.db.engine import Tx, hold
from app.db.installations import Standing
from app.flows.fairness import Rings
from app.flows.judge import Judged
from app.flows.undo import undo
from app.flows.waves import ask_all

_NEIGHBOURS = 20
_JOIN = {CaseState.FLAGGED, CaseState.CLEAR, CaseState.REOPENED}


def sketch(judged: Judged, sketcher: Sketcher) -> Sketch | None:
    """What others are compared with; None for a pull request that belongs to no flood."""
    decision, facts = judged.decision, judged.facts
    if decision is None or decision.state not in _JOIN or facts.author is None:
        return None
    return sketcher.sketch(traits(facts.pull, facts.change))


def join(tx: Tx, standing: Standing, judged: Judged, made: Sketch | None, now: datetime) -> Rings:
    """Puts a pull request with those that it belongs to; answers whom to wake.

    Those that come to a campaign that was decided on are decided anew.
    """
    if made is None:
        return []
    here, case, facts = standing.repository, judged.case, judged.facts
    together = {case.id, *_alike(tx, standing, judged, made), *_burst(tx, standing, judged)}
    if len(together) == 1:
        return []
    # Of two that find each other at the same time, the later sees the campaign of the first.
    hold(tx, f"campaigns:{here.id}")
    before = campaigns.known(tx, together)
    known = sorted(set(before.values()))
    if len(known) == 1 and len(before) == len(together):
        return []
    to = joined(known, campaigns.decided_on(tx, known))
    into = campaigns.join(tx, here.id, to.into, to.merged, sorted(together), "similar")
    word = campaigns.word_of(tx, into)
    if word is None:
        return []
    new = {m.number for m in campaigns.members(tx, into) if before.get(m.case_id) != into}
    numbers = sorted(new if facts.campaign is None else new - {case.number})
    cause = f"campaign:{into}:{word.at.isoformat()}"
    return [("triage", id_) for id_ in ask_all(tx, standing, numbers, cause, now)]


def _alike(tx: Tx, standing: Standing, judged: Judged, made: Sketch) -> list[int]:
    """Those that are nearly the same, if they are enough."""
    campaigns.put_sketch(tx, judged.case.id, made)
    config = standing.policy.campaigns
    if not made.bands:
        return []
    at = judged.facts.pull.created_at
    near = campaigns.near(tx, standing.repository.id, judged.case.id, made, at, config.days)
    found = alike(made, near, config.likeness)
    return found if len(found) + 1 >= config.similar else []


def _burst(tx: Tx, standing: Standing, judged: Judged) -> list[int]:
    """The author's burst."""
    rule, facts = standing.policy.of(burst.RULE), judged.facts
    if rule.mode is Mode.OFF or facts.author is None:
        return []
    flood = [o.number for o in facts.burst(rule.prs, rule.minutes)]
    if not flood:
        return []
    # Its neighbours are enough: they are in the campaign of theirs.
    mine = flood.index(facts.pull.number)
    numbers = flood[max(mine - _NEIGHBOURS, 0) : mine + _NEIGHBOURS + 1]
    return campaigns.of_burst(tx, standing.repository.id, facts.author.id, numbers)


M = TypeVar("M", bound=Member)


def with_proofs(tx: Tx, standing: Standing, members: Sequence[M], now: datetime) -> list[M]:
    """The members, with whose authors are proven now."""
    here = standing.repository
    accounts = {m.author_id for m in members if m.author_id is not None}
    kept = proofs.of_accounts(tx, accounts, here.installation_id, here.id, now)
    proven = {id_ for id_, found in kept.items() if enough(standing.policy.proofs, found, now)}
    return [m.model_copy(update={"proven": m.author_id in proven}) for m in members]


def order(  # noqa: PLR0913 - what is decided, of what, by whom
    tx: Tx,
    standing: Standing,
    campaign_id: int,
    wanted: CampaignOrder,
    named: Sequence[int],
    reason: str,
    by: Account,
    catalogues: Catalogues,
    now: datetime,
) -> Rings:
    """A maintainer decides on a whole campaign. `named`: case ids that are not to be spared."""
    campaigns.name(tx, campaign_id, named)
    members = campaigns.members(tx, campaign_id)
    if wanted == "reopen":
        campaigns.end_word(tx, campaign_id, by, now)
        out = left_out(members, wanted)
        found = [(m.case_id, m.number) for m in members if m.case_id not in out]
        _, rings = undo(tx, standing, found, f"campaign {campaign_id}", by, catalogues, now)
        return rings
    return _word(tx, standing, campaign_id, wanted, reason, by, now)


def _word(  # noqa: PLR0913
    tx: Tx,
    standing: Standing,
    campaign_id: int,
    word: CampaignAct,
    reason: str,
    by: Account,
    now: datetime,
) -> Rings:
    made = campaigns.put_word(tx, campaign_id, word, by, reason, now)
    detail = {"campaign": campaign_id, "word": word}
    audit.note(tx, _place(standing), Entry(at=now, act="campaign.word", by=by, detail=detail))
    return _all(tx, standing, campaign_id, f"word:{made}", now)


def take_back(tx: Tx, standing: Standing, campaign_id: int, by: Account, now: datetime) -> Rings:
    """One undo for the whole: what was decided of the campaign ends, and what it closed reopens."""
    if not campaigns.end_word(tx, campaign_id, by, now):
        return []
    detail = {"campaign": campaign_id}
    audit.note(tx, _place(standing), Entry(at=now, act="campaign.undo", by=by, detail=detail))
    return _all(tx, standing, campaign_id, f"unword:{campaign_id}:{now.isoformat()}", now)


def _all(tx: Tx, standing: Standing, campaign_id: int, cause: str, now: datetime) -> Rings:
    numbers = [m.number for m in campaigns.members(tx, campaign_id)]
    return [("triage", id_) for id_ in ask_all(tx, standing, numbers, cause, now)]


def _place(standing: Standing) -> Place:
    here = standing.repository
    return Place(installation_id=here.installation_id, repository_id=here.id)
