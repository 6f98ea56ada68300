"""What the gate writes on GitHub, in neutral words that accuse nobody.

No text of the pull request appears here unescaped; most of it does not appear at all. Whoever
reads an instruction has the right to carry it out.
"""

from collections.abc import Sequence
from datetime import datetime

from app.core.brakes import Brake, brake_reason
from app.core.effects import CheckButton, SetCheckRun
from app.core.github import PullRequest
from app.core.ladder import LIFE, WORDS
from app.core.modes import Mode
from app.core.proofs.probe import Probe
from app.core.rules.base import Finding
from app.core.said import Sentence, Words, say
from app.core.scoring import Score
from app.core.text import markdown

_OUR_ADDRESS = "page"  # a value of ours that is to be a link
_TITLES = {
    "adopted": say("A maintainer took it over"),
    "closed": say("Closed by a maintainer"),
    "clear": say("No rule applies"),
    "exempt": say("Exempt"),
    "left_alone": say("Left alone"),
    "flagged": say("Needs a look by a person"),
    "reopened": say("Reopened on request"),
}
# Nothing is read into these, and who is on a team is not for us to publish.
_NOT_READ = {
    "exempt": say("No rule applies to this author."),
    "left_alone": say("The gate leaves this pull request alone."),
    "adopted": say("A maintainer took this pull request over."),
    "closed": say("A maintainer has this pull request closed."),
}


def in_markdown(words: Words, sentence: Sentence) -> str:
    """A sentence as Markdown: what strangers wrote in it is shown as typed."""
    safe = {
        name: value if isinstance(value, int) or name == _OUR_ADDRESS else markdown(value)
        for name, value in sentence.values.items()
    }
    return words(Sentence(id=sentence.id, values=safe))


def check_run(  # noqa: PLR0913 - what a check run tells
    words: Words,
    pull: PullRequest,
    state: str,
    findings: Sequence[Finding],
    score: Score,
    mode: Mode,
) -> SetCheckRun:
    """The evidence as a check run. It never blocks: `neutral` at most."""
    flagged = bool(findings) and state in {"flagged", "reopened"}
    lines = [words(say("Mode of this repository: **{mode}**.", mode=mode.word)), ""]
    if state in _NOT_READ:
        lines.append(words(_NOT_READ[state]))
    else:
        lines += _told(words, findings, score)
    button = CheckButton(
        label="Leave it alone",
        description="No rule acts on this PR any more.",
        identifier="dismiss",
    )
    return SetCheckRun(
        head_sha=pull.head.sha,
        conclusion="neutral" if flagged else "success",
        title=words(_TITLES.get(state, say("Decided"))),
        summary="\n".join(lines),
        buttons=(button,) if flagged else (),
    )


def _told(words: Words, findings: Sequence[Finding], score: Score) -> list[str]:
    applies = [
        # Everybody reads a check run, and nobody is to read there who is on which list.
        f"- {'' if f.rule in WORDS else f'**{f.rule}**: '}{in_markdown(words, f.sentence)}"
        for f in findings
    ]
    heading = words(say("Rules that apply"))
    rules = [f"### {heading}", "", *applies, ""] if findings else []
    seen = words(say("What was seen"))
    return [
        *rules,
        f"### {seen}",
        "",
        *evidence(words, score),
        "",
        words(explain_score(score)),
    ]


def evidence(words: Words, score: Score) -> list[str]:
    """What was seen, a line each, with what it weighs."""
    if not score.signals:
        nothing = say(
            "Nothing of this account was seen here before. That counts for nothing either way."
        )
        return [f"- {words(nothing)}"]
    return [f"- {in_markdown(words, s.sentence)} ({s.weight:+.1f})" for s in score.signals]


def explain_score(score: Score) -> Sentence:
    """The score in a sentence, the same wherever it is shown."""
    if score.unknown:
        return say(
            "Score: **unknown**. Too little was seen to say anything, so it leads to nothing."
        )
    return say(
        "Score (how likely it is that nobody answers for it): **{middle} %**, between {low} % and "
        "{high} %. The numbers in brackets are log-odds; with the base of {base} they add up to "
        "it. Model: `{model}`.",
        middle=round(score.probability * 100),
        low=round(score.low * 100),
        high=round(score.high * 100),
        base=f"{score.base:+.1f}",
        model=score.model,
    )


