"""Where a challenge stands, in a sentence for everybody: no word of it accuses anybody."""

from app.core.proofs.challenge import Challenge, State
from app.core.said import Sentence, say

_TOLD: dict[State, Sentence] = {
    State.NOT_ASKED: say("Its author is asked nothing."),
    State.ASKED: say(
        "Its author is asked whether somebody is there; nothing follows from silence."
    ),
    State.ANSWERED: say("Its author answered; a maintainer will look at it."),
    State.VERIFIED: say("Somebody is there: its author showed that."),
    State.EXPIRED: say("The time to answer is over. An answer of its author still counts."),
    State.WAIVED: say("A maintainer asks its author for nothing."),
    State.FAILED: say("A maintainer looked at the answer of its author, and it will not do."),
}


def told(challenge: Challenge) -> Sentence:
    """The sentence."""
    if challenge.state is State.ASKED and challenge.due_at is not None:
        return say(
            "Its author is asked whether somebody is there, and has until {date} (UTC) to answer.",
            date=f"{challenge.due_at:%Y-%m-%d %H:%M}",
        )
    return _TOLD[challenge.state]
