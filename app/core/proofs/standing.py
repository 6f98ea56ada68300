"""Whether the proofs of an account are enough, and what a repository can be told about them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated

from pydantic import Field

from app.core.config import LabelName, Strict
from app.core.fact import Fact
from app.core.proofs.addresses import Tier

Weight = float
Domain = Annotated[str, Field(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$", max_length=253)]


class Weights(Strict):
    """What an address of each kind is worth, from 0 to 1."""

    academic: Weight = Field(default=1, strict=True, ge=0, le=1, description="School, university.")
    company: Weight = Field(
        default=1, strict=True, ge=0, le=1, description="A domain of `proofs.companies`."
    )
    own: Weight = Field(
        default=0.5,
        strict=True,
        ge=0,
        le=1,
        description="Any other domain. Anybody can buy one, so that it counts no more than free mail.",
    )
    free: Weight = Field(default=0.5, strict=True, ge=0, le=1, description="A free mail provider.")
    relay: Weight = Field(
        default=0.25, strict=True, ge=0, le=1, description="An alias that forwards mail."
    )


class Proofs(Strict):
    """Proof of life by mail."""

    enough: float = Field(
        default=0.5,
        strict=True,
        gt=0,
        le=5,
        description="So much do an account's proofs have to be worth together.",
    )
    weights: Weights = Weights()
    companies: tuple[Domain, ...] = Field(
        default=(),
        max_length=500,
        description="Registrable domains of companies, such as `amd.com`, in lower case.",
    )
    days: int = Field(
        default=180, strict=True, ge=1, le=3650, description="So long a proof is valid."
    )
    per_address: int = Field(
        default=1,
        strict=True,
        ge=1,
        le=100,
        description="So many accounts does one address prove …",
    )
    per_domain: int = Field(
        default=3, strict=True, ge=1, le=10_000, description="… and one small domain."
    )
    domain_days: int = Field(
        default=0,
        strict=True,
        ge=0,
        le=90,
        description="So many days maintainers see the domain of a proven address (never the address) "
        "on its owner's pull requests; it goes earlier once none of them is undecided. 0: no domain "
        "is kept.",
    )
    label: LabelName = Field(
        default="verified",
        description="The label of pull requests whose author is proven.",
    )


class Proven(Fact):
    """One proof of an account: what kind of address, since and until when."""

    tier: Tier
    at: datetime
    until: datetime


class Proof(Fact):
    """An account's proofs are enough, since `at` and until the first of them ends."""

    at: datetime
    until: datetime


def enough(config: Proofs, proofs: Iterable[Proven], now: datetime) -> Proof | None:
    """Whether they are worth enough together; the fewest that are, the heaviest first."""
    valid = [p for p in proofs if p.at <= now < p.until]
    total, counted = 0.0, []
    for one in sorted(valid, key=lambda p: (-getattr(config.weights, p.tier), p.at)):
        total += getattr(config.weights, one.tier)
        counted.append(one)
        if total >= config.enough:
            return Proof(at=max(p.at for p in counted), until=min(p.until for p in counted))
    return None
