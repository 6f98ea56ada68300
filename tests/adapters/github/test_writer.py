"""Writes against a scripted GitHub: what is sent, and what its answers mean."""

from typing import Any

import pytest

from app.adapters.github.writer import GitHubWriter
from app.core.effects import (
    CheckButton,
    Close,
    Effect,
    Known,
    Notice,
    Receipt,
    Reopen,
    SetCheckRun,
    SetLabel,
    StatusComment,
)
from app.core.errors import Rejected, RetryLater
from app.core.facts import RepositoryRef
from tests.adapters.github.scripted import Reply, Scripted

HERE = "^/repos/acme/widgets"
SHA = "a" * 40
NOTICE = Notice(kind="ask_comment", body="Are you there?")
RUN = SetCheckRun(head_sha=SHA, conclusion="neutral", title="t", summary="s")
OURS = {"id": 4242}
BOT = {"id": 1, "login": "pulsegate[bot]", "type": "Bot"}
ANNA = {"id": 11, "login": "anna", "type": "User"}
MARK = "<!-- pulsegate:1:2:notice -->"


def act(
    writer: GitHubWriter,
    repository: RepositoryRef,
    effect: Effect,
    *,
    key: str = "1:2:notice",
    again: bool = False,
    **known: Any,
) -> Receipt:
    return writer.carry_out(repository, 5, effect, key=key, known=Known(**known), again=again)


def test_a_comment_carries_its_key(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef
) -> None:
    scripted.on("POST", f"{HERE}/issues/5/comments$", Reply(201, {"id": 77}))
    assert act(writer, repository, NOTICE) == Receipt(id=77)
    assert act(writer, repository, NOTICE, key="a --> <b>") == Receipt(id=77)
    bodies = [s.body["body"] for s in scripted.asked("POST", "comments$")]
    assert bodies == [
        f"Are you there?\n\n{MARK}",
        "Are you there?\n\n<!-- pulsegate:a%20--%3E%20%3Cb%3E -->",
    ]
    assert not scripted.asked("GET")


def test_long_and_odd_text_is_cut_and_cleaned(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef
) -> None:
    scripted.on("POST", "comments$|check-runs$", Reply(201, {"id": 77}))
    act(writer, repository, StatusComment(body="\ud800\x00" + "😀" * 90_000))
    body = scripted.seen[-1].body["body"]
    assert len(body) == 65_000
    assert body.startswith("😀")
    assert body.endswith(f"😀\n\n…\n\n{MARK}")
    button = CheckButton(label="Reopen", description="Open it again", identifier="reopen")
    long = RUN.model_copy(
        update={"summary": "s" * 70_000, "title": "t" * 300, "buttons": (button,)}
    )
    act(writer, repository, long)
    sent = scripted.seen[-1].body
    assert len(sent["output"]["summary"]) == 65_535
    assert len(sent["output"]["title"]) == 255
    assert sent["actions"] == [button.model_dump()]


def test_a_planted_marker_is_not_ours(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef
) -> None:
    planted = [
        {"id": 1, "body": MARK, "user": ANNA},
        {"id": 2, "body": MARK, "user": {**ANNA, "login": "pulsegate[bot]"}},
        {"id": 3, "body": MARK, "user": BOT, "performed_via_github_app": {"id": 1}},
        {"id": 4, "body": MARK, "user": None},
        {"id": 5, "body": f"{MARK} quoted", "user": BOT},
        {"id": 6, "body": MARK.replace("1:2", "1:3"), "user": BOT},
        {"id": 7, "body": None, "user": BOT},
    ]
    scripted.on("GET", "comments$", Reply(json=planted))
    scripted.on("POST", "comments$", Reply(201, {"id": 77}))
    assert act(writer, repository, NOTICE, again=True) == Receipt(id=77)


@pytest.mark.parametrize(
    "mine",
    [{"user": BOT}, {"user": ANNA, "performed_via_github_app": OURS}],
)
def test_an_earlier_attempt_is_found(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef, mine: dict[str, Any]
) -> None:
    comment = {"id": 8, "body": f"Are you there?\r\n\r\n{MARK}\n", **mine}
    scripted.on("GET", "comments$", Reply(json=[{"id": 1, "user": ANNA}, comment]))
    assert act(writer, repository, NOTICE, again=True) == Receipt(id=8, changed=False)
    assert act(writer, repository, StatusComment(body="x"), again=True).id == 8
    assert not scripted.asked("POST", "comments$")


