"""What a repository can be told about fairness: appeals, brakes, trust, campaigns, reports."""

from typing import Annotated, Literal

from pydantic import Field

from app.core.config import Strict

# GitHub's own rule for logins; Apps answer no appeal.
Login = Annotated[str, Field(pattern=r"^[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}$")]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
WEEKDAYS: tuple[Weekday, ...] = (
    *("monday", "tuesday", "wednesday", "thursday"),
    *("friday", "saturday", "sunday"),
)


class Appeals(Strict):
    """What follows from `/pulse appeal`, which every author may write once for each close."""

    hours: int = Field(
        default=120,
        strict=True,
        ge=1,
        le=30 * 24,
        description="After so many hours without an answer by a maintainer, what a rule closed is "
        "opened again. What a maintainer had closed stays closed.",
    )
    maintainers: tuple[Login, ...] = Field(
        default=(),
        max_length=50,
        description="Logins of those who are asked to answer, one for each appeal, in turn. "
        "Nobody is named where there are none.",
    )


class Breaker(Strict):
    """When the gate stops acting by itself, in this repository, until a person lets it go on."""

    closes: int = Field(
        default=100, strict=True, ge=3, le=100_000, description="So many closes by the gate …"
    )
    minutes: int = Field(
        default=60, strict=True, ge=1, le=1440, description="… within so many minutes."
    )
    share: float = Field(
        default=0.5,
        strict=True,
        gt=0,
        le=1,
        description="Or: the pull requests closed in these minutes are by more than this share of "
        "all authors that have one open or just closed. An author counts once, however many "
        "pull requests a flood of theirs has …",
    )
    authors: int = Field(
        default=10, strict=True, ge=2, le=1000, description="… and by so many authors at least."
    )


class Overturned(Strict):
    """When a rule goes back to observing by itself, until a person lets it act again."""

    share: float = Field(
        default=0.2,
        strict=True,
        gt=0,
        le=1,
        description="More than this share of what the rule did was taken back by people …",
    )
    least: int = Field(
        default=10, strict=True, ge=2, le=1000, description="… out of so many at least …"
    )
    days: int = Field(
        default=30, strict=True, ge=1, le=365, description="… in so many days up to now."
    )


class Earned(Strict):
    """Trust that authors earn by what was merged."""

    merged: int = Field(
        default=3, strict=True, ge=1, le=1000, description="So many of theirs were merged here …"
    )
    days: int = Field(
        default=365,
        strict=True,
        ge=1,
        le=3650,
        description="… in so many days up to now; what is older counts no more.",
    )


class TrustSettings(Strict):
    """Whose word counts, and what is earned."""

    shared: bool = Field(
        default=False,
        strict=True,
        description="Whether words on accounts count here that were given in other repositories of "
        "the same installation which share theirs as well. The repository's own come first.",
    )
    earned: Earned | None = Field(
        default=None,
        description="No rule applies to authors with so many merged pull requests. Off unless it "
        "is written here.",
    )


class Campaigns(Strict):
    """When pull requests by different accounts count as one flood."""

    similar: int = Field(
        default=3,
        strict=True,
        ge=2,
        le=1000,
        description="So many that are nearly the same …",
    )
    days: int = Field(
        default=14, strict=True, ge=1, le=90, description="… opened within so many days."
    )
    likeness: float = Field(
        default=0.7,
        strict=True,
        ge=0.5,
        le=1,
        description="How much two of them share in words or in what they change, to count as "
        "nearly the same (an estimate of the Jaccard index).",
    )


class ReportTo(Strict):
    """The weekly report on what the gate did or would have done."""

    issue: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=2**31,
        description="The number of an issue that gets the report as a comment, and a word when the "
        "gate stops by itself. Without one there is no weekly report, and for that word a new "
        "issue is opened.",
    )
    weekday: Weekday = Field(default="monday", description="The day on which it comes (UTC).")
