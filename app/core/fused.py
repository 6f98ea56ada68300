"""The trained score: what was seen, weighted by what was learnt, each part a sentence.

What acts is behaviour here and, beside it, the account's public activity. What a text is like orders
the queue and nothing more, and not even that where the use of an agent is disclosed. A high score needs
two parts that do not follow from each other.
"""

from datetime import timedelta

from app.core.accountmodel import UNKNOWN, AccountModel, AccountReading
from app.core.activity import Activity
from app.core.facts import Facts
from app.core.features import RATE_MINUTES, Signal, disclosure_signal
from app.core.local import Local
from app.core.plain import plain
from app.core.said import say
from app.core.scoring import Score, add_up
from app.core.shape import shape
from app.core.textmodel import TextModel, TextReading
from app.core.unattended import Behaviour, UnattendedModel

# Log-odds of an account that is read as an automation's, and as a person's. Set by hand, since no table
# joins accounts to pull requests: half of what silence to three reviewers weighs.
AUTOMATION = 1.0
PERSON = -0.5
# From so much on, in log-odds, a part speaks for *unattended*.
SPEAKS = 0.25
# Below every threshold that a rule may have.
ALONE = 0.49
# Which signals rest on the same thing.
PARTS = {
    "rate": "volume",
    "same_day": "volume",
    "outcomes": "outcome",
    "answers": "silence",
    "account": "account",
}


class FusedScorer:
    """The score of the trained models. Pure; a pull request takes a few milliseconds."""

    def __init__(
        self, text: TextModel, account: AccountModel, unattended: UnattendedModel, version: str
    ) -> None:
        self._text, self._account, self._unattended = text, account, unattended
        self.model = version

    def of(self, facts: Facts) -> Score:
        """See `Scorer`."""
        seen = behaviour(facts)
        told = disclosure_signal(facts)
        parts = [
            *self._of_behaviour(facts, seen),
            *self._of_account(facts),
            *_of_here(facts.local),
        ]
        text: list[Signal] = []
        moved = 0.0
        if told is None:
            read = plain(facts.pull.title, facts.pull.body)
            values = shape(read)
            moved = self._unattended.queue(seen, values) - self._unattended.score(seen)
            text = _of_text(self._text.read_plain(read, values), moved)
        signals = [*sorted(parts, key=lambda s: -abs(s.weight)), *text, *([told] if told else [])]
        score = add_up(self._unattended.base, tuple(signals), self.model)
        drifted = facts.local is not None and facts.local.drifted
        return score.model_copy(
            update={
                "low": score.low if two_parts(parts) else min(score.low, ALONE),
                "unknown": score.unknown or drifted,
                "order": round(score.order + moved, 4),
            }
        )

    def _of_behaviour(self, facts: Facts, seen: Behaviour) -> list[Signal]:
        weights = self._unattended.contributions(seen)
        found = []
        if seen.together:
            found.append(
                Signal(
                    name="rate",
                    value=str(seen.together + 1),
                    sentence=say(
                        "{count} pull requests by this account within {minutes} minutes of each "
                        "other.",
                        count=seen.together + 1,
                        minutes=RATE_MINUTES,
                    ),
                    weight=weights["together"],
                    evidence=seen.together,
                )
            )
        if seen.same_day:
            found.append(
                Signal(
                    name="same_day",
                    value=str(seen.same_day),
                    sentence=say(
                        "Other pull requests by this account in the 24 hours before it: {count}.",
                        count=seen.same_day,
                    ),
                    weight=weights["same_day"],
                    evidence=1,
                )
            )
        return [*found, *_of_history(facts, weights)]

    def _of_account(self, facts: Facts) -> list[Signal]:
        reading = self.account(facts)
        if reading.verdict == "unknown" or reading.tempo is None:
            return []
        if reading.verdict == "people":
            sentence = say(
                "Of {count} public activities of this account, their rhythm is a person's.",
                count=reading.seen,
            )
        elif reading.by_tempo:
            sentence = say(
                "This account opened {count} pull requests in {repositories} repositories of others "
                "within a day. Fewer at a time would change this.",
                count=reading.tempo.pulls_a_day,
                repositories=reading.tempo.repositories_a_day,
            )
        else:
            sentence = say(
                "Of {count} public activities of this account, their rhythm repeats itself as an "
                "automation's does. Other activities would change this.",
                count=reading.seen,
            )
        return [
            Signal(
                name="account",
                value=reading.verdict,
                sentence=sentence,
                weight=AUTOMATION if reading.verdict == "automation" else PERSON,
                evidence=1,
            )
        ]

    def account(self, facts: Facts) -> AccountReading:
        """What the account's public activity is read as; unknown where it was not asked for."""
        if facts.activity is None:
            return UNKNOWN
        owner = facts.author.login.lower() if facts.author else ""
        events = [
            Activity(e.kind, e.repository, e.repository.partition("/")[0], e.at)
            for e in facts.activity
        ]
        own = {e.repository for e in events if e.owner.lower() == owner}
        return self._account.read(events, own)

    def text(self, facts: Facts) -> TextReading:
        """What the text is like; for maintainers, and for nothing that acts."""
        return self._text.read(facts.pull.title, facts.pull.body)


