"""What a repository asks the gate to do: `.github/pulsegate.yml` as types.

Unknown keys are refused, since a misspelt key that is silently ignored is a rule that silently
does not run.
"""

from enum import IntEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from app.core.text import one_line

PATH = ".github/pulsegate.yml"
LIMIT = 100_000  # bytes, and so characters; a long configuration has a hundred lines
# Accounts of GitHub Apps that only ever do what a maintainer installed them for, by numeric id.
DEPENDENCY_APPS = (
    49699333,  # dependabot[bot]
    29139614,  # renovate[bot]
    66853113,  # pre-commit-ci[bot]
    41898282,  # github-actions[bot]
)


class Mode(IntEnum):
    """How far the gate may go; each mode includes the ones before it."""

    OFF = 0
    OBSERVE = 1
    LABEL = 2
    ASK = 3
    CLOSE = 4

    @property
    def word(self) -> str:
        """As it is written in the configuration."""
        return self.name.lower()


def _mode(value: Any) -> Any:
    # YAML 1.1 reads a bare `off` as the boolean false.
    if value is False:
        return Mode.OFF
    if isinstance(value, str) and value.upper() in Mode.__members__:
        return Mode[value.upper()]
    if isinstance(value, Mode):
        return value
    raise ValueError("must be one of off, observe, label, ask, close")


ModeWord = Annotated[
    Mode,
    BeforeValidator(
        _mode, json_schema_input_type=Literal["off", "observe", "label", "ask", "close"]
    ),
    PlainSerializer(lambda m: m.word, return_type=str),
]


# Strict, since YAML's `yes` would otherwise count as 1, and 1 is somebody's account.
AccountId = Annotated[int, Field(strict=True, ge=1, lt=2**63)]


def _label(value: str) -> str:
    if value != one_line(value):
        raise ValueError("must be one line without invisible characters or spaces around it")
    return value


LabelName = Annotated[str, AfterValidator(_label)]


def _integer(value: Any) -> Any:
    # `true` and `1.0` equal 1.
    if type(value) is not int:
        raise ValueError("must be the number 1")
    return value


Version = Annotated[Literal[1], BeforeValidator(_integer)]


class Strict(BaseModel):
    """Base of all configuration: unknown keys are errors, values are immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class BurstRule(Strict):
    """Many pull requests by one account within minutes."""

    mode: ModeWord = Field(default=Mode.CLOSE, description="How far this rule may go.")
    prs: int = Field(default=5, strict=True, ge=2, le=1000, description="This many pull requests …")
    minutes: int = Field(
        default=10, strict=True, ge=1, le=1440, description="… opened within so many minutes."
    )


class UnattendedRule(Strict):
    """A high score: it is likely that nobody will answer. Never closes by itself."""

    mode: ModeWord = Field(default=Mode.ASK, description="How far this rule may go.")
    threshold: float = Field(
        default=0.8,
        strict=True,
        ge=0.5,
        le=1.0,
        description="The lower bound of the score's band at which the rule applies.",
    )


class Rules(Strict):
    """Each rule has its own mode; in force is the smaller of it and the repository's."""

    burst: BurstRule = BurstRule()
    unattended: UnattendedRule = UnattendedRule()


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
    rules: Rules = Rules()
    exempt: Exempt = Exempt()

    def in_force(self, rule: Mode) -> Mode:
        """The mode that a rule acts in: the smaller of its own and the repository's."""
        return min(self.mode, rule)
