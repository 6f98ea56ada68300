"""What is kept of people: by class of data, for how long, and what an erasure does to it.

The sweeper takes its times from here, and PRIVACY.md and the page `/mine/data` their words.
"""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Literal

from app.core.fact import Fact

Erased = Literal["at once", "30 days after it ended", "stays"]


class DataClass(Fact):
    """A class of data. `keep`: how long, None for as long as the App is installed there.

    `tables` are its tables in the database; `shown`: whether its owner's page and export show it.
    """

    name: str
    about: str
    tables: tuple[str, ...]
    keep: timedelta | None
    since: str = ""
    erased: Erased
    why: str
    shown: bool = True


DAY = timedelta(days=1)
_CLASSES = (
    DataClass(
        name="pull_requests",
        about="Pull requests as GitHub shows them (title, description, labels, names of branches), when "
        "others wrote there and when their author answered, and which issues they are for",
        tables=("cases", "case_issues", "campaign_members", "campaigns"),
        keep=None,
        erased="30 days after it ended",
        why="a flood must not wipe itself out as it goes on; that there was one, without account and text, stays",
    ),
    DataClass(
        name="decisions",
        about="What was decided, why, and what was done about it",
        tables=("decisions", "outbox", "hands", "undo_cases"),
        keep=None,
        erased="30 days after it ended",
        why="what still stands on GitHub has to be taken back until then",
    ),
    DataClass(
        name="challenges",
        about="Whether somebody was asked to show that they are there, what was asked about the change, how "
        "it stands, and how soon they answered, without a word of it",
        tables=("challenges", "answers"),
        keep=None,
        erased="30 days after it ended",
        why="with the pull request",
    ),
    DataClass(
        name="sketches",
        about="Sketches of words and changes, to find near-duplicates",
        tables=("likenesses",),
        keep=90 * DAY,
        since="the pull request was opened",
        erased="30 days after it ended",
        why="with the pull request",
    ),
    DataClass(
        name="rule_counts",
        about="Which rules applied to a pull request, and whether a person took that back",
        tables=("rule_acts",),
        keep=None,
        erased="stays",
        why="counts of rules, without account or text once the pull request is erased",
    ),
    DataClass(
        name="appeals",
        about="Appeals, in their author's words",
        tables=("appeals",),
        keep=None,
        erased="30 days after it ended",
        why="the words go; that there was an appeal, and how it ended, stays",
    ),
    DataClass(
        name="proofs",
        about="Proofs of life: keyed hashes of an address and its domain, what kind of domain it is, and, "
        "where a repository asks for it, the domain for a time",
        tables=("proofs", "proof_tokens", "proof_domains"),
        keep=30 * DAY,
        since="the proof ended",
        erased="at once",
        why="what was opened stays open",
    ),
    DataClass(
        name="mails",
        about="Mails that were sent, sealed until they are gone, and digests of mails that came",
        tables=("mails", "letters"),
        keep=30 * DAY,
        since="the mail",
        erased="at once",
        why="a digest tells nothing but that the same mail came before, and stays",
    ),
    DataClass(
        name="mail_limits",
        about="How often somebody asked for a mail, by keyed hashes of account, address and network",
        tables=("proof_tries",),
        keep=DAY,
        since="the try",
        erased="stays",
        why="no hash leads back to its owner, and it is gone within a day",
        shown=False,
    ),
    DataClass(
        name="public_activity",
        about="The newest public events of the account, of authors who had nothing merged there",
        tables=("account_activity",),
        keep=DAY,
        since="it was read",
        erased="at once",
        why="it is read anew with the next pull request",
    ),
    DataClass(
        name="permissions",
        about="What GitHub said an account may do in a repository",
        tables=("permissions",),
        keep=timedelta(minutes=5),
        since="it was asked",
        erased="at once",
        why="it is asked anew when it is needed",
    ),
    DataClass(
        name="words",
        about="What maintainers said of an account: vouched for, denied, to be asked; with their reason",
        tables=("trust",),
        keep=None,
        erased="stays",
        why="a denial that everybody could wipe off would be none; the rest goes at once",
    ),
    DataClass(
        name="notes",
        about="Private notes of moderators on an account",
        tables=("account_notes",),
        keep=None,
        erased="stays",
        why="they are the moderators' own; whoever runs this Pulsegate answers for them",
        shown=False,
    ),
    DataClass(
        name="statements",
        about="An account's own words on what is kept of it, for maintainers",
        tables=("statements", "erasures"),
        keep=None,
        erased="at once",
        why="that an erasure is under way is kept until it is through",
    ),
    DataClass(
        name="sessions",
        about="Who is signed in on the pages, and configurations that they tried",
        tables=("sessions", "simulations"),
        keep=8 * DAY,  # a week at most, and a day more for whoever looks into a sign-in
        since="it began",
        erased="at once",
        why="you are signed out",
    ),
    DataClass(
        name="deliveries",
        about="GitHub's deliveries, without addresses",
        tables=("inbox", "payloads"),
        keep=7 * DAY,
        since="they came; that one came is kept longer, without its content",
        erased="30 days after it ended",
        why="what they told is in the classes above",
        shown=False,
    ),
    DataClass(
        name="audit",
        about="The audit log, in which people have a pseudonym",
        tables=("audit", "pseudonyms"),
        keep=None,
        erased="at once",
        why="the pseudonym is nobody's from then on; the entries stay",
    ),
)
CLASSES: Mapping[str, DataClass] = MappingProxyType({one.name: one for one in _CLASSES})
# Tables that hold nothing of contributors.
OTHERS = frozenset(
    {"app_setup", "bookmarks", "brakes", "campaign_words", "experience", "installations"}
    | {"repositories", "undos", "usage"}
)


def keep(name: str) -> timedelta:
    """How long a class of data is kept that has an end of its own."""
    found = CLASSES[name].keep
    if found is None:
        raise ValueError(f"{name} is kept for as long as the App is installed")
    return found


def span(one: DataClass) -> str:
    """How long it is kept, in words."""
    if one.keep is None:
        return "as long as the App is installed there"
    days, minutes = one.keep.days, one.keep.seconds // 60
    time = f"{days} {'day' if days == 1 else 'days'}" if days else f"{minutes} minutes"
    return f"{time} after {one.since}" if one.since else time
