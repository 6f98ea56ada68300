"""What a repository asks the gate to do: `.github/pulsegate.yml` as types.

Unknown keys are refused, since a misspelt key that is silently ignored is a rule that silently
does not run.
"""

from typing import TYPE_CHECKING, TypeVar, cast

from pydantic import Field, create_model, model_validator

from app.core.budget import Budgets
from app.core.config import AccountId, LabelName, Language, Strict, Version
from app.core.due_process import (
    Appeals,
    Breaker,
    Campaigns,
    Overturned,
    ReportTo,
    TrustSettings,
)
from app.core.effects import LimitExpiry, LimitGroup
from app.core.modes import Mode, ModeWord
from app.core.proofs.standing import Proofs
from app.core.rules import RULES
from app.core.rules.base import MOST_GRACE_HOURS, Rule, RuleConfig
from app.core.rules.unattended import LEAST_GRACE_HOURS
from app.core.slo import Slo

C = TypeVar("C", bound=RuleConfig)

PATH = ".github/pulsegate.yml"
LIMIT = 100_000  # bytes, and so characters; a long configuration has a hundred lines
# Accounts of GitHub Apps that only ever do what a maintainer installed them for, by numeric id.
DEPENDENCY_APPS = (
    49699333,  # dependabot[bot]
    29139614,  # renovate[bot]
    66853113,  # pre-commit-ci[bot]
    41898282,  # github-actions[bot]
)


class Limit(Strict):
    """After so many closes in so many minutes, GitHub's own limit on the whole repository."""

    closes: int = Field(
        default=20, strict=True, ge=3, le=1000, description="So many closes by the gate …"
    )
    minutes: int = Field(
        default=60, strict=True, ge=1, le=1440, description="… within so many minutes."
    )
    group: LimitGroup = Field(
        default="existing_users",
        description="Who may still open pull requests and issues and comment: accounts older than a "
        "day or so (`existing_users`), who committed before, or collaborators.",
    )
    expiry: LimitExpiry = Field(default="one_day", description="When GitHub takes it off again.")


class Ladder(Strict):
    """The rungs between the first label and the close."""

    label: bool = Field(
        default=True, strict=True, description="Whether the label is put on (its name: `label`)."
    )
    grace_hours: int = Field(
        default=72,
        strict=True,
        ge=LEAST_GRACE_HOURS,
        le=MOST_GRACE_HOURS,
        description="Hours between the question and the close. Any activity of the author, and "
        "nobody else's, cancels the close.",
    )
    probe: bool = Field(
        default=True,
        strict=True,
        description="Whether the first question also asks something about the very change, where "
        "something fits. It costs one more read of GitHub.",
    )
    limit: Limit | None = Field(
        default=None,
        description="The last rung, in mode `close` only. It meets everybody, so that it is off "
        "unless it is written here. Needs the App's optional grant *administration: write*.",
    )


if TYPE_CHECKING:

    class Rules(Strict):
        """See below: made from the list of rules."""

        def __init__(self, **rules: RuleConfig) -> None: ...

else:
    Rules = create_model(
        "Rules",
        __base__=Strict,
        __doc__="Each rule has its own mode; in force is the smaller of it and the repository's.",
        **{rule.name: (rule.config, rule.config()) for rule in RULES},
    )


class Exempt(Strict):
    """Accounts that no rule applies to, by numeric account id."""

    accounts: tuple[AccountId, ...] = Field(default=(), description="Accounts of people.")
    apps: tuple[AccountId, ...] = Field(
        default=DEPENDENCY_APPS,
        description="Accounts of Apps; by default Dependabot, Renovate, pre-commit.ci and Actions.",
    )


class Policy(Strict):
    """The whole configuration of one repository."""

    version: Version = Field(default=1, description="Of this file's format.")
    mode: ModeWord = Field(default=Mode.OBSERVE, description="How far the gate may go here.")
    label: LabelName = Field(
        default="needs-verification",
        min_length=1,
        max_length=50,
        description="The label that a pull request gets while a rule applies.",
    )
    adopt_label: LabelName = Field(
        default="adopted",
        description="The label of a pull request that a maintainer took over with `/pulse adopt`.",
    )
    language: Language = Field(
        default="en",
        description="What comments and mails are written in: `en`, `zh-CN`, or another that has a "
        "catalogue in `app/locale/`.",
    )
    ladder: Ladder = Ladder()
    rules: Rules = Rules()
    slo: Slo = Slo()
    budgets: Budgets = Budgets()
    exempt: Exempt = Exempt()
    trust: TrustSettings = TrustSettings()
    appeals: Appeals = Appeals()
    campaigns: Campaigns = Campaigns()
    breaker: Breaker | None = Field(
        default=Breaker(), description="`null` lets the gate close without such a limit."
    )
    overturned: Overturned | None = Field(
        default=Overturned(), description="`null` lets every rule act however often it is wrong."
    )
    report: ReportTo = ReportTo()
    proofs: Proofs = Proofs()

    @model_validator(mode="after")
    def _labels_differ(self) -> "Policy":
        labels = [self.label, self.adopt_label, self.proofs.label]
        if len({name.casefold() for name in labels}) < len(labels):
            raise ValueError("label, adopt_label and proofs.label must be three different labels")
        return self

    def of(self, rule: Rule[C]) -> C:
        """The configuration of one rule."""
        return cast("C", getattr(self.rules, rule.name))

    def grace(self, rule: Rule[C]) -> int:
        """Hours between a rule's question and its close; 0 closes without a question."""
        own = self.of(rule).grace_hours
        return self.ladder.grace_hours if own is None else own

    def in_force(self, rule: Mode) -> Mode:
        """The mode that a rule acts in: the smaller of its own and the repository's."""
        return min(self.mode, rule)
