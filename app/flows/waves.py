"""Whom else to decide anew after a decision: what is true of one pull request bears on others.

Each of these asks through the inbox, once for each cause, and only where something changed, so that
no wave goes round for ever.
"""

from collections.abc import Iterable
from datetime import datetime

from app.core.decision import CaseState
from app.core.events import Address
from app.core.facts import Facts
from app.core.modes import Mode
from app.core.policy import Policy
from app.core.rules import burst, cap, same_issue
from app.db import cases, inbox, neighbours
from app.db.engine import Tx, hold
from app.db.installations import Standing
from app.flows.facts import burst_window
from app.flows.judge import Judged


def hold_neighbours(tx: Tx, standing: Standing, facts: Facts) -> None:
    """Of two that bear on each other and are decided at the same time, the later sees the other."""
    if facts.author is not None:
        hold(tx, f"author:{standing.repository.id}:{facts.author.id}")
    issues = facts.change.issues if facts.change else None
    for repository, number in sorted({(i.repository_id, i.number) for i in issues or ()}):
        hold(tx, f"issue:{repository}:{number}")


def others(tx: Tx, standing: Standing, judged: Judged, now: datetime) -> list[int]:
    """Asks for them; answers the stimuli that were made."""
    policy, here = standing.policy, standing.repository
    case, decision, facts = judged.case, judged.decision, judged.facts
    version = decision.version if decision else case.version
    wanted: list[tuple[int, int, str]] = []

    def ask(numbers: Iterable[int], cause: str) -> None:
        wanted.extend((here.id, number, cause) for number in numbers)

    rule = policy.of(burst.RULE)
    if decision and any(f.rule == "burst" for f in decision.findings):
        ask(cases.without_burst(tx, case.id, rule.minutes), f"burst:{case.id}:{version}")
        if "burst" not in case.rules:
            wanted += _anywhere(tx, standing, facts, rule, f"anywhere:{case.id}:{version}")
    changed = _changed(tx, standing, judged)
    if changed:
        ask([case.number], f"joined:{case.id}:{changed}")
    if decision:
        ask(_of_the_cap(tx, policy, judged), f"cap:{case.id}:{version}")
        if policy.of(same_issue.RULE).mode > Mode.OFF:
            ask(neighbours.sharing_issues(tx, case.id), f"issue:{case.id}:{version}")
    return _asked(tx, standing, wanted, now)


def of_account(  # noqa: PLR0913
    tx: Tx, standing: Standing, account_id: int, but: int, cause: str, now: datetime
) -> list[int]:
    """Asks for all of an account's here that are open or closed by us, `but` for one."""
    numbers = neighbours.standing_of(tx, standing.repository.id, account_id)
    wanted = [(standing.repository.id, n, cause) for n in numbers if n != but]
    return _asked(tx, standing, wanted, now)


def ask_all(
    tx: Tx, standing: Standing, numbers: Iterable[int], cause: str, now: datetime
) -> list[int]:
    """Asks for all of these; `cause` names what happened, once."""
    return _asked(tx, standing, [(standing.repository.id, n, cause) for n in numbers], now)


def _asked(
    tx: Tx, standing: Standing, wanted: list[tuple[int, int, str]], now: datetime
) -> list[int]:
    made: list[int] = []
    for repository_id, number, cause in wanted:
        # One that waits to be decided will see it all: what is under way looks again, above.
        if inbox.asked_again(tx, repository_id, number):
            continue
        same = repository_id == standing.repository.id
        where = Address(
            installation_id=standing.repository.installation_id if same else None,
            repository_id=repository_id,
            pull_number=number,
        )
        key = f"{cause}:{repository_id}:{number}"
        stimulus = inbox.again(tx, key=key, address=where, reason=cause.split(":")[0], now=now)
        made += [stimulus] if stimulus is not None else []
    return made


def _anywhere(
    tx: Tx, standing: Standing, facts: Facts, rule: burst.BurstRule, cause: str
) -> list[tuple[int, int, str]]:
    """The rest of a burst over several repositories, each of which decides by its own rules."""
    if rule.everywhere is None or facts.author is None:
        return []
    within = burst.window(rule)
    near = neighbours.near_anywhere(
        tx, facts.author.id, facts.pull.created_at, within, recorded=standing.recorded
    )
    return [(where, number, cause) for where, number in near if number != facts.pull.number]


def _changed(tx: Tx, standing: Standing, judged: Judged) -> str:
    """What of the author's others, or of those for its issues, came while it was decided; or ""."""
    facts, here = judged.facts, standing.repository.id
    if facts.author is None:
        return ""
    rule = standing.policy.of(burst.RULE)
    author, at = facts.author.id, facts.pull.created_at
    if not facts.burst(rule.prs, rule.minutes):
        near = len(cases.opened_near(tx, here, author, at, burst_window(rule.minutes)))
        if near != len(facts.opened):
            return str(near)
    if standing.policy.of(cap.RULE).mode > Mode.OFF:
        open_now = neighbours.open_pulls(tx, here, author)
        if open_now != facts.open_pulls:
            return "open-" + "-".join(f"{o.number}{'d' * o.draft}" for o in open_now[:20])
    if standing.policy.of(same_issue.RULE).mode > Mode.OFF and facts.change:
        issues = facts.change.issues or ()
        rivals = neighbours.rivals(tx, here, facts.pull.number, issues)
        if [r.number for r in rivals] != [r.number for r in facts.rivals]:
            return "rivals-" + "-".join(str(r.number) for r in rivals[:20])
    return ""


def _of_the_cap(tx: Tx, policy: Policy, judged: Judged) -> list[int]:
    """Those of the author's whom a place was freed for, or taken from."""
    facts, author = judged.facts, judged.facts.author
    if author is None or policy.of(cap.RULE).mode is Mode.OFF:
        return []
    where, decision = judged.case.repository_id, judged.decision
    if decision and decision.state is CaseState.REOPENED and facts.pull.state == "closed":
        return []  # it is about to take a place, and frees none
    if facts.pull.state == "closed" or facts.pull.draft:
        found = neighbours.with_finding(tx, where, author.id, "cap")
        waiting = [n for n in found if n != judged.case.number]
        if facts.pull.is_merged:
            return waiting  # perhaps no newcomer any more
        rule, still = policy.of(cap.RULE), {o.number for o in facts.open_pulls}
        free = rule.open - sum(1 for o in facts.open_pulls if rule.drafts or not o.draft)
        # What is closed comes back one for each place, the earliest first.
        closed = [n for n in waiting if n not in still]
        return [n for n in waiting if n in still] + closed[: max(free, 0)]
    if judged.case.version == 0 or judged.case.was_closed_or_draft:
        drafts, number = policy.of(cap.RULE).drafts, facts.pull.number
        line = sorted(facts.open_pulls, key=lambda o: o.place(drafts=drafts))
        order = [o.number for o in line]
        return order[order.index(number) + 1 :] if number in order else []
    return []
