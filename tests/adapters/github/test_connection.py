"""Errors, bounds, redirects, caching and pages, over real HTTP."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

import pytest

from app.adapters.github import transport
from app.adapters.github.client import GitHub, public
from app.adapters.github.connection import Connection, path
from app.core.errors import Rejected, RetryLater
from tests.adapters.github.conftest import NOW
from tests.adapters.github.scripted import Reply, Scripted

THING = r"/thing$"
WAYS = ("GET", "POST", "PATCH", "DELETE")
LIMITED = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW.timestamp()) + 90)}


@pytest.fixture
def connection(connect: Callable[..., GitHub], scripted: Scripted) -> Connection:
    return connect(scripted.url, now=lambda: NOW).installation(7)


def said(message: str, **more: Any) -> dict[str, Any]:
    return {"message": message, **more}


PASSING = {
    "500": (Reply(500, said("oops")), None),
    "502 page": (Reply(502, raw=b"<html>"), None),
    "503 that names a time": (Reply(503, said(""), {"retry-after": "7"}), 7),
    "primary limit": (Reply(403, said("API rate limit exceeded"), LIMITED), 91),
    "primary limit, 429": (Reply(429, said("API rate limit exceeded"), LIMITED), 91),
    "primary limit, no reset": (Reply(403, said(""), {"x-ratelimit-remaining": "0"}), 60),
    "reset is nonsense": (
        Reply(403, said(""), {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 40}),
        60,
    ),
    "secondary limit": (Reply(403, said("slow down"), {"retry-after": "30"}), 30),
    "secondary limit by its words": (
        Reply(403, said("You have exceeded a secondary rate limit. Please wait.")),
        60,
    ),
    "retry-after is a date": (
        Reply(429, said(""), {"retry-after": "Sun, 01 Mar 2026 12:00:40 GMT"}),
        40,
    ),
    "retry-after is nonsense": (Reply(403, said(""), {"retry-after": "soon"}), 60),
    "retry-after is a year": (Reply(403, said(""), {"retry-after": "31536000"}), 3600),
    "429 without words": (Reply(429), 60),
    "too quick a writer": (Reply(422, said("was submitted too quickly")), 60),
    "403 that says nothing": (Reply(403, said("Forbidden")), None),
    "403 of an allow list": (Reply(403, said("has an IP allow list enabled; blocked")), None),
    "403 whose message is no text": (Reply(403, said(["x"])), None),
    "suspended": (Reply(403, said("This installation has been suspended")), None),
    "409": (Reply(409, said("Git Repository is empty.")), None),
    "401 twice": (Reply(401, said("Bad credentials")), None),
    "304 for no question": (Reply(304), None),
}
FOR_GOOD = {
    "400": Reply(400, said("Problems parsing JSON")),
    "404": Reply(404, said("Not Found")),
    "410": Reply(410, said("Issues are disabled")),
    "422": Reply(422, said("Validation Failed", errors=[{"resource": "Label", "code": "bad"}])),
    "451": Reply(451, said("Repository access blocked")),
    "permission": Reply(403, said("Resource not accessible by integration")),
    "locked": Reply(403, said("Unable to create comment because issue is locked.")),
    "archived": Reply(403, said("Repository was archived so is read-only.")),
}


def ask(connection: Connection, way: str) -> Any:
    return connection.read("/thing") if way == "GET" else connection.write(way, "/thing", {"a": 1})


@pytest.mark.parametrize("case", PASSING)
def test_what_passes_is_tried_again_later(
    scripted: Scripted, connection: Connection, case: str
) -> None:
    reply, seconds = PASSING[case]
    for way in WAYS:
        scripted.on(way, THING, reply)
        with pytest.raises(RetryLater) as caught:
            ask(connection, way)
        assert caught.value.after == (None if seconds is None else timedelta(seconds=seconds))
        assert caught.value.maybe_done is (way != "GET" and reply.status >= 500)
        # Reads are tried three times where GitHub is broken and names no time; writes never again.
        again = way == "GET" and reply.status >= 500 and "retry-after" not in reply.headers
        renewed = reply.status == 401
        assert len(scripted.asked(way, THING)) == (3 if again else 2 if renewed else 1)


@pytest.mark.parametrize("case", FOR_GOOD)
def test_what_is_refused_for_good(scripted: Scripted, connection: Connection, case: str) -> None:
    for way in WAYS:
        scripted.on(way, THING, FOR_GOOD[case])
        with pytest.raises(Rejected) as caught:
            ask(connection, way)
        assert caught.value.status == FOR_GOOD[case].status
        assert FOR_GOOD[case].json["message"] in caught.value.reason
        assert len(scripted.asked(way, THING)) == 1


def test_a_refusal_names_the_permission_it_needs(
    scripted: Scripted, connection: Connection
) -> None:
    needed = {"x-accepted-github-permissions": "checks=write"}
    refused = Reply(403, said("Resource not accessible by integration"), needed)
    scripted.on("POST", THING, refused)
    with pytest.raises(Rejected, match="needs checks=write"):
        connection.write("POST", "/thing")


def test_a_suspended_installation_says_so(scripted: Scripted, connection: Connection) -> None:
    suspended = Reply(403, said("This installation has been suspended"))
    scripted.on("POST", "access_tokens$", suspended)
    with pytest.raises(RetryLater, match="the installation is suspended") as caught:
        connection.write("POST", "/thing")
    assert not caught.value.maybe_done
    assert not scripted.asked("POST", THING)


def test_an_uninstalled_app_is_refused_for_good(scripted: Scripted, connection: Connection) -> None:
    scripted.on("POST", "access_tokens$", Reply(404, said("Not Found")))
    with pytest.raises(Rejected) as caught:
        connection.read("/thing", accept=(404,))
    assert caught.value.status == 404


@pytest.mark.parametrize("breakage", ["drop", "hang", "drip"])
@pytest.mark.parametrize("way", ["GET", "POST"])
def test_no_answer(
    connect: Callable[..., GitHub], scripted: Scripted, breakage: Any, way: str
) -> None:
    scripted.on(way, THING, Reply(act=breakage, raw=b" "))
    connection = connect(scripted.url, timeout=0.3).installation(7)
    begun = time.monotonic()
    with pytest.raises(RetryLater, match="no answer from GitHub") as caught:
        ask(connection, way)
    assert time.monotonic() - begun < 2
    assert caught.value.maybe_done is (way == "POST")
    assert len(scripted.asked(way, THING)) == 1


def test_no_server(connect: Callable[..., GitHub], scripted: Scripted) -> None:
    scripted.stop()
    with pytest.raises(RetryLater, match="ConnectError") as caught:
        connect(scripted.url).app().write("POST", "/thing")
    assert not caught.value.maybe_done


def test_a_token_that_did_not_come_leaves_the_write_undone(
    connect: Callable[..., GitHub], scripted: Scripted
) -> None:
    scripted.on("POST", "access_tokens$", Reply(act="hang"))
    with pytest.raises(RetryLater) as caught:
        connect(scripted.url, timeout=0.2).installation(7).write("POST", "/thing")
    assert not caught.value.maybe_done


@pytest.mark.parametrize(
    "token",
    [
        {"token": "ghs_x"},
        {"token": "ghs_x", "expires_at": "soon"},
        {"token": "a\r\nX-Evil: 1", "expires_at": "2030-01-01T00:00:00Z"},
        {"token": None, "expires_at": "2030-01-01T00:00:00Z"},
        [],
    ],
)
def test_a_token_answer_that_cannot_be_read(
    scripted: Scripted, connection: Connection, token: Any
) -> None:
    scripted.on("POST", "access_tokens$", Reply(201, token))
    with pytest.raises(RetryLater, match="cannot read"):
        connection.read("/thing")


@pytest.mark.parametrize(
    "body", [b"<html>", b"\xff\xfe", b"[" * 200_000, b'{"a": ' + b"9" * 5000 + b"}"]
)
@pytest.mark.parametrize("way", ["GET", "POST"])
def test_an_answer_that_is_no_json(
    scripted: Scripted, connection: Connection, body: bytes, way: str
) -> None:
    scripted.on(way, THING, Reply(raw=body))
    with pytest.raises(RetryLater, match="cannot read") as caught:
        ask(connection, way)
    assert caught.value.maybe_done is (way == "POST")


def test_an_answer_that_is_too_large(
    scripted: Scripted, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "MAX_ANSWER", 1000)
    scripted.on("GET", THING, Reply(json="x" * 1001))
    with pytest.raises(RetryLater, match="no answer"):
        connection.read("/thing")


def test_a_read_recovers_from_server_errors(
    connect: Callable[..., GitHub], scripted: Scripted
) -> None:
    waits: list[float] = []
    scripted.on("GET", THING, Reply(500), Reply(502, raw=b""), Reply(json={"ok": 1}))
    connection = connect(scripted.url, sleep=waits.append).installation(7)
    assert connection.read("/thing").payload == {"ok": 1}
    assert waits == [0.2, 1.0]


def test_a_refused_token_is_renewed_once(scripted: Scripted, connection: Connection) -> None:
    scripted.on("POST", THING, Reply(401, said("Bad credentials")), Reply(201, {"id": 1}))
    assert connection.write("POST", "/thing", {"a": 1}).payload == {"id": 1}
    held = [s.headers["authorization"] for s in scripted.asked("POST", THING)]
    assert held == ["Bearer ghs_1", "Bearer ghs_2"]


def test_the_jwt_is_made_anew_when_it_is_refused(
    github: GitHub, scripted: Scripted, private_key: str
) -> None:
    scripted.on("GET", "^/app$", Reply(401, said("expired")), Reply(json={"id": 1}))
    assert github.app().read("/app").payload == {"id": 1}
    assert all(s.headers["authorization"].startswith("Bearer ey") for s in scripted.seen)


def test_what_every_request_says(scripted: Scripted, connection: Connection) -> None:
    scripted.on("GET", THING, Reply(json={}))
    connection.read("/thing", {"q": "a&b=c#d"})
    token, thing = scripted.seen
    for seen in (token, thing):
        assert seen.headers["x-github-api-version"] == "2022-11-28"
        assert seen.headers["accept"] == "application/vnd.github+json"
        assert seen.headers["user-agent"] == "pulsegate"
    assert thing.query == {"q": "a&b=c#d"}


def test_an_enterprise_server(connect: Callable[..., GitHub], scripted: Scripted) -> None:
    scripted.on("GET", THING, Reply(json={}))
    github = connect(scripted.url + "/api/v3")
    github.installation(7).read("/thing")
    scripted.on("GET", "/app$", Reply(json={}))
    github.app().read("/app")
    assert [s.path for s in scripted.seen] == [
        "/api/v3/app/installations/7/access_tokens",
        "/api/v3/thing",
        "/api/v3/app",
    ]
    assert scripted.seen[2].headers["authorization"].startswith("Bearer ey")


def test_hostile_names_stay_one_segment(scripted: Scripted, connection: Connection) -> None:
    for name in ["a/b", "a?b=c#d", "$(reboot)", "ü ✓", "%2e%2e", "a%2Fb", "..x", "a\\b"]:
        connection.read(path("repos", name, "x"), accept=(404,))
        sent = scripted.seen[-1].path
        assert sent.count("/") == 3
        assert unquote(sent) == f"/repos/{name}/x"


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_names_that_would_change_the_path(name: str) -> None:
    with pytest.raises(Rejected):
        path("repos", name)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_renamed_repository_is_followed(
    scripted: Scripted, connection: Connection, status: int
) -> None:
    for way in WAYS:
        scripted.on(way, THING, Reply(status, {}, {"location": scripted.url + "/moved?page=2"}))
        scripted.on(way, "/moved$", Reply(json={"moved": True}))
        assert ask(connection, way).payload == {"moved": True}
        moved = scripted.asked(way, "/moved$")[0]
        assert moved.body == (None if way == "GET" else {"a": 1})
        assert moved.query == {"page": "2"}


@pytest.mark.parametrize(
    "target", ["http://127.0.0.2:1/x", "https://evil.example/", "//evil.example/x", "http://[::1"]
)
def test_a_token_follows_no_redirect_to_another_server(
    scripted: Scripted, connection: Connection, target: str
) -> None:
    scripted.on("GET", THING, Reply(301, {}, {"location": target}))
    with pytest.raises(RetryLater, match=r"redirect|RemoteProtocolError"):
        connection.read("/thing")


def test_redirects_come_to_an_end(scripted: Scripted, connection: Connection) -> None:
    scripted.on("GET", THING, Reply(301, {}, {"location": "/thing"}))
    with pytest.raises(RetryLater, match="too many redirects"):
        connection.read("/thing")
    assert len(scripted.asked("GET", THING)) < 10


def test_an_unchanged_read_is_asked_for_by_its_etag(
    scripted: Scripted, connection: Connection
) -> None:
    tag = {"etag": 'W/"one"', "cache-control": "private, max-age=60", "vary": "Authorization"}
    scripted.on("GET", THING, Reply(json={"n": 1}, headers=tag), Reply(304, headers=tag))
    first, second, third = (connection.read("/thing") for _ in range(3))
    assert first.payload == second.payload == third.payload == {"n": 1}
    asked = [s.headers.get("if-none-match") for s in scripted.asked("GET", THING)]
    assert asked == [None, 'W/"one"', 'W/"one"']


def test_a_changed_read_is_new(scripted: Scripted, connection: Connection) -> None:
    old, new = {"etag": '"one"'}, {"etag": '"two"'}
    scripted.on("GET", THING, Reply(json=1, headers=old), Reply(json=2, headers=new), Reply(304))
    assert [connection.read("/thing").payload for _ in range(3)] == [1, 2, 2]
    asked = [s.headers.get("if-none-match") for s in scripted.asked("GET", THING)]
    assert asked == [None, '"one"', '"two"']


@pytest.mark.parametrize("status", [403, 404, 500])
def test_an_error_is_neither_kept_nor_hidden_by_the_cache(
    scripted: Scripted, connection: Connection, status: int
) -> None:
    tag = {"etag": '"one"', "cache-control": "private, max-age=60"}
    bad = Reply(status, said("no"), {"etag": '"bad"', "cache-control": "public, max-age=60"})
    replies = [Reply(json=1, headers=tag), bad, Reply(json=1, headers=tag)]
    if status == 500:
        replies[1:2] = [bad] * 3
    scripted.on("GET", THING, *replies)
    assert connection.read("/thing").payload == 1
    with pytest.raises((RetryLater, Rejected)):
        connection.read("/thing")
    assert connection.read("/thing").payload == 1
    assert "bad" not in str([s.headers.get("if-none-match") for s in scripted.seen])


def test_two_installations_do_not_share_answers(github: GitHub, scripted: Scripted) -> None:
    scripted.on("GET", THING, Reply(json=1, headers={"etag": '"one"'}))
    github.installation(7).read("/thing")
    github.installation(8).read("/thing")
    assert [s.headers.get("if-none-match") for s in scripted.asked("GET")] == [None, None]


def test_the_cache_is_bounded(scripted: Scripted, connection: Connection) -> None:
    scripted.on("GET", "/n/", Reply(json="x" * 10, headers={"etag": '"one"'}))
    for n in range(200):
        connection.read(f"/n/{n}")
    connection.read("/n/199")
    connection.read("/n/0")
    newest, oldest = scripted.seen[-2:]
    assert newest.headers.get("if-none-match") == '"one"'
    assert "if-none-match" not in oldest.headers


def test_a_connection_serves_threads_over_kept_sockets(github: GitHub, scripted: Scripted) -> None:
    scripted.on("GET", "/n/", Reply(json={"ok": 1}, headers={"etag": '"one"'}))
    github.installation(7).read("/n/0")
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda n: github.installation(7).read(f"/n/{n % 9}"), range(80)))
    assert all(a.payload == {"ok": 1} for a in answers)
    assert scripted.tokens == 1


def test_pages_follow_only_the_query_of_a_link(scripted: Scripted, connection: Connection) -> None:
    link = '<http://evil.example/repositories/1/x?page=2&per_page=100&state=open>; rel="next"'
    scripted.on("GET", "/list$", Reply(json=[1], headers={"link": link}), Reply(json=[2]))
    pages = connection.pages("/list", {"state": "open"})
    assert [p.payload for p in pages] == [[1], [2]]
    assert [s.query for s in scripted.asked("GET")] == [
        {"state": "open", "per_page": "100"},
        {"state": "open", "per_page": "100", "page": "2"},
    ]


def test_a_list_without_an_end_ends(scripted: Scripted, connection: Connection) -> None:
    link = {"link": '</list?page=2>; rel="next"'}
    scripted.on("GET", "/list$", Reply(json=[], headers=link))
    with pytest.raises(RetryLater, match="without an end"):
        list(connection.pages("/list"))


def test_the_public_connection(scripted: Scripted) -> None:
    scripted.on("GET", THING, Reply(json={}))
    with public(scripted.url) as anonymous:
        anonymous.read("/thing")
    with public(scripted.url, "ghp_mine") as mine:
        mine.read("/thing")
    assert "authorization" not in scripted.seen[0].headers
    assert scripted.seen[1].headers["authorization"] == "Bearer ghp_mine"
