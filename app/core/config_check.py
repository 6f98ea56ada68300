"""The check run on a pull request that changes the configuration: what it would put in force."""

from app.core.effects import Annotation, SetCheckRun
from app.core.modes import Mode
from app.core.policy import PATH, Policy
from app.core.ports import Reading
from app.core.rules import RULES
from app.core.said import Words, say
from app.core.text import markdown

MOST_ANNOTATIONS = 50  # GitHub's own limit for one request


def config_check(words: Words, head_sha: str, reading: Reading | None, now: Policy) -> SetCheckRun:
    """Its text, in the language in force. It never blocks. None: the file is taken away."""
    if reading is None:
        return _run(
            head_sha,
            words(say("The configuration is taken away")),
            words(say("The organisation's default, or else the defaults, will be in force.")),
        )
    if reading.policy is None:
        return _broken(words, head_sha, reading)
    return _run(
        head_sha,
        words(say("The configuration is valid")),
        "\n".join(_changes(words, now, reading.policy)),
    )


def _run(head_sha: str, title: str, summary: str) -> SetCheckRun:
    return SetCheckRun(
        kind="config_check",
        head_sha=head_sha,
        conclusion="success",
        title=title,
        summary=summary,
    )


def _broken(words: Words, head_sha: str, reading: Reading) -> SetCheckRun:
    last = words(say("Until it is mended, the last good version stays in force."))
    lines = [
        f"- {words(say('line {line}, column {column}', line=p.line, column=p.column))}: "
        f"{markdown(p.key)}{': ' if p.key else ''}{markdown(p.message)}"
        for p in reading.problems
    ]
    return SetCheckRun(
        kind="config_check",
        head_sha=head_sha,
        conclusion="neutral",
        title=words(say("The configuration has errors: {count}", count=len(reading.problems))),
        summary="\n".join([last, "", *lines]),
        annotations=tuple(
            Annotation(path=PATH, line=p.line, message=f"{p.key}: {p.message}".strip(": "))
            for p in reading.problems[:MOST_ANNOTATIONS]
        ),
    )


def _changes(words: Words, old: Policy, new: Policy) -> list[str]:
    """How far the gate and each rule may go, where that changes."""
    rows = [(words(say("the repository")), old.mode, new.mode)]
    rows += [
        (f"`{rule.name}`", _in_force(old, rule.name), _in_force(new, rule.name)) for rule in RULES
    ]
    changed = [
        words(say("- {what}: {old} → {new}", what=what, old=before.word, new=after.word))
        for what, before, after in rows
        if before is not after
    ]
    if not changed:
        return [words(say("How far the gate and its rules may go stays as it is."))]
    return [words(say("What may be done from then on:")), "", *changed]


def _in_force(policy: Policy, name: str) -> Mode:
    rule = next(r for r in RULES if r.name == name)
    return min(policy.in_force(policy.of(rule).mode), rule.most)
