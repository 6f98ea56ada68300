"""`/verify/…`: where an author shows that somebody is there. Works without scripts."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Form, Header, HTTPException, Path, Request
from starlette.responses import RedirectResponse, Response

from app.adapters.crypto import same
from app.core.errors import RetryLater, UserError
from app.core.github import Account
from app.core.proofs.challenge import Tick, step
from app.core.proofs.letters import MOST_BYTES
from app.core.proofs.standing import enough
from app.core.proofs.telling import told
from app.core.proofs.tokens import LINK_LIVES
from app.core.said import Sentence, say
from app.core.text import one_line
from app.db import cases, challenges, installations, mails, proofs
from app.db.cases import Row
from app.db.installations import Standing
from app.db.reports import Place, place_named
from app.flows import fairness
from app.web.errors import problem
from app.web.guard import Site
from app.web.origin import network
from app.web.pages import Page, render
from app.web.parts import Parts
from app.web.verify_mail import FAILURES, MAIL_WORDS
from app.web.viewer import SignedIn
from app.wiring.web import WebParts

router = APIRouter()

Number = Annotated[int, Path(ge=1, lt=2**63)]
Shared = Annotated[bool, Form()]
_SPELLED = r"^[a-z2-7]{52}$"


@dataclass(frozen=True)
class Own:
    """The author's own pull request, asked for by themselves."""

    account: Account
    where: Place
    standing: Standing
    row: Row

    @property
    def href(self) -> str:
        """The page."""
        return f"/verify/{self.where.full_name}/{self.row.case.number}"


def own(parts: Parts, session: SignedIn, owner: str, repo: str, number: Number) -> Own:
    """As a FastAPI dependency: 404 alike for everybody else and where there is none."""
    hidden = HTTPException(404, "There is no such pull request of yours")
    if "\0" in owner + repo:
        raise hidden
    with parts.base.database.begin() as tx:
        where = place_named(tx, owner, repo, live_first=True)
        row = cases.get(tx, where.id, number) if where else None
        standing = installations.standing(tx, where.id) if where else None
    user = row.pull.user if row else None
    if where is None or row is None or standing is None or standing.gone or standing.recorded:
        raise hidden
    if user is None or user.id != session.account_id:
        raise hidden
    account = Account(id=session.account_id, login=session.login)
    return Own(account=account, where=where, standing=standing, row=row)


Mine = Annotated[Own, Depends(own)]


@dataclass(frozen=True)
class VerifyPage(Page):
    """`verify.html`. `letter_to`: the address to write to, "" where no mail comes in."""

    t: Callable[..., str]
    lang: str
    repository: str
    number: int
    name: str
    href: str
    login: str
    github_url: str
    proven_until: datetime | None
    standing: str
    question: str
    letter_to: str
    may_mail: bool
    mailed: bool
    held_until: datetime | None
    failure: str
    domain_days: int
    asked_maintainer: bool
    shared: bool
    host: str


@router.get("/verify/{owner}/{repo}/{number}")
def verify(
    request: Request, parts: Parts, mine: Mine, mailed: bool = False, shared: bool = False
) -> Response:
    """The page: for the author by numeric id, and nobody else."""
    account, where, standing, row = mine.account, mine.where, mine.standing, mine.row
    now, box = parts.clock(), parts.inbound
    with parts.base.database.begin() as tx:
        found = enough(
            standing.policy.proofs,
            proofs.of_account(tx, account.id, where.installation_id, where.id, now),
            now,
        )
        waits = fairness.is_open(tx, row)
        last = mails.last(tx, account.id, where.id, now - LINK_LIVES)
        asked = challenges.probe(tx, row.case.id)
    token = (
        parts.proving.letter_token(standing, account, shared=shared) if box and not found else ""
    )
    words = parts.catalogues(standing.policy.language)
    shown = VerifyPage(
        title=words(say("Show that somebody is there")),
        t=lambda name, **values: words(Sentence(id=WORDS[name].id, values=values)),
        lang=standing.policy.language,
        repository=where.full_name,
        number=row.case.number,
        name=row.pull.title,
        href=mine.href,
        login=account.login,
        github_url=f"{parts.settings.github_web_url}/{where.full_name}/pull/{row.case.number}",
        proven_until=found.until if found else None,
        standing=words(told(step(row.asked.challenge, Tick(), now))),
        # The emphasis is Markdown's, and the page's escaping is enough here.
        question=words(asked.sentence).replace("**", "") if asked else "",
        letter_to=box.address(token) if box and token else "",
        may_mail=_may_mail(parts),
        mailed=mailed or last is not None,
        held_until=last.held_until if last else None,
        failure=FAILURES[last.failure] if last and last.failure else "",
        domain_days=standing.policy.proofs.domain_days,
        asked_maintainer=waits,
        shared=shared,
        host=parts.settings.public_url.rstrip("/"),
    )
    return render(request, "verify.html", shown)


@router.post("/verify/{owner}/{repo}/{number}/mail")
def mail(
    request: Request,
    parts: Parts,
    mine: Mine,
    address: Annotated[str, Form(max_length=400)],
    shared: Shared = False,
) -> Response:
    """Mails a link. The answer is the same whether the address is known or not."""
    if not _may_mail(parts):
        return problem(request, 409, "No mail server is set up here", "Choose another way.")
    try:
        made = parts.proving.ask_link(
            mine.standing, mine.account, address, shared=shared, network=_network(request, parts)
        )
    except UserError as error:
        return problem(request, 422, error.message, error.hint)
    for mail_id in made:
        parts.doorbell.ring("mail", mail_id)
    return RedirectResponse(f"{mine.href}?mailed=1&shared={int(shared)}", 303)


