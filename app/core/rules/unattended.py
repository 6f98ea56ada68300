"""A high score: it is likely that nobody will answer."""

from typing import Self

from pydantic import Field, model_validator

from app.core.modes import Mode, ModeWord
from app.core.rules.base import Found, Rule, RuleConfig, Seen
from app.core.said import say

# The score never closes a pull request alone: only a question that nobody answered for a day does.
LEAST_GRACE_HOURS = 24


class UnattendedRule(RuleConfig):
    """A high score: it is likely that nobody will answer. It closes only what stays unanswered."""

    mode: ModeWord = Field(default=Mode.ASK, description="How far this rule may go.")
    threshold: float = Field(
        default=0.8,
        strict=True,
        ge=0.5,
        le=1.0,
        description="The lower bound of the score's band at which the rule applies.",
    )

    @model_validator(mode="after")
    def _never_at_once(self) -> Self:
        if self.grace_hours is not None and self.grace_hours < LEAST_GRACE_HOURS:
            raise ValueError(
                f"grace_hours must be {LEAST_GRACE_HOURS} or more here: the score closes nothing "
                "by itself"
            )
        return self


def _find(config: UnattendedRule, seen: Seen) -> Found | None:
    score = seen.score
    if score.unknown or score.low < config.threshold:
        return None
    return Found(
        sentence=say(
            "It is likely that nobody will answer for it ({middle} %, between {low} % and "
            "{high} %).",
            middle=round(score.probability * 100),
            low=round(score.low * 100),
            high=round(score.high * 100),
        ),
        way=say("Say in a few words of your own what this change is for and how you tried it out."),
    )


RULE = Rule(
    name="unattended",
    config=UnattendedRule,
    about=(
        "The score says that it is likely that nobody will answer for the pull request. The score "
        "alone closes nothing: in mode `close` the rule asks, waits for the grace window "
        f"({LEAST_GRACE_HOURS} hours or more), and closes only where the author did nothing in it."
    ),
    find=_find,
    life="always",
    asks=lambda _: "You answer when somebody asks you about it.",
    natural=Mode.ASK,
    cured=False,
)