def status(
    words: Words, findings: Sequence[Finding], label: str, closes_at: datetime | None = None
) -> str:
    """The one status comment while a rule applies. `label` is "" where none is put on.

    `closes_at`: when it is closed if its author does nothing.
    """
    if any(f.rung is Mode.CLOSE and f.in_force is Mode.CLOSE for f in findings):
        head = say("It is closed for now; the comment about that says what its author can do.")
    elif findings and all(f.answered for f in findings):
        head = say("Its author answered. A maintainer will look at this.")
    else:
        head = say("A maintainer will look at this once it is clear that a person answers for it.")
    if closes_at is not None:
        clock = say(
            "It is closed on {date} (UTC) if its author does nothing here until then.",
            date=f"{closes_at:%Y-%m-%d %H:%M}",
        )
        lines = [words(clock), ""]
    else:
        lines = []
    verdict = words(
        say(
            "This says nothing about how good the change is, nor about how it was written.",
        )
    )
    carried = (
        words(say("It carries the label `{label}`.", label=label.replace("`", ""))) + " "
        if label
        else ""
    )
    reasons = _reasons(words, findings)
    return "\n".join([f"**{words(head)}**", "", *reasons, "", *lines, carried + verdict])


def _reasons(words: Words, findings: Sequence[Finding]) -> list[str]:
    """Each rule that applies as a line, with its way out."""
    lines: list[str] = []
    for finding in findings:
        way = f" {in_markdown(words, finding.way)}" if finding.way else ""
        lines.append(f"- {in_markdown(words, finding.sentence)}{way}")
    return lines


def status_resolved(words: Words, state: str) -> str:
    """The status comment once no rule asks for anything any more."""
    said = {
        "exempt": say("No rule applies to this author."),
        "reopened": say("This pull request was reopened. Nothing more is asked of its author."),
        "flagged": say("Nothing is asked of this pull request."),
        "left_alone": say("The gate leaves this pull request alone."),
        "ended": say("This pull request has ended. The gate does nothing with it."),
        "undone": say("What the gate did here is taken back. It leaves this pull request alone."),
        "closed": say("It is closed for now. Its author can have it opened again by a comment."),
        "closed_by_word": say(
            "It is closed for now. Its author can ask for a second look: `/pulse appeal`."
        ),
    }
    return f"**{words(said.get(state, say('No rule applies any more. Nothing more is asked.')))}**"


def status_adopted(words: Words, number: int) -> str:
    """The status comment once a maintainer took the pull request over."""
    head = say("A maintainer takes this pull request over. Nothing more is asked of its author.")
    how = say("To work on it, with GitHub's command line or with plain git:")
    return "\n".join(
        [
            f"**{words(head)}**",
            "",
            words(how),
            "",
            f"    gh pr checkout {number}",
            f"    git fetch origin pull/{number}/head:pr-{number} && git switch pr-{number}",
        ]
    )


def answered(words: Words, body: str, answers: Sequence[Sentence]) -> str:
    """A status comment with what was answered to commands."""
    lines = [f"- {in_markdown(words, answer)}" for answer in answers]
    return "\n".join([*lines, "", body]) if lines else body


def notice_ordered(words: Words) -> str:
    """The comment that comes before a close that a maintainer ordered."""
    head = say("A maintainer has this pull request closed.")
    how = say(
        "If you think that it should be looked at again, write a comment that holds this line, "
        "with a few words behind it if you like:"
    )
    return "\n".join([f"**{words(head)}**", "", words(how), "", "    /pulse appeal"])


def notice_word(words: Words, findings: Sequence[Finding]) -> str:
    """The comment before a close at a maintainer's word: each reason says how to appeal."""
    head = say("This pull request is being closed for now.")
    return "\n".join([f"**{words(head)}**", "", *_reasons(words, findings)])


