"""Intake is paused until a date."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from app.core.config import Message
from app.core.rules.base import AtOnce, Found, Rule, Seen, worded
from app.core.said import say

# Far from the ends of the calendar, where a change of the zone overflows.
_FIRST_YEAR, _LAST_YEAR = 2000, 2999
_LONGEST = timedelta(days=366)


def _moment(value: Any) -> Any:
    """A date is its midnight, a time without a zone is one in UTC; YAML has both as objects."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError("must be a date such as 2026-12-24, or a time") from None
    if isinstance(value, date) and not _FIRST_YEAR <= value.year <= _LAST_YEAR:
        raise ValueError(f"must lie between the years {_FIRST_YEAR} and {_LAST_YEAR}")
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    raise ValueError("must be a date such as 2026-12-24, or a time")


Moment = Annotated[datetime, BeforeValidator(_moment, json_schema_input_type=str)]


class PauseRule(AtOnce):
    """No pull requests are taken in until a date."""

    start: Moment | None = Field(
        default=None, description="Pull requests opened from this date on (00:00 UTC) are meant …"
    )
    until: Moment | None = Field(default=None, description="… until this date (00:00 UTC).")
    message: Message = Field(
        default="", description="Your own words for why, and what to do instead."
    )

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.start is None) != (self.until is None):
            raise ValueError("start and until are only of use together")
        if self.start and self.until and not timedelta() < self.until - self.start <= _LONGEST:
            raise ValueError("until must come after start, by a year at most")
        return self


def _find(config: PauseRule, seen: Seen) -> Found | None:
    start, until = config.start, config.until
    if start is None or until is None or seen.now >= until:
        return None
    if not start <= seen.facts.pull.created_at < until:
        return None
    return Found(
        sentence=say(
            "This repository takes in no pull requests until {date}.",
            date=until.date().isoformat(),
        ),
        way=worded(config.message)
        or say("Nothing is lost: if that is all, it is opened again by itself then."),
        until=until,
    )


RULE = Rule(
    name="pause",
    config=PauseRule,
    about=(
        "Between `start` and `until` pull requests by people outside the team are not taken in: for "
        "a release, for holidays, in a flood. Those that were open before `start` are not meant. What "
        "it closed is opened again by itself at `until`."
    ),
    find=_find,
    asks=lambda c: (
        f"Pull requests are taken in again from {c.until:%Y-%m-%d} on." if c.until else ""
    ),
)
