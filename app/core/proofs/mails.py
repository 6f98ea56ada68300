"""The mail that brings a link: short, in the repository's language, as text and as HTML."""

import html

from app.core.fact import Fact
from app.core.said import Words, say


class Mail(Fact):
    """One mail to one person."""

    to: str
    subject: str
    text: str
    html: str


def link_mail(words: Words, to: str, login: str, link: str, code: str) -> Mail:
    """The link, and the code for who cannot open it. Nothing in it is counted when it is opened."""
    subject = words(say("Confirm that this address is yours"))
    lines = [
        words(
            say(
                "Somebody who is signed in to GitHub as {login} wants to show that this address is "
                "theirs. If that is you, open this page within 24 hours and press its button:",
                login=login,
            )
        ),
        link,
        words(say("Or type this code there: {code}", code=code)),
        words(say("If it is not you, do nothing: without the button nothing happens.")),
    ]
    body = "".join(f"<p>{_shown(line, link)}</p>" for line in lines)
    return Mail(
        to=to,
        subject=subject,
        text="\n\n".join(lines) + "\n",
        html=f"<!doctype html><html><body>{body}</body></html>",
    )


def _shown(line: str, link: str) -> str:
    safe = html.escape(line)
    return f'<a href="{safe}">{safe}</a>' if line == link else safe
