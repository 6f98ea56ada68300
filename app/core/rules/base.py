"""What a rule is: its name, its configuration, its documentation, and when it applies."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Literal, TypeVar

from pydantic import Field

from app.core.config import Patterns, Strict
from app.core.fact import Fact
from app.core.facts import Facts
from app.core.modes import Mode, ModeWord
from app.core.said import Said, Sentence
from app.core.scoring import Score

MOST_GRACE_HOURS = 30 * 24


class RuleConfig(Strict):
    """What every rule can be told."""

    mode: ModeWord = Field(default=Mode.OBSERVE, description="How far this rule may go.")
    grace_hours: int | None = Field(
        default=None,
        strict=True,
        ge=0,
        le=MOST_GRACE_HOURS,
        description="Hours between the question and the close, during which any activity of the "
        "author cancels the close; 0 closes without a question. By default `ladder.grace_hours`.",
    )


class AtOnce(RuleConfig):
    """What rules can be told that by default close without a question."""

    mode: ModeWord = Field(default=Mode.CLOSE, description="How far this rule may go.")
    grace_hours: int | None = Field(
        default=0,
        strict=True,
        ge=0,
        le=MOST_GRACE_HOURS,
        description="Hours between the question and the close; by default closed at once.",
    )


C = TypeVar("C", bound=RuleConfig)

Life = Literal["never", "before", "always"]
Need = Literal["change"]
"""A part of the facts that costs a request and may be missing (`Facts.change` is None then)."""


@dataclass(frozen=True)
class Seen:
    """What a rule may look at. `now` is in UTC."""

    facts: Facts
    score: Score
    patterns: Patterns
    now: datetime


class Found(Fact):
    """A rule applies: the reason, for the author and maintainers alike, and the way out.

    `way` says what the author can do about it. `until` is when the rule ends by itself, if ever.
    `most`: so far and no further, however far the rule may go. `ordered`: a maintainer decided it
    for these very pull requests, so that it is done in every mode.
    """

    sentence: Said
    way: Said | None = None
    until: datetime | None = None
    most: Mode = Mode.CLOSE
    ordered: bool = False


def worded(message: str) -> Sentence | None:
    """The maintainers' own words, which no catalogue has and nothing is put into; None without."""
    return Sentence(id=message) if message else None


@dataclass(frozen=True)
class Rule(Generic[C]):
    """One rule. `find` is pure and answers None where the rule does not apply.

    - `about`: its documentation, in Markdown, for the reference.
    - `needs`: without these facts it says nothing either way.
    - `natural`: how far it goes by its nature, which is what a rule that only observes records.
    - `most`: how far it may ever go.
    - `asks`: what it asks of whoever opens a pull request, as a sentence for the project's texts;
      "" where it was told nothing to ask for.
    - `life`: it asks whether somebody is there, so that a proof of life ends it: `always`, or for
      what was opened `before` the proof, where being somebody is no licence for more.
    - `word`: it is a maintainer's word, which its author does not undo but may appeal against.
    - `cured`: a pull request that it closed is opened again by itself once it no longer applies.
    """

    name: str
    config: type[C]
    about: str
    find: Callable[[C, Seen], Found | None]
    natural: Mode = Mode.CLOSE
    most: Mode = Mode.CLOSE
    needs: tuple[Need, ...] = ()
    cured: bool = True
    word: bool = False
    life: Life = "never"
    asks: Callable[[C], str] = lambda _: ""

    def is_proven(self, facts: Facts) -> bool:
        """Whether a proof of life ends it for this pull request."""
        proof = facts.proof
        if proof is None or self.life == "never":
            return False
        return self.life == "always" or facts.pull.created_at <= proof.at

    def can_say(self, facts: Facts) -> bool:
        """Whether the facts hold what it reads."""
        return all(getattr(facts, need) is not None for need in self.needs)


class Finding(Fact):
    """A rule applies.

    `goal` is how far the rule would go in the end, `rung` how far now: a close waits for the end
    of the grace window. `in_force` is how far it may go here. `due_at` is when to look again:
    the window ends, or the rule does.
    """

    rule: str
    sentence: Said
    way: Said | None = None
    rung: Mode
    in_force: Mode
    goal: Mode = Mode.OFF
    grace_hours: int = 0
    answered: bool = False
    due_at: datetime | None = None
