"""Texts for a project that fit what it configured: for CONTRIBUTING, on privacy, for contributors."""

from app.core.modes import Mode
from app.core.policy import Policy
from app.core.rules import RULES

_FURTHEST = {
    Mode.LABEL: "gets a label",
    Mode.ASK: "gets a question, to be answered in a few words of your own",
    Mode.CLOSE: "may be closed, with a comment that says why and how you have it opened again",
}


def asks(policy: Policy) -> list[str]:
    """What the repository asks of a pull request, in sentences; only what is really acted on."""
    acting = [r for r in RULES if policy.in_force(policy.of(r).mode) >= Mode.LABEL]
    return [words for words in (rule.asks(policy.of(rule)) for rule in acting) if words]


def contributing(policy: Policy, page: str) -> str:
    """A paragraph for CONTRIBUTING.md, in Markdown. `page`: the page for contributors."""
    sentences = asks(policy)
    if policy.mode < Mode.LABEL or not sentences:
        return (
            "This repository is watched by Pulsegate, which records how pull requests come in and "
            f"changes nothing. What that means for you: {page}"
        )
    furthest = _FURTHEST[max(m for m in _FURTHEST if m <= policy.mode)]
    return "\n".join(
        [
            "### Before you open a pull request",
            "",
            *(f"- {sentence}" for sentence in sentences),
            "",
            f"Where one of these is not so, your pull request {furthest}. "
            + _appeal(policy)
            + " Agents are welcome where a person answers for them. Why you may be asked, and what "
            f"is read of you: {page}",
        ]
    )


def _appeal(policy: Policy) -> str:
    days = policy.appeals.hours / 24
    span = f"{days:.0f} days" if days >= 2 else f"{policy.appeals.hours} hours"
    return (
        "If you think that is wrong, write `/pulse appeal` in a comment: a maintainer answers, and "
        f"after {span} without an answer it is opened again by itself."
    )


def privacy(policy: Policy, host: str) -> str:
    """A privacy text, in Markdown. `host`: where the service runs."""
    trust = (
        " Maintainers' words on accounts count in several repositories of the same owner."
        if policy.trust.shared
        else ""
    )
    return "\n".join(
        [
            "### What Pulsegate keeps of you",
            "",
            f"This repository runs Pulsegate, by itself, at {host}. It reads what GitHub shows of "
            "pull requests to everybody who can see them: title, description, what is changed, "
            "comments, and times. It does not read your profile; how old an account is and in which "
            "language somebody writes count for nothing, and the form of a text counts at most for "
            "the order in which people look.",
            "",
            "- Of authors who had nothing merged here, the newest public events of the account, "
            "which GitHub shows to everybody, are read and kept for a day.",
            "- Payloads of GitHub's deliveries are deleted after seven days.",
            "- Decisions, their reasons and what was done stay, so that they can be checked and "
            "taken back.",
            "- What maintainers say of an account is kept by its numeric id, with who said it and "
            f"until when; you can read it on {host}/mine.{trust}",
            "- Moderators may keep private notes on an account.",
            "- The audit log names people by a pseudonym, whose meaning can be erased.",
            "",
            f"Signed in with GitHub, you see all that is kept of your account at {host}/mine/data, "
            "take it along and erase it.",
        ]
    )


def why(policy: Policy) -> list[tuple[str, str]]:
    """The page for contributors, as headings with Markdown below them."""
    hours = policy.ladder.grace_hours
    found = [
        (
            "Why was I asked?",
            "Some repositories get more pull requests than people can read, many of them by "
            "programs that nobody answers for. So this one asks for a sign that somebody is there. "
            "It is no verdict on you or on your change, nor on how the change was written.",
        )
    ]
    sentences = asks(policy)
    if sentences:
        found.append(("What this repository asks for", "\n".join(f"- {s}" for s in sentences)))
    else:
        found.append(("What this repository asks for", "Nothing at the moment: it only records."))
    if policy.mode >= Mode.ASK:
        close = (
            f" Where you do nothing for {hours} hours after a question, the pull request may be "
            "closed; any comment, push or edit of yours stops that."
            if policy.mode >= Mode.CLOSE
            else " Nothing is closed because of a question."
        )
        found.append(("What to do", "Answer in a few words of your own, in any language." + close))
    if policy.mode >= Mode.CLOSE:
        found.append(
            (
                "It was closed",
                "Write `/pulse reopen` on a line of its own in a comment, and it is open again. "
                "Where a maintainer had it closed, write `/pulse appeal`. " + _appeal(policy),
            )
        )
    found.append(
        (
            "What is read of me",
            "What everybody sees on the pull request. Not your profile, not the age of your "
            "account, not your style, grammar or language. What maintainers said of your account, "
            "and until when it holds, you can read at [/mine](/mine).",
        )
    )
    return found
