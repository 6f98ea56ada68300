"""Several pull requests for one issue: the first good one is kept, the others are asked."""

from pydantic import Field

from app.core.modes import Mode, ModeWord
from app.core.rules.base import Found, Rule, RuleConfig, Seen
from app.core.said import say


class SameIssueRule(RuleConfig):
    """An earlier pull request is for the same issue. It asks at most."""

    mode: ModeWord = Field(default=Mode.OFF, description="How far this rule may go.")


def _find(_config: SameIssueRule, seen: Seen) -> Found | None:
    mine = (seen.facts.pull.created_at, seen.facts.pull.number)
    earlier = [r for r in seen.facts.rivals if r.good and (r.at, r.number) < mine]
    if not earlier:
        return None
    first = min(earlier, key=lambda r: (r.at, r.number))
    return Found(
        sentence=say(
            "The pull request #{number} came first and is for the same issue, #{issue}.",
            number=first.number,
            issue=first.issue,
        ),
        way=say("Look at that one, and say here what yours does better, or close yours."),
    )


RULE = Rule(
    name="same_issue",
    config=SameIssueRule,
    about=(
        "Several open pull requests are for the same issue. The first one to which no rule applies "
        "is kept; the authors of the later ones are asked how theirs differ. It never closes."
    ),
    find=_find,
    asks=lambda _: "No other pull request is open for the same issue.",
    natural=Mode.ASK,
    most=Mode.ASK,
)
