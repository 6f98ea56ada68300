"""The acts on a pull request, each exactly once.

Labels, check runs by id, closing and reopening are wanted states: repeating them changes nothing.
Comments and new check runs are not. They carry the effect's key, and before a second attempt what
the first may have left behind is looked for.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, assert_never
from urllib.parse import quote

from app.adapters.github.connection import Connection, path
from app.adapters.github.errors import Answer, narrow
from app.adapters.github.limits import limit_interactions, set_control
from app.adapters.github.reader import items
from app.core.effects import (
    Adopt,
    Annotation,
    Announce,
    Close,
    Effect,
    EndQuestion,
    Known,
    LimitInteractions,
    MarkVerified,
    Notice,
    React,
    Receipt,
    Reopen,
    SetCheckRun,
    SetControl,
    SetLabel,
    StatusComment,
)
from app.core.errors import Rejected, RetryLater
from app.core.facts import RepositoryRef
from app.core.github import Account, Id, Moment, Narrow
from app.core.text import clean

MAX_COMMENT = 65_000  # GitHub's own limit is 65,536
MAX_SUMMARY = 65_535
MAX_TITLE = 255
LABEL_COLOUR = "fbca04"
LABEL_WORDS = "A person should confirm this pull request; see Pulsegate's comment"
CUT = "\n\n…"
SEARCHED_PAGES = 10


class _Written(Narrow):
    id: Id
    created_at: Moment | None = None


class _App(Narrow):
    id: Id


class _Comment(Narrow):
    id: Id
    body: str | None = None
    user: Account | None = None
    performed_via_github_app: _App | None = None
    created_at: Moment | None = None


class _Named(Narrow):
    name: str


class _Turn(Narrow):
    event: str
    label: _Named | None = None
    actor: Account | None = None
    performed_via_github_app: _App | None = None


class _Run(Narrow):
    id: Id
    external_id: str | None = None
    app: _App | None = None


class _Runs(Narrow):
    check_runs: tuple[_Run, ...]


@dataclass(frozen=True)
class _Write:
    """One write: where, and what to recognise it by."""

    github: Connection
    where: str
    number: int
    repository_id: int
    key: str
    again: bool

    @property
    def issue(self) -> str:
        """The path of the pull request as an issue."""
        return self.where + path("issues", self.number)


class GitHubWriter:
    """`core.ports.Writer`. `app_id` and `bot_login` say which comments are ours."""

    def __init__(
        self, connect: Callable[[int], Connection], *, app_id: int, bot_login: str
    ) -> None:
        self._connect = connect
        self._app_id = app_id
        self._bot_login = bot_login
        self._labels: set[tuple[int, str]] = set()

    def carry_out(  # noqa: C901, PLR0912, PLR0913 - a case for each kind; what names a write
        self,
        repository: RepositoryRef,
        number: int,
        effect: Effect,
        *,
        key: str,
        known: Known,
        again: bool,
    ) -> Receipt:
        """Bring about the wanted state, exactly once; see the port."""
        where = path("repos", repository.owner, repository.name)
        github = self._connect(repository.installation_id)
        write = _Write(github, where, number, repository.id, key, again)
        match effect:
            case SetLabel(present=True):
                return self._replace_label(write, effect)
            case SetLabel():
                return self._remove_label(write, effect.name)
            case StatusComment() if known.status_comment_id is not None:
                return _edit(write, known.status_comment_id, effect.body)
            case EndQuestion():
                return _edit_question(write, known.question_comment_id, effect.body)
            case StatusComment() | Notice():
                return self._comment(write, effect.body)
            case SetCheckRun(kind="check_run") if known.check_run_id and (
                known.check_run_sha == effect.head_sha
            ):
                return _update_run(write, known.check_run_id, effect)
            case SetCheckRun():
                return self._new_run(write, effect)
            case Close():
                return self._close(write)
            case Reopen():
                return self._reopen(write)
            case React():
                return _react(write, effect)
            case Adopt():
                return self._adopt(write, effect)
            case MarkVerified():
                return self._add_label(replace(write, again=False), effect.label)
            case LimitInteractions():
                return limit_interactions(github, where, effect)
            case SetControl():
                return set_control(github, where, effect)
            case Announce():
                return self._announce(write, effect)
            case _:
                assert_never(effect)

    def _add_label(self, write: _Write, name: str) -> Receipt:
        if write.again and self._labelled(write, name)[:1] == [("unlabeled", False)]:
            raise Rejected("somebody took the label away since", status=409)
        here = (write.repository_id, name.casefold())
        if here not in self._labels:
            _make_label(write, name)
            self._labels.add(here)
        write.github.write("POST", f"{write.issue}/labels", {"labels": [name]})
        return Receipt()

    def _replace_label(self, write: _Write, effect: SetLabel) -> Receipt:
        """Put a label on, and take the one off that stood in its place before it was renamed."""
        receipt = self._add_label(write, effect.name)
        if effect.instead_of is not None:
            old = write.issue + path("labels", effect.instead_of)
            write.github.write("DELETE", old, accept=(404,))
        return receipt

    def _remove_label(self, write: _Write, name: str) -> Receipt:
        turns = self._labelled(write, name) if write.again else []
        match turns:
            case [("labeled", False), ("unlabeled", _)]:
                raise Rejected("somebody put the label on since", status=409)
        answer = write.github.write("DELETE", write.issue + path("labels", name), accept=(404,))
        return Receipt(changed=answer.status != 404)

    def _labelled(self, write: _Write, name: str) -> list[tuple[str, bool]]:
        """How the label was put on and taken away the last two times, newest first."""
        return self._turns(write, {"labeled", "unlabeled"}, label=name)

    def _comment(self, write: _Write, body: str) -> Receipt:
        if write.again:
            earlier = self._find_comment(write)
            if earlier is not None:
                return Receipt(id=earlier.id, at=earlier.created_at, changed=False)
        text = {"body": _body(body, write.key)}
        return _receipt(write.github.write("POST", f"{write.issue}/comments", text))

    def _announce(self, write: _Write, effect: Announce) -> Receipt:
        """A comment on the issue, or a new issue; one that is gone or locked gets a new one."""
        if effect.issue is not None:
            try:
                return self._comment(replace(write, number=effect.issue), effect.body)
            except Rejected as error:
                if error.status not in {403, 404, 410}:
                    raise
        if write.again:
            earlier = self._find_issue(write)
            if earlier is not None:
                return Receipt(id=earlier, changed=False)
        text = {"title": _shortened(effect.title, MAX_TITLE), "body": _body(effect.body, write.key)}
        return _receipt(write.github.write("POST", write.where + path("issues"), text))

    def _find_issue(self, write: _Write) -> int | None:
        """Our issue that carries the key, among the newest hundred of ours."""
        asked = {"creator": self._bot_login, "state": "all", "per_page": "100"}
        answer = write.github.read(write.where + path("issues"), asked)
        for item in items(answer.payload):
            issue = narrow(_Comment, item)
            marked = (issue.body or "").rstrip().endswith(_marker(write.key))
            if marked and self._is_ours(issue.user, issue.performed_via_github_app):
                return issue.id
        return None

    def _find_comment(self, write: _Write) -> _Comment | None:
        """Our comment that carries the key; a marker that anybody else planted is none."""
        for page in _newest_pages(write.github, f"{write.issue}/comments"):
            for item in items(page.payload):
                comment = narrow(_Comment, item)
                marked = (comment.body or "").rstrip().endswith(_marker(write.key))
                if marked and self._is_ours(comment.user, comment.performed_via_github_app):
                    return comment
        return None

    def _is_ours(self, by: Account | None, app: _App | None) -> bool:
        if app is not None:
            return app.id == self._app_id
        return by is not None and by.is_app and by.login == self._bot_login

    def _close(self, write: _Write) -> Receipt:
        """Close, but take nobody else's close for ours, and no person's reopening for unseen."""
        turns = self._turns(write, {"closed", "reopened"}) if write.again else []
        match turns:
            case [("closed", True), *_]:
                return Receipt(changed=False)
            case [("closed", False), *_]:
                raise Rejected("somebody else closed the pull request first", status=409)
            case [("reopened", False), ("closed", True), *_]:
                raise Rejected("we closed it, and somebody reopened it since", status=409)
        return _set_state(write, "closed")

    def _reopen(self, write: _Write) -> Receipt:
        """Open what we closed, unless somebody closed it again after our first attempt."""
        turns = self._turns(write, {"closed", "reopened"}) if write.again else []
        match turns:
            case [("reopened", _), *_]:
                return Receipt(changed=False)
            case [("closed", False), ("reopened", _)]:
                raise Rejected("somebody else closed the pull request since", status=409)
        return _set_state(write, "open")

    def _turns(
        self, write: _Write, events: set[str], *, label: str | None = None
    ) -> list[tuple[str, bool]]:
        """The last two events of these kinds, newest first, each with whether it was ours.

        Empty where GitHub does not say; the write is then repeated, which changes nothing unless
        somebody was there in between.
        """
        turns: list[tuple[str, bool]] = []
        for page in _newest_pages(write.github, f"{write.issue}/events", accept=(404,)):
            for item in reversed(items(page.payload)):
                turn = narrow(_Turn, item)
                named = turn.label.name.casefold() if turn.label else None
                if turn.event not in events or (label and named != label.casefold()):
                    continue
                ours = self._is_ours(turn.actor, turn.performed_via_github_app)
                turns.append((turn.event, ours))
                if len(turns) == 2:
                    return turns
        return turns

    def _adopt(self, write: _Write, effect: Adopt) -> Receipt:
        """Assign, then label; GitHub leaves out who cannot be assigned, and says nothing."""
        who = {"assignees": [effect.login]}
        write.github.write("POST", f"{write.issue}/assignees", who)
        return self._add_label(replace(write, again=False), effect.label)

    def _new_run(self, write: _Write, effect: SetCheckRun) -> Receipt:
        if write.again:
            earlier = self._find_run(write, effect.head_sha, effect.name)
            if earlier is not None:
                return Receipt(id=earlier, changed=False)
        named = {"name": effect.name, "head_sha": effect.head_sha, "external_id": write.key}
        run = {**named, **_run_fields(effect)}
        return _receipt(write.github.write("POST", write.where + path("check-runs"), run))

    def _find_run(self, write: _Write, sha: str, name: str) -> int | None:
        asked = {"check_name": name, "app_id": str(self._app_id), "filter": "all"}
        where = write.where + path("commits", sha, "check-runs")
        for page in write.github.pages(where, asked):
            for run in narrow(_Runs, page.payload).check_runs:
                ours = run.app is None or run.app.id == self._app_id
                if ours and run.external_id == write.key:
                    return run.id
        return None


def _react(write: _Write, effect: React) -> Receipt:
    """Our reaction, which GitHub has once however often it is given; gone with its comment."""
    place = {"issue_comment": "issues", "review_comment": "pulls"}[effect.where]
    one = write.where + path(place, "comments", effect.comment_id, "reactions")
    answer = write.github.write("POST", one, {"content": effect.content}, accept=(404,))
    return Receipt(changed=answer.status == 201)


def _make_label(write: _Write, name: str) -> None:
    """Make sure that the repository has the label, in our colour where it is new."""
    there = write.github.read(write.where + path("labels", name), accept=(404,))
    if there.status != 404:
        return
    label = {"name": name, "color": LABEL_COLOUR, "description": LABEL_WORDS}
    # 422 also says that somebody made it since. Where it means that the name is refused, adding
    # the label is refused as well and says so.
    write.github.write("POST", write.where + path("labels"), label, accept=(422,))


def _edit(write: _Write, comment_id: int, body: str) -> Receipt:
    one = write.where + path("issues", "comments", comment_id)
    text = {"body": _body(body, write.key)}
    answer = write.github.write("PATCH", one, text, accept=(404,))
    if answer.status == 404:
        raise Rejected("a person deleted the comment; it is not written again", status=404)
    return Receipt(id=comment_id)


def _edit_question(write: _Write, comment_id: int | None, body: str) -> Receipt:
    if comment_id is None:
        return Receipt(changed=False)
    return _edit(write, comment_id, body)


def _update_run(write: _Write, run_id: int, effect: SetCheckRun) -> Receipt:
    write.github.write("PATCH", write.where + path("check-runs", run_id), _run_fields(effect))
    return Receipt(id=run_id)


def _set_state(write: _Write, state: str) -> Receipt:
    write.github.write("PATCH", write.where + path("pulls", write.number), {"state": state})
    return Receipt()


def _receipt(answer: Answer) -> Receipt:
    made = narrow(_Written, answer.payload, maybe_done=True)
    return Receipt(id=made.id, at=made.created_at)


def _newest_pages(github: Connection, where: str, accept: tuple[int, ...] = ()) -> Iterator[Answer]:
    """Up to ten pages of a list that GitHub only gives oldest first: the last ones backwards.

    Backwards, since a comment that is deleted meanwhile then moves ours onto a page yet to come.
    """
    size = {"per_page": "100"}
    first = github.read(where, size, accept=accept)
    if first.status in accept:
        return
    last = first.links.get("last", {}).get("page", "1")
    if not last.isdecimal():
        raise RetryLater("GitHub answered something we cannot read (a page without a number)")
    count = int(last)
    for number in range(count, max(1, count - SEARCHED_PAGES + 1), -1):
        yield github.read(where, {**size, "page": str(number)})
    yield first


def _marker(key: str) -> str:
    return f"<!-- pulsegate:{quote(key, safe=':/._-')} -->"


def _body(body: str, key: str) -> str:
    marker = "\n\n" + _marker(key)
    return _shortened(body, MAX_COMMENT - len(marker)) + marker


def _shortened(text: str, limit: int) -> str:
    text = clean(text, limit * 2)
    return text if len(text) <= limit else text[: limit - len(CUT)] + CUT


def _annotation(one: Annotation) -> dict[str, Any]:
    return {
        "path": one.path,
        "start_line": one.line,
        "end_line": one.line,
        "annotation_level": "failure",
        "message": _shortened(one.message, MAX_SUMMARY),
    }


def _run_fields(effect: SetCheckRun) -> dict[str, Any]:
    output: dict[str, Any] = {
        "title": _shortened(effect.title, MAX_TITLE),
        "summary": _shortened(effect.summary, MAX_SUMMARY),
    }
    if effect.annotations:
        output["annotations"] = [_annotation(one) for one in effect.annotations]
    return {
        "status": "completed",
        "conclusion": effect.conclusion,
        "output": output,
        "actions": [button.model_dump() for button in effect.buttons],
    }
