"""PRIVACY.md: what is kept of people, from the table that the sweeper goes by."""

from app.core.privacy import CLASSES, span

_HEAD = """# Privacy

What Pulsegate keeps of people, for how long, and what they can do about it. Each Pulsegate is run by somebody
of their own, who answers for it; nothing is sent to the makers of Pulsegate or to anybody else but GitHub and,
where it is set up, the mail server of whoever runs it.

**It reads** what GitHub shows of pull requests, comments and permissions in the repositories that it is
installed on, and, once a day, the public events of authors who had nothing merged there. **It does not read**
profiles. How old an account is and in which language somebody writes count for nothing; the form of a text
counts at most for the order in which people look at pull requests.

**Whoever signs in with GitHub** sees at `/mine` what is held up, and at `/mine/data` all that is kept of their
account: how many rows of which kind. There they take it along as JSON, leave their own words for maintainers to
read beside it, and erase it.

An address that proves somebody is there is sealed until the mail to it is gone; then there are only keyed
hashes of the address and of its domain, and what kind of domain it is; the domain itself only where a
repository asks for it (`proofs.domain_days`), and for that time.

## What is kept, and for how long

The sweeper deletes by this table; it is written from the code that it runs by.

| what | kept | when its owner erases |
|---|---|---|
"""

_FOOT = """
Comments, labels and closes on GitHub are GitHub's, and stay there. Private notes of moderators are not shown on
the page; the law of some countries lets you ask whoever runs the service for them. The audit log names people
by a pseudonym; an erasure forgets whose it was. Whoever runs a Pulsegate does the same with `pulsegate audit
erase WHO`.

When the App is uninstalled, nothing new comes in. What was kept then stays until whoever runs the service drops
the database.

A text that fits a repository's configuration, to copy into a project, is on its page `/texts/OWNER/REPO`.
"""


def page() -> str:
    """The whole file."""
    rows = [
        f"| {one.about} | {span(one)} | {one.erased}: {one.why} |\n" for one in CLASSES.values()
    ]
    return _HEAD + "".join(rows) + _FOOT
