"""What stops the gate by itself: too many closes at once, and rules that people keep overturning.

A brake is never released by the gate, only by a person.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from app.core.fact import Fact
from app.core.ladder import WORDS
from app.core.modes import Mode
from app.core.policy import Policy
from app.core.rules import RULES
from app.core.said import Sentence, say

BrakeCause = Literal["closes", "share", "overturned"]


class Brake(Fact):
    """The gate, or one rule (`rule`), only observes since `at`. `of` and `out_of` are the count."""

    id: int
    rule: str | None
    cause: BrakeCause
    of: int
    out_of: int
    at: datetime


class Closes(Fact):
    """What the gate closed lately in one repository, and what is there beside it.

    `authors`: of what was closed; `authors_open`: of what is open now, those of `authors` left out.
    """

    closes: int
    authors: int
    authors_open: int


class Trip(Fact):
    """A limit was passed: `of` out of `out_of`."""

    cause: BrakeCause
    of: int
    out_of: int


def too_many(policy: Policy, seen: Closes) -> Trip | None:
    """Whether the gate closed more than it may. One author counts once for the share.

    Else the first flood by one account, which is what the gate is there for, would stop it.
    """
    breaker = policy.breaker
    if breaker is None:
        return None
    if seen.closes >= breaker.closes:
        return Trip(cause="closes", of=seen.closes, out_of=breaker.closes)
    everybody = seen.authors + seen.authors_open
    if seen.authors >= breaker.authors and seen.authors > breaker.share * everybody:
        return Trip(cause="share", of=seen.authors, out_of=everybody)
    return None


def too_often_wrong(policy: Policy, overturned: int, acted: int) -> Trip | None:
    """Whether people overturned a rule's acts more often than its limit."""
    limit = policy.overturned
    if limit is None or acted < limit.least or overturned <= limit.share * acted:
        return None
    return Trip(cause="overturned", of=overturned, out_of=acted)


def braked(policy: Policy, brakes: Iterable[Brake]) -> Policy:
    """The policy as far as it may be acted on now: rules that are braked only observe.

    What a maintainer decided (`Rule.word`) goes on: a brake is for what the gate does by itself.
    """
    less = {}
    for brake in brakes:
        names = [brake.rule] if brake.rule else [r.name for r in RULES if r.name not in WORDS]
        for name in names:
            rule = getattr(policy.rules, name, None)
            if rule is not None and rule.mode > Mode.OBSERVE:
                less[name] = rule.model_copy(update={"mode": Mode.OBSERVE})
    if not less:
        return policy
    return policy.model_copy(update={"rules": policy.rules.model_copy(update=less)})


def brake_reason(brake: Brake) -> Sentence:
    """What happened, for maintainers."""
    match brake.cause:
        case "closes":
            return say(
                "The gate closed {of} pull requests within its limit's time; {out_of} is the limit.",
                of=brake.of,
                out_of=brake.out_of,
            )
        case "share":
            return say(
                "The gate closed pull requests of {of} authors out of {out_of} that have any.",
                of=brake.of,
                out_of=brake.out_of,
            )
        case "overturned":
            return say(
                "People overturned {of} of the {out_of} acts of the rule {rule}.",
                of=brake.of,
                out_of=brake.out_of,
                rule=brake.rule or "",
            )