def _by_proof(words: Words, findings: Sequence[Finding], page: str) -> list[str]:
    """Where its author can show that somebody is there, if that would end what is asked."""
    if not page or not any(f.rule in LIFE for f in findings):
        return []
    way = say(
        "You can also show once that somebody is there, by mail or in another way, on {page}. What "
        "was closed for this is then opened again.",
        page=page,
    )
    return ["", words(way)]


def notice_close(words: Words, findings: Sequence[Finding], page: str = "") -> str:
    """The comment that comes before a close: why, and how its author has it opened again."""
    head = say("This pull request is being closed for now, and you can have it opened again.")
    limit = say("This is a limit of this repository and no verdict on you or on your change.")
    how = say(
        "If you stand behind this pull request, write a comment that holds this line and nothing "
        "else, and it is opened again:"
    )
    others = say(
        "A maintainer can write the same line, or use the button *Reopen pull request*.",
    )
    return "\n".join(
        [
            f"**{words(head)}**",
            "",
            *_reasons(words, findings),
            "",
            words(limit),
            "",
            words(how),
            "",
            "    /pulse reopen",
            "",
            words(others),
            *_by_proof(words, findings, page),
        ]
    )


def notice_ask(
    words: Words,
    findings: Sequence[Finding],
    hours: int,
    page: str = "",
    probe: Probe | None = None,
) -> str:
    """The comment that asks the author to show that somebody is there.

    `probe` is asked about the change. `hours` until it is closed if nobody answers; 0 where nothing follows.
    """
    ask = say("Please answer here in a few words of your own.")
    after = (
        say(
            "If you do nothing here for {hours} hours, it is closed for now; a comment, a push or "
            "an edit of yours stops that. You can have it opened again at any time.",
            hours=hours,
        )
        if hours
        else say("Nothing is closed because of this question.")
    )
    return "\n".join(
        [
            f"**{words(say('Is somebody there?'))}**",
            "",
            *_reasons(words, findings),
            *_about(words, probe),
            "",
            f"{words(ask)} {words(after)}",
            *_by_proof(words, findings, page),
        ]
    )


def _about(words: Words, probe: Probe | None) -> list[str]:
    """A question about the change, which nobody has to know a right answer to."""
    if probe is None:
        return []
    head = words(say("One question about the change:"))
    return ["", f"{head} {in_markdown(words, probe.sentence)}"]


def question_ended(words: Words) -> str:
    """What stands in place of a question that no longer counts."""
    head = say("The question that stood here no longer counts.")
    return f"**{words(head)}** {words(say('Nothing follows from it.'))}"


def asked_to_answer(words: Words, login: str, until: datetime) -> str:
    """The comment that asks one maintainer to answer an appeal."""
    ask = say(
        "@{login}, the author asks for a second look, and it is your turn to answer. Write one of "
        "these lines until {date} (UTC):",
        login=login,
        date=f"{until:%Y-%m-%d %H:%M}",
    )
    return "\n".join([words(ask), "", "    /pulse reopen", "    /pulse close"])


def announced(words: Words, brake: Brake) -> tuple[str, str]:
    """Title and text of what maintainers are told when the gate stops by itself."""
    if brake.rule is None:
        title = words(say("Pulsegate stopped acting here"))
        what = say(
            "From now on it only records what it would do. Nothing is labelled, asked or closed "
            "until a maintainer lets it go on."
        )
    else:
        title = words(say("Pulsegate's rule {rule} only observes now", rule=brake.rule))
        what = say(
            "The rule only records what it would do until a maintainer lets it act again; the "
            "others go on."
        )
    how = say(
        "On its dashboard maintainers see what was done, take it back in one go, let it go on, and "
        "set GitHub's own limits."
    )
    return title, "\n\n".join([words(brake_reason(brake)), words(what), words(how)])


def check_run_for_queue(head_sha: str) -> SetCheckRun:
    """The check run on a merge queue's commit; its pull requests were decided before."""
    return SetCheckRun(
        head_sha=head_sha,
        conclusion="success",
        title="Nothing to decide",
        summary="The pull requests of this group were decided one by one before they were queued.",
    )
