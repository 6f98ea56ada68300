"""Acts on the world, as wanted states: carrying one out twice changes nothing."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.core.github import Moment, PullRequest
from app.core.proofs.probe import Probe

CHECK_NAME = "pulsegate"
CONFIG_CHECK_NAME = "pulsegate/config"


class Act(BaseModel):
    """Base of all effects: immutable, stored as JSON in the outbox."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SetLabel(Act):
    """The pull request carries the label, or does not; and `instead_of` no more, after a change."""

    kind: Literal["label"] = "label"
    name: str
    present: bool
    instead_of: str | None = None


class StatusComment(Act):
    """The one comment that is updated in place says `body`."""

    kind: Literal["status_comment"] = "status_comment"
    body: str


class Notice(Act):
    """A comment of its own, since edits notify nobody.

    A question, why it is being closed, or the maintainer who is asked to answer an appeal.
    """

    kind: Literal["ask_comment", "close_comment", "appeal_comment"]
    body: str
    # The question starts a clock: after so many hours without an answer it is looked at again.
    grace_hours: int = 0
    # What it asks about the change, if anything.
    probe: Probe | None = None


class EndQuestion(Act):
    """Our question, which stands there with its threat, says that it no longer counts."""

    kind: Literal["question_ended"] = "question_ended"
    body: str


class CheckButton(Act):
    """A button of the check run. GitHub's limits: label 20, description 40, identifier 20."""

    label: str = Field(max_length=20)
    description: str = Field(max_length=40)
    identifier: str = Field(max_length=20)


class Annotation(Act):
    """A remark on one line of a file of the head."""

    path: str
    line: int
    message: str


class SetCheckRun(Act):
    """The check run on `head_sha` is completed with this conclusion and text.

    `config_check` is another one, on pull requests that change the configuration.
    """

    kind: Literal["check_run", "config_check"] = "check_run"
    head_sha: str
    conclusion: Literal["success", "neutral"]
    title: str
    summary: str
    buttons: tuple[CheckButton, ...] = ()
    annotations: tuple[Annotation, ...] = ()

    @property
    def name(self) -> str:
        """As GitHub shows it."""
        return CHECK_NAME if self.kind == "check_run" else CONFIG_CHECK_NAME


class Close(Act):
    """The pull request is closed. Never without the notice that explains it: see `REQUIRES`.

    `alone`: but at a maintainer's word, where no comment can be written.
    """

    kind: Literal["close"] = "close"
    alone: bool = False
    # What it is closed for: once none of these rules applies any more, it is opened again.
    rules: tuple[str, ...] = ()


class Reopen(Act):
    """The pull request that we closed is open again."""

    kind: Literal["reopen"] = "reopen"


Reaction = Literal["eyes", "+1", "confused"]


class React(Act):
    """The comment with a command carries our reaction: it was read."""

    kind: Literal["reaction"] = "reaction"
    where: Literal["issue_comment", "review_comment"]
    comment_id: int
    content: Reaction


class MarkVerified(Act):
    """The pull request carries the label of proven authors: queues are sorted by it."""

    kind: Literal["verified"] = "verified"
    label: str


class Adopt(Act):
    """The pull request is assigned to who takes it over, and carries a label that says so."""

    kind: Literal["adopt"] = "adopt"
    login: str
    label: str


LimitGroup = Literal["existing_users", "contributors_only", "collaborators_only"]
LimitExpiry = Literal["one_day", "three_days", "one_week", "one_month", "six_months"]


class LimitInteractions(Act):
    """GitHub's own limit on the whole repository is on, for a time: only the group may open PRs."""

    kind: Literal["limit"] = "limit"
    group: LimitGroup
    expiry: LimitExpiry


class Announce(Act):
    """Maintainers are told: by a comment on an issue, or else by a new issue."""

    kind: Literal["announce"] = "announce"
    issue: int | None = None
    title: str
    body: str


Control = Literal["interaction_limit", "collaborators_only", "pull_cap"]


class SetControl(Act):
    """One of GitHub's own controls is on or off, at a maintainer's word.

    An interaction limit for a day, pull requests by collaborators only, or at most so many open
    ones for each user (`most`). Each needs the optional grant *administration: write*.
    """

    kind: Literal["control"] = "control"
    control: Control
    on: bool
    most: int = Field(default=3, ge=1, le=1000)


Effect = Annotated[
    SetLabel
    | StatusComment
    | Notice
    | EndQuestion
    | SetCheckRun
    | Close
    | Reopen
    | Adopt
    | MarkVerified
    | React
    | LimitInteractions
    | SetControl
    | Announce,
    Field(discriminator="kind"),
]
EffectKind = Literal[
    "label",
    "status_comment",
    "ask_comment",
    "close_comment",
    "check_run",
    "config_check",
    "close",
    "reopen",
    "adopt",
    "verified",
    "reaction",
    "limit",
    "control",
    "announce",
    "appeal_comment",
    "question_ended",
]

# An effect of the first kind is carried out only after the second, of the same decision, was.
REQUIRES: dict[EffectKind, EffectKind] = {"close": "close_comment"}
# Carried out in this order; what explains comes before what hurts.
ORDER: tuple[EffectKind, ...] = (
    "reopen",
    "adopt",
    "verified",
    "label",
    "check_run",
    "status_comment",
    "question_ended",
    "ask_comment",
    "close_comment",
    "close",
)


class EffectState(StrEnum):
    """Where a row of the outbox stands. `observed` rows are recorded and never carried out."""

    OBSERVED = "observed"
    PENDING = "pending"
    DOING = "doing"
    DONE = "done"
    DROPPED = "dropped"
    FAILED = "failed"


class Known(Act):
    """What we wrote before on this pull request, by GitHub's ids."""

    status_comment_id: int | None = None
    question_comment_id: int | None = None
    check_run_id: int | None = None
    check_run_sha: str | None = None


class Receipt(Act):
    """What carrying out an effect yielded: GitHub's id of the comment or check run, if any.

    `changed` is False where the wanted state was there already. `at` is GitHub's own time of a
    comment.
    """

    id: int | None = None
    at: Moment | None = None
    changed: bool = True


HEAD_MOVED = "the head moved after the decision; it waits to be decided anew"


def no_longer_wanted(effect: Effect, live: PullRequest, decided_sha: str) -> str | None:
    """Why an effect must not be carried out on the pull request as it is now; None if it may.

    Read just before the writes, since seconds or hours lie between a decision and its effects.
    `HEAD_MOVED` says that it may be wanted again once the new head was decided on.
    """
    if live.is_merged and not isinstance(effect, SetCheckRun | React):
        return "the pull request was merged"
    closing = effect.kind in {"close", "close_comment"}
    if closing and live.state == "closed":
        return "somebody closed the pull request first"
    if effect.kind == "ask_comment" and live.state == "closed":
        return "the pull request is closed"
    if closing and live.head.sha != decided_sha:
        return HEAD_MOVED
    if isinstance(effect, Reopen) and live.state == "open":
        return "the pull request is open already"
    if live.locked and isinstance(effect, Notice | StatusComment | EndQuestion):
        return "the conversation is locked"
    return None
