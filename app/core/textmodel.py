"""How much a pull request's text is like those that agents wrote: a reading that orders, no more.

Two parts are weighed together: word groups with their markup (logistic regression on TF-IDF), and boosted
trees over the text's shape and the most telling of those groups. Nothing is downloaded or executed: the
model is plain JSON.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from heapq import nlargest
from typing import Any, Literal, NamedTuple

from app.core.plain import Plain, plain
from app.core.shape import SHAPE_VERSION, shape
from app.core.trees import Trees

TEXT_FORMAT = 2
# Before the name of a feature that counts a group of words.
GROUP = "words:"
# Below so many characters a description says too little to be read.
LEAST_CHARACTERS = 20
_READ = 6000
_TOKEN = re.compile(r"[^\W_]+(?:['_-][^\W_]+)*|\n+|#{1,6}|\*\*|`+|\[[ x]\]|[^\w\s]")
_EMOJI = re.compile("[\u2190-\u2bff\U0001f000-\U0001faff]")
_LONGEST = 3

Verdict = Literal["agent", "people", "unknown"]


class TextReading(NamedTuple):
    """What a text says. `log_odds` is free of prevalence: 0 says nothing either way.

    `probability` is at the prevalence of the training table. `flagged`: so high that at most one in a
    hundred people's texts was. `reasons`: names of features with the log-odds that they moved.
    """

    log_odds: float
    probability: float
    verdict: Verdict
    flagged: bool
    reasons: tuple[tuple[str, float], ...]


def tokens(text: Plain) -> list[str]:
    """Words and markup in order; emoji left out, numbers alike, line ends kept."""
    found = ["<t>" + word.lower() for word in _TOKEN.findall(text.title)]
    for word in _TOKEN.findall(_EMOJI.sub("", text.body[:_READ])):
        if word[0] == "\n":
            found.append("|" if len(word) == 1 else "||")
        elif word.isdigit():
            found.append("0")
        else:
            found.append(word.lower() if len(word) < 30 else "~")
    found.append("<e>")
    return found


def ngrams(text: Plain) -> Counter[str]:
    """Groups of one to three tokens, counted."""
    words = tokens(text)
    found = Counter(words)
    for size in range(2, _LONGEST + 1):
        found.update(map(" ".join, zip(*(words[i:] for i in range(size)), strict=False)))
    return found


class Stack(NamedTuple):
    """How the two parts are weighed: `short` texts (see `LEAST_CHARACTERS`) have weights of their own."""

    intercept: float
    words: float
    trees: float
    short: float
    words_short: float
    trees_short: float

    def weigh(self, words: float, trees: float, *, short: bool) -> float:
        """Log-odds at the training table's prevalence."""
        if short:
            extra = self.short + self.words_short * words + self.trees_short * trees
        else:
            extra = self.words * words + self.trees * trees
        return self.intercept + extra


class Bands(NamedTuple):
    """Thresholds on the log-odds at the training table's prevalence, from training folds.

    Above `flag`: at most 1 % of people. Above `agent` at most 10 % of people, below `people` at most
    10 % of agents: between them, or where both hold, both answers stay open (conformal at 90 %).
    """

    flag: float
    agent: float
    people: float

    def verdict(self, odds: float) -> Verdict:
        """`unknown` where a set of 90 % coverage holds both answers or neither."""
        is_agent, is_people = odds > self.agent, odds < self.people
        if is_agent == is_people:
            return "unknown"
        return "agent" if is_agent else "people"


class TextModel:
    """The reading of texts, as trained."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """From the artefact's JSON. `ValueError` where it is of another format."""
        if data.get("format") != TEXT_FORMAT or data.get("shape_version") != SHAPE_VERSION:
            raise ValueError("the text model is of another format")
        words = data["words"]
        self._words: dict[str, tuple[float, float]] = {
            group: (idf, weight)
            for group, idf, weight in zip(
                words["groups"], words["idf"], words["weights"], strict=True
            )
        }
        self._intercept = float(words["intercept"])
        self._trees = Trees.from_json(data["trees"])
        names = self._trees.features
        self._groups = [n.removeprefix(GROUP) for n in names if n.startswith(GROUP)]
        self._shapes = names[: len(names) - len(self._groups)]
        if any(n.startswith(GROUP) for n in self._shapes):
            raise ValueError("the trees' word groups do not stand behind the shape")
        self._stack = Stack(**data["stack"])
        self.bands = Bands(**data["bands"])
        self._prior = math.log(data["prevalence"] / (1 - data["prevalence"]))

    def read(self, title: str, body: str, *, explain: bool = True) -> TextReading:
        """One text, cleaned first. Bounded in time and memory whatever its length."""
        text = plain(title, body)
        return self.read_plain(text, shape(text), explain=explain)

    def read_plain(
        self, text: Plain, values: Mapping[str, float], *, explain: bool = True
    ) -> TextReading:
        """The same of a text that is plain already, with its `shape`."""
        counts = ngrams(text)
        words, moved = self._of_words(counts, explain=explain)
        row = [values[name] for name in self._shapes]
        row += [_scaled(counts.get(group, 0)) for group in self._groups]
        trees = self._trees.score(row)
        short = len(text.body) < LEAST_CHARACTERS
        odds = self._stack.weigh(words, trees, short=short)
        verdict = "unknown" if short else self.bands.verdict(odds)
        reasons: tuple[tuple[str, float], ...] = ()
        if explain and not short:
            weighed = {k: self._stack.trees * v for k, v in self._trees.moved(row).items()}
            most = nlargest(6, moved.items(), key=lambda item: (abs(item[1]), item[0]))
            for group in {name for name, _ in most}.union(self._groups):
                if group in moved:
                    name = GROUP + group
                    weighed[name] = weighed.get(name, 0.0) + self._stack.words * moved[group]
            top = nlargest(6, weighed.items(), key=lambda item: (abs(item[1]), item[0]))
            reasons = tuple((name, round(value, 3)) for name, value in top)
        return TextReading(
            log_odds=odds - self._prior,
            probability=sigmoid(odds),
            verdict=verdict,
            flagged=verdict == "agent" and odds > self.bands.flag,
            reasons=reasons,
        )

    def _of_words(self, counts: Counter[str], *, explain: bool) -> tuple[float, dict[str, float]]:
        """TF-IDF with logarithmic counts and unit length, times the weights."""
        square = total = 0.0
        moved: dict[str, float] = {}
        known = self._words
        for group, count in counts.items():
            pair = known.get(group)
            if pair is None:
                continue
            value = (1 + math.log(count)) * pair[0]
            square += value * value
            total += value * pair[1]
            if explain:
                moved[group] = value * pair[1]
        norm = math.sqrt(square) or 1.0
        return total / norm + self._intercept, {k: v / norm for k, v in moved.items()}


def _scaled(count: int) -> float:
    return 1 + math.log(count) if count else 0.0


def sigmoid(odds: float) -> float:
    """Probability of log-odds, without overflow."""
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, odds))))
