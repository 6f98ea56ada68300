"""What the gate writes on GitHub, in neutral words that accuse nobody.

No text of the pull request appears here unescaped; most of it does not appear at all. Whoever
reads an instruction has the right to carry it out.
"""

from collections.abc import Sequence

from app.core.effects import CheckButton, SetCheckRun
from app.core.github import PullRequest
from app.core.policy import Mode
from app.core.rules import Finding
from app.core.scoring import Score
from app.core.text import markdown

_TITLES = {
    "clear": "No rule applies",
    "exempt": "Exempt",
    "left_alone": "Left alone",
    "flagged": "Needs a look by a person",
    "reopened": "Reopened on request",
}


# Nothing is read into these, and who is on a team is not for us to publish.
_NOT_READ = {
    "exempt": "No rule applies to this author.",
    "left_alone": "The gate leaves this pull request alone.",
}


def check_run(
    pull: PullRequest, state: str, findings: Sequence[Finding], score: Score, mode: Mode
) -> SetCheckRun:
    """The evidence as a check run. It never blocks: `neutral` at most."""
    flagged = bool(findings) and state in {"flagged", "reopened"}
    lines = [f"Mode of this repository: **{mode.word}**.", ""]
    if state in _NOT_READ:
        lines.append(_NOT_READ[state])
    else:
        lines += _told(findings, score)
    return SetCheckRun(
        head_sha=pull.head.sha,
        conclusion="neutral" if flagged else "success",
        title=_TITLES.get(state, "Decided"),
        summary="\n".join(lines),
        buttons=(
            CheckButton(
                label="Leave it alone",
                description="No rule acts on this PR any more.",
                identifier="dismiss",
            ),
        )
        if flagged
        else (),
    )


def _told(findings: Sequence[Finding], score: Score) -> list[str]:
    applies = [f"- **{f.rule}**: {f.sentence}" for f in findings]
    rules = ["### Rules that apply", "", *applies, ""] if findings else []
    return [*rules, "### What was seen", "", *_evidence(score), "", _explain_score(score)]


def _evidence(score: Score) -> list[str]:
    if not score.signals:
        return [
            "- Nothing of this account was seen here before. That counts for nothing either way."
        ]
    return [f"- {markdown(s.sentence)} ({s.weight:+.1f})" for s in score.signals]


def _explain_score(score: Score) -> str:
    if score.unknown:
        return "Score: **unknown**. Too little was seen to say anything, so it leads to nothing."
    return (
        f"Score (how likely it is that nobody answers for it): **{score.probability:.0%}**, "
        f"between {score.low:.0%} and {score.high:.0%}. The numbers in brackets are log-odds; with "
        f"the base of {score.base:+.1f} they add up to it. Model: `{score.model}`."
    )


def status(findings: Sequence[Finding], label: str) -> str:
    """The one status comment while a rule applies."""
    return "\n".join(
        [
            "**A maintainer will look at this once it is clear that a person answers for it.**",
            "",
            *(f"- {f.sentence}" for f in findings),
            "",
            f"It carries the label `{label.replace('`', '')}`. This says nothing about how good "
            "the change is, nor about how it was written.",
        ]
    )


def status_resolved(state: str) -> str:
    """The status comment once no rule asks for anything any more."""
    words = {
        "exempt": "No rule applies to this author.",
        "reopened": "This pull request was reopened on request. Nothing more is asked.",
    }
    return f"**{words.get(state, 'No rule applies any more. Nothing more is asked.')}**"


def notice_close(findings: Sequence[Finding]) -> str:
    """The comment that comes before a close: why, and how its author has it opened again."""
    return "\n".join(
        [
            "**This pull request is being closed for now, and you can have it opened again.**",
            "",
            *(f"- {f.sentence}" for f in findings),
            "",
            "This is a limit of this repository and no verdict on you or on your change.",
            "",
            "If you stand behind this pull request, write a comment that holds this line and "
            "nothing else, and it is opened again:",
            "",
            "    /pulse reopen",
            "",
            "A maintainer can write the same line, or use the button *Reopen pull request*.",
        ]
    )


def notice_ask(findings: Sequence[Finding]) -> str:
    """The comment that asks the author to show that somebody is there."""
    return "\n".join(
        [
            "**Is somebody there?**",
            "",
            *(f"- {f.sentence}" for f in findings),
            "",
            "Please say in a few words of your own what this change is for and how you tried it "
            "out. Nothing is closed because of this question.",
        ]
    )


def check_run_for_queue(head_sha: str) -> SetCheckRun:
    """The check run on a merge queue's commit; its pull requests were decided before."""
    return SetCheckRun(
        head_sha=head_sha,
        conclusion="success",
        title="Nothing to decide",
        summary="The pull requests of this group were decided one by one before they were queued.",
    )
