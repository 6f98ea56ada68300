"""Pull requests by GitHub Apps, which need a policy of their own."""

from pydantic import Field

from app.core.config import AccountId
from app.core.modes import Mode, ModeWord
from app.core.rules.base import Found, Rule, RuleConfig, Seen
from app.core.said import say


class AppsRule(RuleConfig):
    """An App opened it, and the App is not on the list."""

    mode: ModeWord = Field(default=Mode.OFF, description="How far this rule may go.")
    allowed: tuple[AccountId, ...] = Field(
        default=(),
        max_length=500,
        description="Numeric account ids of agent Apps whose pull requests are welcome. Other rules "
        "still apply to them; `exempt.apps` names those to which none does.",
    )


def _find(config: AppsRule, seen: Seen) -> Found | None:
    author = seen.facts.author
    if author is None or not author.is_app or author.id in config.allowed:
        return None
    return Found(
        sentence=say("It was opened by an App that this repository has not allowed."),
        way=say("Whoever started the App can open the pull request from an account of their own."),
    )


RULE = Rule(
    name="apps",
    config=AppsRule,
    about=(
        "Accounts of type App (`…[bot]`) have no permission of their own and answer nobody. Those on "
        "`allowed`, by numeric account id, are welcome. A person who works with an agent and says so "
        "is no App, and this rule never means them."
    ),
    find=_find,
    asks=lambda _: "It is opened by a person, or by an App that the maintainers named.",
)