def _of_text(reading: TextReading, moved: float) -> list[Signal]:
    if not reading.reasons:
        return []
    reasons = "; ".join(f"{named(name)} ({value:+.1f})" for name, value in reading.reasons[:3])
    return [
        Signal(
            name="text",
            value=reading.verdict,
            sentence=say(
                "The form of the text moves it in the queue by {moved} and counts for nothing "
                "else. Seen most: {reasons}. Another text would change this.",
                moved=f"{moved:+.1f}",
                reasons=reasons,
            ),
            weight=0.0,
        )
    ]


def behaviour(facts: Facts) -> Behaviour:
    """What the author did here before, as the model counts it."""
    history, pull = facts.history, facts.pull
    day = [
        o
        for o in facts.opened
        if o.number != pull.number and timedelta(0) <= pull.created_at - o.at <= timedelta(hours=24)
    ]
    return Behaviour(
        answered=history.answered,
        unanswered=history.unanswered,
        merged=history.merged,
        closed_unmerged=history.closed_unmerged,
        open=history.open,
        together=max(0, len(facts.burst(2, RATE_MINUTES)) - 1),
        same_day=len(day),
    )


def _of_history(facts: Facts, weights: dict[str, float]) -> list[Signal]:
    history, found = facts.history, []
    if history.merged:
        found.append(
            Signal(
                name="merged_before",
                value=str(history.merged),
                sentence=say(
                    "Earlier pull requests of this account that were merged here: {count}.",
                    count=history.merged,
                ),
                weight=weights["merged"],
                evidence=history.merged,
            )
        )
    if history.open + history.closed_unmerged:
        found.append(
            Signal(
                name="outcomes",
                value=f"{history.closed_unmerged}/{history.open}",
                sentence=say(
                    "This account's other pull requests here: closed unmerged {closed}, open {open}.",
                    closed=history.closed_unmerged,
                    open=history.open,
                ),
                weight=weights["open"] + weights["closed_unmerged"],
                evidence=history.closed_unmerged,
            )
        )
    if history.answered + history.unanswered:
        found.append(
            Signal(
                name="answers",
                value=f"{history.answered}/{history.answered + history.unanswered}",
                sentence=say(
                    "Earlier pull requests that others wrote on: {count}. The author answered on "
                    "{answered} of them.",
                    count=history.answered + history.unanswered,
                    answered=history.answered,
                ),
                weight=weights["silence"],
                evidence=history.answered + history.unanswered,
            )
        )
    return found


def _of_here(local: Local | None) -> list[Signal]:
    if local is None or not local.outcomes:
        return []
    if local.drifted:
        sentence = say(
            "What was said here lately did not come true, so that nothing is said for now "
            "({count} outcomes, {unattended} without an answer).",
            count=local.outcomes,
            unattended=local.unattended,
        )
    else:
        sentence = say(
            "Of the pull requests here whose end is known ({count}), nobody answered on {unattended}: the "
            "score is moved towards that.",
            count=local.outcomes,
            unattended=local.unattended,
        )
    return [Signal(name="here", value=str(local.outcomes), sentence=sentence, weight=local.offset)]


def two_parts(signals: list[Signal]) -> bool:
    """Whether two independent parts speak for it: one alone flags nobody."""
    speaking = {PARTS.get(s.name) for s in signals if s.weight >= SPEAKS} - {None}
    return len(speaking) >= 2


_WORDS = {
    "line": "lines", "bullet": "list items", "box": "check boxes", "head": "headings",
    "body": "length", "mark": "marks", "section": "sections", "opens": "its first words",
    "words": "words", "stem": "words", "title": "the title",
}  # fmt: skip


def named(feature: str) -> str:
    """A feature in words: a group of words as it stands, a number by what it counts."""
    kind, _, rest = feature.partition(":")
    if kind == "words":
        return "the words " + rest.replace("<t>", "").replace("<e>", "(end)").replace("|", "/")
    kind, _, rest = feature.partition("_")
    return f"{_WORDS.get(kind, kind)}: {rest.replace('_', ' ')}"
