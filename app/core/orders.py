"""What each command means: who may give it, what it changes, and what is answered."""

from datetime import datetime, timedelta

from app.core.commands import Command
from app.core.effects import Reaction
from app.core.fact import Fact
from app.core.facts import RULING, Appeal, HandAct, Request, Role, Trust, TrustKind
from app.core.github import Account
from app.core.proofs.challenge import Challenge
from app.core.proofs.telling import told
from app.core.said import Said, Sentence, say

# How long a maintainer's word on an account holds where no time is named.
VERIFY_DAYS = 30
VOUCH_DAYS = 365


class Right(Fact):
    """Who may give a command: its author, or everybody with this role or more; and what it does."""

    author: bool
    least: Role | None
    about: str


_TEAM = Right(author=False, least=Role.TRIAGE, about="")
RIGHTS: dict[Command, Right] = {
    "status": Right(
        author=True, least=Role.TRIAGE, about="Say where the pull request stands and what is next."
    ),
    "explain": Right(
        author=True, least=Role.TRIAGE, about="Say which rules apply, and link the evidence."
    ),
    "reopen": Right(
        author=True,
        least=Role.TRIAGE,
        about="Open again what the gate closed. What a maintainer closed, maintainers open.",
    ),
    "appeal": Right(
        author=True,
        least=None,
        about="Ask a maintainer for a second look, with a few words if you like.",
    ),
    "verify": _TEAM.model_copy(
        update={
            "about": "Ask whether somebody is there; the rules apply again where they were held "
            "off. Without `@login`: its author."
        }
    ),
    "vouch": _TEAM.model_copy(
        update={"about": "No rule applies to this account here, for a year or the time named."}
    ),
    "deny": _TEAM.model_copy(
        update={"about": "Take in no pull requests by this account, for good or the time named."}
    ),
    "exempt": _TEAM.model_copy(
        update={"about": "No rule applies to this pull request; label and question are taken back."}
    ),
    "hold": _TEAM.model_copy(
        update={"about": "Leave this pull request as it is; no clock runs, nothing is closed."}
    ),
    "close": _TEAM.model_copy(
        update={"about": "Close it, with a comment that says how to appeal."}
    ),
    "undo": _TEAM.model_copy(
        update={"about": "Take back what the gate did here, and leave it alone from now on."}
    ),
    "adopt": _TEAM.model_copy(
        update={"about": "Take it over: assigned to you, labelled, nothing more asked."}
    ),
}
_HANDS: dict[Command, HandAct] = {
    "exempt": "exempted",
    "hold": "held",
    "close": "ordered_closed",
    "undo": "undone",
    "adopt": "adopted",
    "appeal": "appealed",
}
_TRUSTS: dict[Command, TrustKind] = {"verify": "to_verify", "vouch": "vouched", "deny": "denied"}


class Outcome(Fact):
    """What follows from a command. `answer` stands in the status comment; None: nothing is said.

    `granted`: the command is carried out, for `reopen` by the decision itself. `named`: who is
    asked to answer an appeal.
    """

    reaction: Reaction
    answer: Said | None = None
    granted: bool = False
    hand: HandAct | None = None
    trust: Trust | None = None
    named: str | None = None

    @property
    def rules(self) -> bool:
        """Whether it says what the gate may do with the pull request, of which one thing can hold."""
        reopens = self.granted and self.hand is None and self.trust is None and self.answer is None
        return reopens or self.hand in RULING


# Of several words on what may be done with a pull request, in one comment.
ONE_COUNTS = say("Of several orders in one comment only the last one counts.")


class Scene(Fact):
    """What a command is given about: the pull request as far as it matters.

    `ordered_closed`: closed at a maintainer's word, by a command on it or on its author. `mine` is
    where authors read what is kept about them.
    `appeal` is the open one, or the one that would be opened; `declined`: a maintainer said no to
    the last. `page` is where maintainers read the evidence. `target` is whom the command names, as GitHub
    knows the login now, with their permission; None where nobody has it.
    """

    author: Account | None
    open: bool
    closed_by_us: bool
    ordered_closed: bool
    page: str
    mine: str = ""
    appeal: Appeal | None = None
    declined: bool = False
    target: Account | None = None
    target_role: Role = Role.NONE
    now: datetime
    # Where the request stands to show that somebody is there.
    challenge: Challenge = Challenge(account_id=0)


