"""The ladder: label → ask → wait → close. Which rung each rule that applies stands on now."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from app.core.decision import Case
from app.core.facts import Asked, Facts
from app.core.modes import Mode
from app.core.policy import Policy
from app.core.proofs.challenge import State
from app.core.rules import RULES, asked_for, burst
from app.core.rules.base import Finding, Found, Rule, Seen


def wants_change(case: Case, facts: Facts, policy: Policy) -> bool:
    """Whether it is worth a request to GitHub to know what a pull request changes.

    Within a burst it is not, unless a rule that reads it may go further than the burst's own: forty
    pull requests within minutes cost no forty requests.
    """
    if facts.author is None or facts.pull.is_merged or facts.pull.created_at < facts.installed_at:
        return False
    if facts.pull.state == "closed" and not case.closed_by_us:
        return False
    rule = policy.of(burst.RULE)
    if rule.mode is Mode.OFF or not facts.burst(rule.prs, rule.minutes):
        return True
    readers = [policy.in_force(policy.of(r).mode) for r in RULES if "change" in r.needs]
    return max(readers, default=Mode.OFF) > policy.in_force(rule.mode)


def find(seen: Seen, policy: Policy) -> tuple[Finding, ...]:
    """All rules that apply, the furthest-going first."""
    found = (_one(rule, seen, policy) for rule in RULES)
    return tuple(sorted((f for f in found if f), key=lambda f: -f.rung))


def _one(rule: Rule[Any], seen: Seen, policy: Policy) -> Finding | None:
    config = policy.of(rule)
    if config.mode is Mode.OFF or not rule.can_say(seen.facts):
        return None
    if rule.is_proven(seen.facts):
        return None
    found = rule.find(config, seen)
    return None if found is None else _finding(rule, found, seen, policy)


def _finding(rule: Rule[Any], found: Found, seen: Seen, policy: Policy) -> Finding:
    config, asked, now = policy.of(rule), seen.facts.asked, seen.now
    # A rule that only observes records what it would do by its nature.
    most = min(rule.most, found.most)
    goal = min(config.mode if config.mode > Mode.OBSERVE else rule.natural, most)
    grace = policy.grace(rule)
    rung, due = goal, found.until
    if goal is Mode.CLOSE and grace:
        ends = _ends(asked, grace)
        over = asked.challenge.state is State.EXPIRED and ends is not None and ends <= now
        rung = Mode.CLOSE if over else Mode.ASK
        due = min((at for at in (ends, due) if at is not None and at > now), default=None)
    return Finding(
        rule=rule.name,
        sentence=found.sentence,
        way=found.way,
        rung=rung,
        in_force=goal if found.ordered else min(policy.in_force(config.mode), most),
        goal=goal,
        grace_hours=grace if goal is Mode.CLOSE else 0,
        answered=asked.answered,
        due_at=due,
    )


def _ends(asked: Asked, grace: int) -> datetime | None:
    """When the window ends. Never before what the question announced, and never unannounced."""
    challenge = asked.challenge
    if challenge.since is None or (challenge.due_at is None and not challenge.expired):
        return None
    if challenge.state not in {State.ASKED, State.EXPIRED}:
        return None
    own = challenge.since + timedelta(hours=grace)
    return own if challenge.due_at is None else max(own, challenge.due_at)


def closes_at(findings: Iterable[Finding], asked: Asked) -> datetime | None:
    """When the first of the rules closes if nothing happens; None where none will."""
    waits = [f for f in findings if f.in_force is Mode.CLOSE and f.grace_hours]
    ends = [_ends(asked, f.grace_hours) for f in waits if f.rung < Mode.CLOSE]
    return min((at for at in ends if at is not None), default=None)


LIFE = frozenset(rule.name for rule in RULES if rule.life != "never")
WORDS = frozenset(rule.name for rule in RULES if rule.word)


def is_word(rules: Iterable[str]) -> bool:
    """Whether a maintainer's word is among the rules: its author may only appeal then."""
    return not WORDS.isdisjoint(rules)


def asked_by_hand(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that a maintainer's word on the account or the campaign is behind."""
    return tuple(f for f in findings if f.rule in WORDS or f.rule == asked_for.RULE.name)


def by_a_word(findings: Iterable[Finding]) -> bool:
    """Whether a maintainer's word keeps a pull request closed, whatever it was closed for."""
    return any(f.rule in WORDS and min(f.rung, f.in_force) is Mode.CLOSE for f in findings)


def cured(
    rules: tuple[str, ...], findings: tuple[Finding, ...], facts: Facts, policy: Policy
) -> bool:
    """Whether nothing is left of what a pull request was closed for.

    A rule that somebody switched off since, or whose facts could not be read, cures nothing.
    """
    by_name = {rule.name: rule for rule in RULES}
    ours = [by_name[name] for name in rules if name in by_name]
    return (
        bool(ours)
        and len(ours) == len(rules)
        and all(
            (rule.cured or rule.is_proven(facts))
            and rule.can_say(facts)
            and policy.of(rule).mode is not Mode.OFF
            and not any(f.rule == rule.name for f in findings)
            for rule in ours
        )
    )
