"""The report of what each rule did or would have done, and what became of those pull requests.

One type for three uses: the weekly shadow report, the report on demand, and the backtest.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from app.core.fact import Fact
from app.core.modes import Mode
from app.core.text import markdown, one_line

# What a maintainer spends on a pull request that comes to nothing. An assumption, not a measurement.
MINUTES_EACH = 5
MOST_LISTED = 50

Fate = Literal["merged", "closed", "closed_by_gate", "open"]


class Outcome(Fact):
    """One rule on one pull request: how far it went (`done`) or would have gone (`rung`).

    `fate` is what became of it: `closed` by somebody else than the gate. `overturned_by`: who took
    back what the rule did.
    """

    number: int
    title: str
    author: str | None
    rule: str
    rung: Mode
    done: Mode
    fate: Fate
    overturned_by: str | None = None


class RuleReport(Fact):
    """One rule. `would` and `did` count pull requests by the furthest rung.

    `closed_unmerged`: numbers of those that it closed or would have closed, and nobody merged.
    """

    rule: str
    would: dict[str, int]
    did: dict[str, int]
    fates: dict[Fate, int]
    overturned: int
    false_alarms: tuple[Outcome, ...]
    closed_unmerged: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many pull requests it applied to."""
        return sum(self.fates.values())


class Report(Fact):
    """All rules over a span of time. `pulls`: how many pull requests were opened in it."""

    full_name: str
    since: datetime
    until: datetime
    mode: Mode
    pulls: int
    rules: tuple[RuleReport, ...]

    @property
    def minutes(self) -> int:
        """Minutes saved, at `MINUTES_EACH` for each that was or would be closed and not merged."""
        return MINUTES_EACH * len({n for rule in self.rules for n in rule.closed_unmerged})


def is_false_alarm(one: Outcome) -> bool:
    """Whether people saw it otherwise: it was merged, or taken back, although it was held up."""
    return one.rung >= Mode.ASK and (one.fate == "merged" or one.overturned_by is not None)


def report(  # noqa: PLR0913 - what a report is of
    full_name: str,
    since: datetime,
    until: datetime,
    mode: Mode,
    pulls: int,
    outcomes: Iterable[Outcome],
) -> Report:
    """The report; the rules that applied most often first."""
    by_rule: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        by_rule[one.rule].append(one)
    rules = [_rule(name, found) for name, found in by_rule.items()]
    return Report(
        full_name=full_name,
        since=since,
        until=until,
        mode=mode,
        pulls=pulls,
        rules=tuple(sorted(rules, key=lambda r: (-r.total, r.rule))),
    )


def _rule(name: str, found: Sequence[Outcome]) -> RuleReport:
    fates: dict[Fate, int] = {"merged": 0, "closed": 0, "closed_by_gate": 0, "open": 0}
    would: dict[str, int] = defaultdict(int)
    did: dict[str, int] = defaultdict(int)
    for one in found:
        fates[one.fate] += 1
        would[one.rung.word] += 1
        if one.done >= Mode.LABEL:
            did[one.done.word] += 1
    return RuleReport(
        rule=name,
        would=dict(would),
        did=dict(did),
        fates=fates,
        overturned=sum(1 for one in found if one.overturned_by is not None),
        false_alarms=tuple(one for one in found if is_false_alarm(one)),
        closed_unmerged=tuple(
            one.number for one in found if one.rung is Mode.CLOSE and not is_false_alarm(one)
        ),
    )


def as_markdown(found: Report, page: str = "") -> str:
    """The report as GitHub and a terminal show it. `page`: where all of it stands."""
    span = f"{found.since:%Y-%m-%d} to {found.until:%Y-%m-%d}"
    lines = [
        f"**Pulsegate on {found.full_name}, {span}**",
        "",
        f"{found.pulls:,} pull requests were opened. The repository's mode is `{found.mode.word}`.",
        "",
    ]
    if not found.rules:
        return "\n".join([*lines, "No rule applied to any of them."])
    lines += [
        "| rule | applied to | would close | would ask | would label | did close | did ask "
        "| merged | closed by people | still open | overturned |",
        "|---|" + "--:|" * 10,
        *(_row(rule) for rule in found.rules),
        "",
    ]
    alarms = [one for rule in found.rules for one in rule.false_alarms]
    lines += _alarms(alarms, found.full_name)
    lines += [
        f"About {found.minutes:,} minutes saved, if each pull request that is closed and not merged "
        f"costs a maintainer {MINUTES_EACH} minutes. That figure is an assumption.",
    ]
    return "\n".join([*lines, *(["", f"All of it: {page}"] if page else [])])


def _row(rule: RuleReport) -> str:
    figures = [
        rule.total,
        *(rule.would.get(word, 0) for word in ("close", "ask", "label")),
        *(rule.did.get(word, 0) for word in ("close", "ask")),
        rule.fates["merged"],
        rule.fates["closed"],
        rule.fates["open"],
        rule.overturned,
    ]
    return f"| {rule.rule} | " + " | ".join(f"{n:,}" for n in figures) + " |"


def _alarms(alarms: Sequence[Outcome], full_name: str) -> list[str]:
    if not alarms:
        return [
            "No false alarm is known: nothing that a rule held up was merged or taken back.",
            "",
        ]
    lines = [f"False alarms ({len(alarms):,}), as far as people have decided since:", ""]
    for one in alarms[:MOST_LISTED]:
        why = f"taken back by {one.overturned_by}" if one.overturned_by else "merged"
        verb = f"did {one.done.word}" if one.done >= Mode.LABEL else f"would {one.rung.word}"
        title = markdown(one_line(one.title, 80))
        lines.append(f"- {full_name}#{one.number} {title}: {one.rule} {verb}; {markdown(why)}")
    if len(alarms) > MOST_LISTED:
        lines.append(f"- and {len(alarms) - MOST_LISTED:,} more")
    return [*lines, ""]