def may(request: Request) -> bool:
    """Whether somebody may give the command, by who they are and their live permission."""
    right = RIGHTS[request.command]
    return (right.author and request.by_author) or (
        right.least is not None and request.role >= right.least
    )


def obey(request: Request, scene: Scene) -> Outcome:
    """What follows from a command."""
    if not may(request):
        return _refused(request)
    if request.command in _TRUSTS:
        return _on_an_account(request, scene, _TRUSTS[request.command])
    if request.command == "reopen":
        return _reopen(request, scene)
    if request.command == "appeal":
        return _appeal(scene)
    if request.command == "close" and not scene.open:
        if scene.appeal is None:
            return _no(say("It is closed already."))
        stays = say("A maintainer looked at it again, and it stays closed.")
        return Outcome(reaction="+1", answer=stays, granted=True, hand="ordered_closed")
    if request.command in {"adopt", "hold"} and not scene.open and not scene.closed_by_us:
        return _no(
            say(
                "It is closed, and not by the gate. Open it first with the button *Reopen pull "
                "request*."
            )
        )
    answer = _said(request, scene)
    return Outcome(
        reaction="eyes" if request.command in {"status", "explain"} else "+1",
        answer=answer,
        granted=True,
        hand=_HANDS.get(request.command),
    )


_ANSWERS: dict[Command, Sentence] = {
    "exempt": say("No rule applies to this pull request any more."),
    "hold": say("A maintainer holds it as it is. Nothing is asked and nothing is closed."),
    "close": say("A maintainer has it closed."),
    "undo": say("What the gate did here is taken back. It leaves this pull request alone."),
}


def _said(request: Request, scene: Scene) -> Sentence | None:
    """What is answered to a command that is carried out as it stands."""
    if request.command == "status":
        return told(scene.challenge)
    if request.command == "explain":
        return _explained(request, scene)
    if request.command == "adopt":
        return say("{login} takes this pull request over.", login=request.login)
    return _ANSWERS.get(request.command)


def _explained(request: Request, scene: Scene) -> Sentence:
    if request.role >= Role.TRIAGE:
        return say("Maintainers read the evidence [on its page]({page}).", page=scene.page)
    return say(
        "What is asked, if anything, stands below, with what ends it. What is kept about you stands "
        "[on your page]({page}).",
        page=scene.mine,
    )


def _no(answer: Sentence) -> Outcome:
    return Outcome(reaction="confused", answer=answer)


def _refused(request: Request) -> Outcome:
    """To its author with a word; to anybody else by the reaction alone, since words are noise."""
    if not request.by_author:
        return Outcome(reaction="confused")
    return _no(
        say(
            "`/pulse {command}` is for people with triage rights or more. As its author you can "
            "write `/pulse status`, `/pulse explain`, `/pulse reopen` and `/pulse appeal`.",
            command=request.command,
        )
    )


def _reopen(request: Request, scene: Scene) -> Outcome:
    team = request.role >= Role.TRIAGE
    if scene.open:
        return _no(say("It is open."))
    if scene.ordered_closed and not team:
        return _no(say("A maintainer closed it. Write `/pulse appeal` to have it looked at again."))
    if scene.ordered_closed:
        return Outcome(
            reaction="+1",
            answer=_ANSWERS["undo"],
            granted=True,
            hand="undone",
        )
    if not scene.closed_by_us:
        return _no(
            say("A person closed it, and not the gate: use the button *Reopen pull request*.")
            if team
            else say("A person closed it, and not the gate. Write a comment to ask them.")
        )
    return Outcome(reaction="+1", granted=True)