def test_the_newest_pages_are_searched(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef
) -> None:
    link = {"link": '</x?per_page=100&page=30>; rel="last"'}
    scripted.on("GET", "comments$", Reply(json=[], headers=link))
    scripted.on("POST", "comments$", Reply(201, {"id": 77}))
    assert act(writer, repository, NOTICE, again=True).id == 77
    asked = [s.query.get("page", "1") for s in scripted.asked("GET", "comments$")]
    assert asked == ["1", "30", "29", "28", "27", "26", "25", "24", "23", "22"]


@pytest.mark.parametrize("page", [{"message": "x"}, ["x"], [{"id": "x"}]])
def test_comments_that_cannot_be_read_stop_the_second_attempt(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef, page: Any
) -> None:
    scripted.on("GET", "comments$", Reply(json=page))
    with pytest.raises(RetryLater) as caught:
        act(writer, repository, NOTICE, again=True)
    assert not caught.value.maybe_done
    assert not scripted.asked("POST", "comments$")


def test_the_status_comment_is_edited_and_never_written_again(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef
) -> None:
    scripted.on("PATCH", f"{HERE}/issues/comments/9$", Reply(json={"id": 9}))
    status = StatusComment(body="x")
    assert act(writer, repository, status, status_comment_id=9, again=True) == Receipt(id=9)
    with pytest.raises(Rejected, match="a person deleted the comment") as caught:
        act(writer, repository, status, status_comment_id=10)
    assert caught.value.status == 404
    assert not scripted.asked("POST", "comments$")


@pytest.mark.parametrize("answer", [{}, [], {"id": "x"}, None])
def test_a_comment_whose_id_cannot_be_read_may_be_there(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef, answer: Any
) -> None:
    scripted.on("POST", "comments$|check-runs$", Reply(201, answer))
    for effect in (NOTICE, RUN):
        with pytest.raises(RetryLater) as caught:
            act(writer, repository, effect)
        assert caught.value.maybe_done


def test_check_runs(scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef) -> None:
    scripted.on("POST", f"{HERE}/check-runs$", Reply(201, {"id": 3}))
    scripted.on("PATCH", f"{HERE}/check-runs/3$", Reply(json={"id": 3}))
    assert act(writer, repository, RUN).id == 3
    made = scripted.seen[-1].body
    assert made == {
        "name": "pulsegate",
        "head_sha": SHA,
        "external_id": "1:2:notice",
        "status": "completed",
        "conclusion": "neutral",
        "output": {"title": "t", "summary": "s"},
        "actions": [],
    }
    assert act(writer, repository, RUN, check_run_id=3, check_run_sha=SHA).id == 3
    assert scripted.seen[-1].method == "PATCH"
    assert "external_id" not in scripted.seen[-1].body
    act(writer, repository, RUN, check_run_id=3, check_run_sha="b" * 40)
    assert scripted.seen[-1].method == "POST"


def test_an_earlier_check_run_is_found_by_its_key(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef
) -> None:
    runs = [
        {"id": 1, "external_id": "1:2:notice", "app": {"id": 1}},
        {"id": 2, "external_id": None, "app": OURS},
        {"id": 3, "external_id": "1:2:notice", "app": OURS},
    ]
    where = f"{HERE}/commits/{SHA}/check-runs$"
    scripted.on("GET", where, Reply(json={"total_count": 3, "check_runs": runs}))
    assert act(writer, repository, RUN, again=True) == Receipt(id=3, changed=False)
    asked = scripted.seen[-1].query
    assert asked["app_id"] == "4242"
    assert (asked["check_name"], asked["filter"]) == ("pulsegate", "all")


def test_a_label_is_made_once_in_our_colour(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef
) -> None:
    label = SetLabel(name="needs/a person?", present=True)
    scripted.on("POST", f"{HERE}/labels$", Reply(201, {}))
    scripted.on("POST", f"{HERE}/issues/5/labels$", Reply(json=[]))
    for _ in range(2):
        assert act(writer, repository, label) == Receipt()
    asked = [(s.method, s.path) for s in scripted.seen[1:]]
    assert asked == [
        ("GET", "/repos/acme/widgets/labels/needs%2Fa%20person%3F"),
        ("POST", "/repos/acme/widgets/labels"),
        ("POST", "/repos/acme/widgets/issues/5/labels"),
        ("POST", "/repos/acme/widgets/issues/5/labels"),
    ]
    made = scripted.asked("POST", "widgets/labels$")[0].body
    assert made["color"] == "fbca04"
    assert len(made["description"]) <= 100
    assert scripted.seen[-1].body == {"labels": ["needs/a person?"]}


