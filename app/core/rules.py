"""The rules: each reads the facts and says whether it applies, why, and how far it would go."""

from app.core.facts import Fact, Facts
from app.core.policy import Mode, Policy
from app.core.scoring import Score


class Finding(Fact):
    """A rule applies.

    `rung` is how far the rule would go by itself, `in_force` how far it may go here and now.
    `sentence` is for the author and for maintainers alike.
    """

    rule: str
    sentence: str
    rung: Mode
    in_force: Mode


def find(facts: Facts, score: Score, policy: Policy) -> tuple[Finding, ...]:
    """All rules that apply, the furthest-going first."""
    found = [*_burst(facts, policy), *_unattended(score, policy)]
    return tuple(sorted(found, key=lambda f: -f.rung))


def _burst(facts: Facts, policy: Policy) -> list[Finding]:
    rule = policy.rules.burst
    burst = facts.burst(rule.prs, rule.minutes)
    if rule.mode is Mode.OFF or not burst:
        return []
    return [
        Finding(
            rule="burst",
            sentence=(
                f"One account opened {len(burst)} pull requests here in quick succession; "
                f"{rule.prs} or more within {rule.minutes} minutes are a burst."
            ),
            rung=_rung(rule.mode, Mode.CLOSE),
            in_force=policy.in_force(rule.mode),
        )
    ]


def _unattended(score: Score, policy: Policy) -> list[Finding]:
    rule = policy.rules.unattended
    if rule.mode is Mode.OFF or score.unknown or score.low < rule.threshold:
        return []
    # The score never closes a pull request alone, whatever the configuration says.
    most = min(rule.mode, Mode.ASK)
    return [
        Finding(
            rule="unattended",
            sentence=(
                f"It is likely that nobody will answer for it "
                f"({score.probability:.0%}, between {score.low:.0%} and {score.high:.0%})."
            ),
            rung=_rung(most, Mode.ASK),
            in_force=policy.in_force(most),
        )
    ]


def _rung(mode: Mode, natural: Mode) -> Mode:
    """A rule that only observes records what it would do by its nature."""
    return mode if mode > Mode.OBSERVE else natural
