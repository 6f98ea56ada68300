"""What the page of `/verify/…` says of mails that wait or failed, and of domains that are kept."""

from app.core.said import Sentence, say
from app.db.mails import Failure

MAIL_WORDS: dict[str, Sentence] = {
    "held": say(
        "So many mails went out today that this one waits until {time}. It is sent then by itself, "
        "and its link counts for 24 hours from then. You need not wait: the other ways are open, and "
        "an answer on the pull request stops every clock."
    ),
    "came_back": say(
        "The last mail came back: the address does not exist, or takes no mail of ours. Look how it is "
        "spelled and send it again, give another address, or choose another way."
    ),
    "not_taken": say(
        "The last mail could not be sent, since our mail server did not answer as it should. That is no "
        "fault of yours. Send it again, or choose another way."
    ),
    "kept_domain": say(
        "The maintainers of this repository also see the domain behind the @, never the address, for "
        "{days} days at most."
    ),
}
# What is told of a mail that failed: the address is at fault, or we are.
FAILURES: dict[Failure, str] = {
    "bounced": "came_back",
    "refused": "came_back",
    "given up": "not_taken",
}
