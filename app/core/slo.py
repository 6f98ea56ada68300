"""Service-level objectives: how soon pull requests are decided on and looked at.

The burn rate is the share that was late over the share that may be: 1 uses the allowance up just at
the end of the window, 14.4 uses two days' worth of a month in an hour (Google's SRE Workbook, chapter
5, "Alerting on SLOs", whose windows of an hour, six hours and three days these are).
"""

from datetime import timedelta
from typing import Literal

from pydantic import Field

from app.core.config import Strict
from app.core.fact import Fact

Goal = Literal["first_decision", "first_look"]
WINDOWS = {"1h": timedelta(hours=1), "6h": timedelta(hours=6), "3d": timedelta(days=3)}


class Slo(Strict):
    """The goals, and the share of pull requests that has to meet them."""

    first_decision_minutes: int = Field(
        default=5, strict=True, ge=1, le=10_080, description="From opened to the first decision."
    )
    first_look_hours: int = Field(
        default=48,
        strict=True,
        ge=1,
        le=8_760,
        description="From opened to the first look by a person of the team, for pull requests that "
        "no rule holds up.",
    )
    target: float = Field(
        default=0.95,
        strict=True,
        ge=0.5,
        le=0.999,
        description="The share that has to meet each goal.",
    )
    window_days: int = Field(default=28, strict=True, ge=7, le=90, description="Over so many days.")

    def limit(self, goal: Goal) -> timedelta:
        """How long a goal gives."""
        if goal == "first_decision":
            return timedelta(minutes=self.first_decision_minutes)
        return timedelta(hours=self.first_look_hours)


class Share(Fact):
    """Of pull requests whose time was over within a window: how many, and how many were late."""

    total: int
    late: int

    def met(self) -> float:
        """The share in time, 0..1; 1 where there is nothing to count."""
        return 1.0 if not self.total else 1 - self.late / self.total

    def burn(self, target: float) -> float:
        """How fast the allowance is used up; see the module's words. 0 without anything to count."""
        return 0.0 if not self.total else (self.late / self.total) / (1 - target)