@router.post("/verify/{owner}/{repo}/{number}/code")
def code(
    request: Request, parts: Parts, mine: Mine, code: Annotated[str, Form(max_length=20)]
) -> Response:
    """The code of the mail, for who cannot open its link."""
    origin = _network(request, parts)
    why, rings = parts.proving.confirm_code(mine.standing, mine.account, code, origin)
    return _answer(request, parts, why, rings, mine.href)


@router.post("/verify/{owner}/{repo}/{number}/maintainer")
def maintainer(
    request: Request, parts: Parts, mine: Mine, words: Annotated[str, Form(max_length=1000)] = ""
) -> Response:
    """Asks a maintainer to vouch: an appeal, which one of them is to answer in time."""
    now, said = parts.clock(), one_line(words, 200)
    rings: fairness.Rings = []
    named = parts.access.who_answers(mine.standing, mine.account.login)
    with parts.base.database.begin() as tx:
        why = fairness.why_no_appeal(tx, mine.row)
        if not why:
            rings = fairness.appeal_by(
                tx, mine.standing, mine.row, mine.account, named, said, parts.catalogues, now
            )
    return _answer(request, parts, why, rings, mine.href)


@dataclass(frozen=True)
class ConfirmPage(Page):
    """`verify_confirm.html`. `done`: it counted, and where to go on."""

    token: str
    login: str
    done: bool


@router.get("/verify/confirm/{token}")
def confirm(
    request: Request, session: SignedIn, token: Annotated[str, Path(pattern=_SPELLED)]
) -> Response:
    """A page with a button, since mail scanners open links: looking at it changes nothing."""
    shown = ConfirmPage(title="Confirm", token=token, login=session.login, done=False)
    return render(request, "verify_confirm.html", shown)


@router.post("/verify/confirm/{token}")
def confirmed(
    request: Request, parts: Parts, session: SignedIn, token: Annotated[str, Path(pattern=_SPELLED)]
) -> Response:
    """The button was pressed."""
    account = Account(id=session.account_id, login=session.login)
    why, rings = parts.proving.confirm(account, token)
    if why:
        return problem(request, 409, why, "Go back to the page that the comment links to.")
    for task, id_ in rings:
        parts.doorbell.ring(task, id_)
    shown = ConfirmPage(title="Confirmed", token=token, login=session.login, done=True)
    return render(request, "verify_confirm.html", shown)


@router.post("/webhooks/mail", status_code=202)
async def hook(
    request: Request,
    parts: Parts,
    authorization: Annotated[str, Header()] = "",
    x_mail_to: Annotated[str, Header(max_length=2000)] = "",
    x_mail_from: Annotated[str, Header(max_length=400)] = "",
) -> dict[str, str]:
    """A raw mail from a mail server that speaks HTTP. The answer is the same whatever came of it."""
    box, letterbox = parts.inbound, parts.letterbox
    if box is None or letterbox is None:
        raise HTTPException(404, "There is no such page")
    if not same(authorization, f"Bearer {box.secret}"):
        raise HTTPException(401, "The secret in Authorization is not that of MAIL_INBOUND")
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MOST_BYTES:
            await run_sync(letterbox.refused, f"it is larger than {MOST_BYTES:,} bytes")
            raise HTTPException(413, f"A mail has at most {MOST_BYTES:,} bytes here")
    recipients = tuple(one.strip() for one in x_mail_to.split(",") if one.strip())[:5]
    try:
        await run_sync(lambda: letterbox.take(bytes(raw), recipients, x_mail_from))
    except RetryLater as error:
        raise HTTPException(503, error.reason, {"Retry-After": "60"}) from error
    return {"status": "taken"}


def _may_mail(parts: WebParts) -> bool:
    return parts.settings.smtp_url is not None and parts.settings.mail_from is not None


def _network(request: Request, parts: WebParts) -> str:
    settings = parts.settings
    return network(request.scope, Site.of(settings.public_url), settings.trusted_proxies)


def _answer(
    request: Request, parts: WebParts, why: str, rings: fairness.Rings, back: str
) -> Response:
    if why:
        return problem(request, 409, why, "Go back and choose another way.")
    for task, id_ in rings:
        parts.doorbell.ring(task, id_)
    return RedirectResponse(back, 303)


WORDS: dict[str, Sentence] = {
    "intro": say(
        "This is no test of you or of your change. It shows that a person stands behind the pull "
        "request and can be reached. One of these ways is enough."
    ),
    "proven": say("Somebody is there: that is known until {date}. Nothing more is asked."),
    "letter": say("Write a mail"),
    "letter_how": say(
        "Send a mail from your work or school address to the address below. What you write does not "
        "matter, and nobody reads it: only your mail server's signature is checked. The address is "
        "for you alone."
    ),
    "link": say("Get a mail"),
    "link_how": say("Give an address; a mail with a link and a code goes there."),
    "address": say("Your address"),
    "send": say("Send the mail"),
    "mailed": say("If that address can be used, a mail is on its way."),
    "code": say("The code from the mail"),
    "code_send": say("Confirm"),
    "maintainer": say("Ask a maintainer"),
    "maintainer_how": say("A maintainer looks at the pull request and can vouch for you."),
    "maintainer_words": say("In one line, what they should know"),
    "maintainer_send": say("Ask"),
    "maintainer_asked": say("A maintainer is asked."),
    "thread": say("Answer on the pull request"),
    "asked": say("One question about the change:"),
    "thread_how": say("Write there in a few words of your own, in any language."),
    "shared": say("It may count in all repositories of this owner"),
    "kept": say(
        "Kept are only a keyed hash of the address and of its domain, and what kind of domain it "
        "is. You can see and erase it at {page}."
    ),
}
WORDS |= MAIL_WORDS