def test_a_label_that_somebody_makes_meanwhile(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef
) -> None:
    exists = {"message": "Validation Failed", "errors": [{"code": "already_exists"}]}
    scripted.on("POST", "widgets/labels$", Reply(422, exists))
    scripted.on("POST", "issues/5/labels$", Reply(json=[]))
    assert act(writer, repository, SetLabel(name="x", present=True)) == Receipt()


def test_a_label_that_github_refuses(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef
) -> None:
    scripted.on("POST", "labels$", Reply(422, {"message": "Validation Failed"}))
    with pytest.raises(Rejected):
        act(writer, repository, SetLabel(name="x" * 51, present=True))


def test_a_label_comes_off_once(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef
) -> None:
    gone = SetLabel(name="a/b", present=False)
    scripted.on("DELETE", "/issues/5/labels/a%2Fb$", Reply(json=[]), Reply(404, {}))
    assert act(writer, repository, gone) == Receipt()
    assert act(writer, repository, gone) == Receipt(changed=False)


def test_closing_and_reopening(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef
) -> None:
    scripted.on("PATCH", f"{HERE}/pulls/5$", Reply(json={}))
    act(writer, repository, Close())
    act(writer, repository, Reopen())
    assert [s.body for s in scripted.asked("PATCH")] == [{"state": "closed"}, {"state": "open"}]
    assert not scripted.asked("GET")
    words = "state cannot be changed. The branch was deleted."
    refusal = {"message": "Validation Failed", "errors": [{"message": words}]}
    scripted.on("PATCH", "pulls/5$", Reply(422, refusal))
    with pytest.raises(Rejected, match="The branch was deleted") as caught:
        act(writer, repository, Reopen())
    assert caught.value.status == 422


def turn(event: str, by: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    return {"id": 1, "event": event, "actor": by, **more}


CLOSED_BY_US = turn("closed", BOT)
TURNS: dict[str, tuple[list[dict[str, Any]], Any]] = {
    "ours": ([turn("labeled", BOT), CLOSED_BY_US, turn("subscribed", ANNA)], False),
    "ours by the App's id": ([turn("closed", ANNA, performed_via_github_app=OURS)], False),
    "nothing yet": ([turn("labeled", ANNA)], True),
    "an author's own turns": ([turn("closed", ANNA), turn("reopened", ANNA)], True),
    "reopened by us": ([CLOSED_BY_US, turn("reopened", BOT)], True),
    "somebody else's": ([CLOSED_BY_US, turn("reopened", BOT), turn("closed", ANNA)], "else"),
    "a deleted account's": ([turn("closed", None)], "else"),
    "reopened by a person": ([CLOSED_BY_US, turn("reopened", ANNA)], "reopened it since"),
}


@pytest.mark.parametrize("case", TURNS)
def test_a_second_attempt_at_closing_looks_who_closed(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef, case: str
) -> None:
    turns, wanted = TURNS[case]
    scripted.on("GET", f"{HERE}/issues/5/events$", Reply(json=turns))
    scripted.on("PATCH", "pulls/5$", Reply(json={}))
    if isinstance(wanted, str):
        with pytest.raises(Rejected, match=wanted) as caught:
            act(writer, repository, Close(), again=True)
        assert caught.value.status == 409
    else:
        assert act(writer, repository, Close(), again=True) == Receipt(changed=wanted)
    assert len(scripted.asked("PATCH")) == (1 if wanted is True else 0)


def test_closing_again_where_github_keeps_no_events(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef
) -> None:
    scripted.on("PATCH", "pulls/5$", Reply(json={}))
    assert act(writer, repository, Close(), again=True) == Receipt()


ALL: list[tuple[Effect, str]] = [
    (SetLabel(name="x", present=True), "POST"),
    (SetLabel(name="x", present=False), "DELETE"),
    (StatusComment(body="x"), "POST"),
    (NOTICE, "POST"),
    (RUN, "POST"),
    (Close(), "PATCH"),
    (Reopen(), "PATCH"),
]


@pytest.mark.parametrize(("effect", "method"), ALL)
def test_every_write_says_whether_it_may_have_happened(
    scripted: Scripted, writer: GitHubWriter, repository: RepositoryRef, effect: Effect, method: str
) -> None:
    scripted.on("GET", "/labels/x$", Reply(json={}))
    limited = Reply(403, {"message": "secondary rate limit"}, {"retry-after": "5"})
    for reply, maybe in ((Reply(act="drop"), True), (Reply(504), True), (limited, False)):
        scripted.on(method, HERE, reply)
        with pytest.raises(RetryLater) as caught:
            act(writer, repository, effect)
        assert caught.value.maybe_done is maybe
    assert len(scripted.asked(method, HERE)) == 3