def _against(scene: Scene) -> str:
    if scene.open:
        return "a question"
    return "a word" if scene.ordered_closed else "a rule"


def _appeal(scene: Scene) -> Outcome:
    """Once for each close: what a maintainer declined stays declined until it is closed anew."""
    if scene.declined:
        return _no(say("A maintainer answered the appeal already."))
    if scene.appeal is None:
        return _no(say("It is open, and nothing is asked. There is nothing to appeal against."))
    values: dict[str, str] = {"date": f"{scene.appeal.deadline_at:%Y-%m-%d %H:%M}"}
    if scene.appeal.named is not None:
        values["login"] = scene.appeal.named
    return Outcome(
        reaction="+1",
        answer=Sentence(
            id=_APPEALED[_against(scene), scene.appeal.named is not None], values=values
        ),
        granted=True,
        hand="appealed",
        named=scene.appeal.named,
    )


# By what is appealed against, and whether somebody is named.
_APPEALED: dict[tuple[str, bool], str] = {
    ("a rule", True): say(
        "The appeal is noted; {login} is asked to answer it. Without an answer until {date} (UTC) "
        "it is opened again by itself."
    ).id,
    ("a rule", False): say(
        "The appeal is noted. Without an answer by a maintainer until {date} (UTC) it is opened "
        "again by itself."
    ).id,
    ("a word", True): say(
        "The appeal is noted; {login} is asked to answer it until {date} (UTC)."
    ).id,
    ("a word", False): say("The appeal is noted, and maintainers see it on their page.").id,
    ("a question", True): say(
        "The appeal is noted; {login} is asked to answer it until {date} (UTC). Nothing is closed "
        "until then."
    ).id,
    ("a question", False): say(
        "The appeal is noted, and maintainers see it on their page. Nothing is closed until {date} "
        "(UTC)."
    ).id,
}


def _on_an_account(request: Request, scene: Scene, kind: TrustKind) -> Outcome:
    target = scene.target
    if target is None:
        return _no(say("GitHub knows nobody by this login."))
    if target.id == request.account_id:
        return _no(say("Nobody can say this of themselves."))
    if kind != "vouched" and scene.target_role >= Role.TRIAGE:
        return _no(say("{login} is on the team; no rule applies to them.", login=target.login))
    default = {"vouched": VOUCH_DAYS, "to_verify": VERIFY_DAYS}.get(kind)
    days = request.days or default
    trust = Trust(
        kind=kind,
        by_login=request.login,
        at=scene.now,
        until=scene.now + timedelta(days=days) if days else None,
        reason=request.reason,
    )
    # Whoever asks wants the rules to apply again, also where a maintainer held it before.
    about_it = scene.author is not None and scene.author.id == target.id
    return Outcome(
        reaction="+1",
        answer=_word(kind, target, trust),
        granted=True,
        hand="released" if kind == "to_verify" and about_it and scene.open else None,
        trust=trust,
    )


def _word(kind: TrustKind, target: Account, trust: Trust) -> Sentence | None:
    if kind == "vouched" and trust.until is not None:
        return say(
            "{by} vouches for {login} until {date}.",
            by=trust.by_login,
            login=target.login,
            date=trust.until.date().isoformat(),
        )
    if kind == "to_verify":
        return say("{by} asks whether {login} is there.", by=trust.by_login, login=target.login)
    return None  # nobody reads in public who was denied


_FORMS: dict[Command, str] = {
    "verify": "verify [@login] [for TIME] [because …]",
    "vouch": "vouch @login [for TIME] [because …]",
    "deny": "deny @login [for TIME] [because …]",
    "appeal": "appeal [words]",
}


def table() -> list[str]:
    """The commands as rows of the documentation's table."""
    rows = []
    for command, right in RIGHTS.items():
        who = ["its author"] if right.author else []
        who += [f"{right.least.word} or more"] if right.least is not None else []
        form = _FORMS.get(command, command)
        rows.append(f"| `/pulse {form}` | {'; '.join(who)} | {right.about} |")
    return rows
