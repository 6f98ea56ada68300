"""Every payload that we know of, and any other JSON, becomes an event without an exception."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.events import (
    _COMMENTS,
    _TYPES,
    Acknowledged,
    CommentEvent,
    Event,
    InstallationEvent,
    PullRequestEvent,
    PushEvent,
    Unread,
    address,
    parse,
)
from app.core.text import BODY_LIMIT, TITLE_LIMIT
from tests.core.strategies import HOSTILE, hostile, json_values, shows
from tests.fakes.node import require_package

DATA = next(
    (d for p in Path(__file__).parents if (d := p / "shared" / "data" / "webhooks").is_dir()), None
)
KNOWN = _TYPES.keys() | _COMMENTS.keys()

WHEN = "2026-11-16T13:02:07Z"
BRANCH = {"ref": "main", "sha": "a" * 40}
PULL: dict[str, Any] = {
    "id": 1,
    "number": 5,
    "state": "open",
    "title": "t",
    "body": None,
    "user": None,
    "created_at": WHEN,
    "updated_at": WHEN,
    "head": {**BRANCH, "repo": None},
    "base": BRANCH,
}


def check(name: str, payload: Any) -> Event:
    """Parses a real payload; what its type and address must agree on is checked."""
    event, where = parse(name, payload), address(name, payload)
    assert event.name == name
    assert event.action == where.action == payload.get("action", "")
    assert event.installation_id == where.installation_id
    if name in KNOWN:
        assert not isinstance(event, Unread), event
        if "repository" in payload:
            assert event.repository
            assert event.repository.id == where.repository_id == payload["repository"]["id"]
    if name in _TYPES:
        assert type(event) is _TYPES[name]
    if isinstance(event, CommentEvent):
        assert event.number == where.pull_number is not None
    elif name in _COMMENTS:
        assert type(event) is Acknowledged
        assert "pull_request" not in payload["issue"]
    return event


def test_every_example_of_octokit_is_read() -> None:
    folder = require_package("@octokit/webhooks-examples")
    index = json.loads((folder / "api.github.com" / "index.json").read_text(encoding="utf-8"))
    types: Counter[str] = Counter()
    for event in index:
        for payload in event["examples"]:
            types[type(check(event["name"], payload)).__name__] += 1
    assert types.total() == 329
    # All that is unread are events that no type describes: `check` refuses any other.
    assert types["Unread"] == sum(len(e["examples"]) for e in index if e["name"] not in KNOWN)
    assert types["PullRequestEvent"] == 29
    assert types["CommentEvent"] == 9


def real_payloads(folder: Path) -> Iterator[tuple[str, Any]]:
    for path in sorted(folder.glob("*.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            if path.name.endswith(".jsonl.gz"):
                yield from ((row["event"], row["payload"]) for row in map(json.loads, file))
            else:
                yield from ((e["name"], p) for e in json.load(file) for p in e["examples"])
    for path in sorted(folder.glob("*.json")):
        name = next(n for n in ("pull_request", "push") if n in path.name)
        yield name, json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.skipif(DATA is None, reason="the folder of real payloads is not here")
def test_every_real_payload_is_read() -> None:
    assert DATA is not None
    assert sum(1 for name, payload in real_payloads(DATA) if check(name, payload)) >= 171


@given(st.sampled_from(sorted(KNOWN)) | hostile, json_values)
def test_any_name_and_any_json_give_an_event(name: str, payload: object) -> None:
    event = parse(name, payload)
    assert isinstance(event, Event)
    assert len(event.model_dump_json()) < 10_000_000
    address(name, payload)


# Payloads that come close: right names, any values.
near_account = st.fixed_dictionaries({"id": st.integers(), "login": hostile}) | json_values
near_pull = st.fixed_dictionaries(
    {name: st.just(value) | json_values for name, value in PULL.items()},
    optional={
        "draft": json_values,
        "labels": st.lists(st.fixed_dictionaries({"name": hostile}) | json_values, max_size=2)
        | json_values,
        "merged_at": st.just(WHEN) | json_values,
        "extra": json_values,
    },
)
near = st.fixed_dictionaries(
    {},
    optional={
        "action": hostile | json_values,
        "installation": st.fixed_dictionaries(
            {"id": st.integers()},
            optional={"permissions": st.dictionaries(hostile, hostile, max_size=2) | json_values},
        )
        | json_values,
        "repository": st.fixed_dictionaries(
            {"id": st.integers(), "name": hostile, "full_name": hostile}
        )
        | json_values,
        "sender": near_account,
        "pull_request": near_pull | json_values,
        "issue": json_values,
        "comment": json_values,
        "ref": hostile | json_values,
        "commits": st.lists(st.fixed_dictionaries({}, optional={"added": st.lists(hostile)}))
        | json_values,
        "number": json_values,
        "check_run": json_values,
        "name": json_values,
    },
)


@given(st.sampled_from(sorted(KNOWN)), near)
def test_payloads_that_nearly_fit_never_raise(name: str, payload: dict[str, Any]) -> None:
    event = parse(name, payload)
    # All text of an event is one that PostgreSQL and JSON can hold.
    stored = event.model_dump_json()
    stored.encode()
    assert "\\u0000" not in stored
    if isinstance(event, PullRequestEvent):
        assert event.pull_request.created_at.tzinfo is UTC


@given(hostile)
@example("\0" * 1_000_000 + "tail")
@example("a\0" * 500_000)
@example("\u202e" * 1_000_000)
@example("\ud800" * 1_000_000)
def test_hostile_text_comes_out_clean_and_bounded(value: str) -> None:
    pull = {
        **PULL,
        "title": value,
        "body": value,
        "head": {**BRANCH, "ref": value},
        "labels": [{"name": value}],
    }
    event = parse(
        "pull_request", {"action": value, "pull_request": pull, "sender": {"id": 1, "login": value}}
    )
    assert isinstance(event, PullRequestEvent)
    assert event.sender
    lines = [
        event.action,
        event.pull_request.title,
        event.pull_request.head.ref,
        event.sender.login,
    ]
    for line in [*lines, *(label.name for label in event.pull_request.labels)]:
        assert shows(line)
        assert len(line) <= TITLE_LIMIT
    assert len(event.pull_request.body) <= BODY_LIMIT
    event.pull_request.body.encode()
    assert "\0" not in event.pull_request.body


def test_nulls_where_values_are_promised_are_read_as_absent() -> None:
    pull = {
        **PULL,
        "draft": None,
        "locked": None,
        "labels": None,
        "author_association": None,
        "merged": None,
    }
    event = parse(
        "pull_request", {"action": None, "pull_request": pull, "sender": None, "repository": None}
    )
    assert isinstance(event, PullRequestEvent)
    assert event.pull_request.body == ""
    assert event.pull_request.user is None
    assert event.pull_request.head.repo is None
    assert event.pull_request.labels == ()


def test_a_null_where_nothing_can_stand_in_is_unread_and_says_so() -> None:
    event = parse("pull_request", {"pull_request": {**PULL, "head": None}})
    assert isinstance(event, Unread)
    assert event.problem == "pull_request.head: Field required"


def test_times_have_a_zone_always() -> None:
    event = parse("pull_request", {"pull_request": {**PULL, "created_at": "2026-11-16T13:00:00"}})
    assert isinstance(event, PullRequestEvent)
    assert event.pull_request.created_at == datetime(2026, 11, 16, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    "time",
    [
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00+10:00",
        "1989-12-31T23:59:59Z",
        "2201-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59-10:00",
    ],
)
@pytest.mark.parametrize("field", ["created_at", "updated_at", "merged_at"])
def test_times_near_the_ends_of_the_calendar_do_not_fit(field: str, time: str) -> None:
    event = parse("pull_request", {"pull_request": {**PULL, field: time}})
    assert isinstance(event, Unread)
    assert "years 1990 to 2200" in event.problem


def test_permissions_of_an_installation_are_clean_and_unix_times_read() -> None:
    body = {"id": 1, "permissions": {"che\0cks": "write\u202e"}, "created_at": 1557933591}
    event = parse("installation", {"action": "created", "installation": body})
    assert isinstance(event, InstallationEvent)
    assert event.installation.permissions == {"checks": "write"}
    assert event.installation.created_at == datetime(2019, 5, 15, 15, 19, 51, tzinfo=UTC)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 1.5, True, "5", None])
def test_a_number_that_is_no_id_is_no_address(number: object) -> None:
    assert address("pull_request", {"pull_request": {"number": number}}).pull_number is None


@pytest.mark.parametrize(
    ("push", "touched"),
    [
        ({"commits": [{"added": ["x"]}]}, True),
        ({"commits": [{"modified": ["y"], "removed": None}]}, False),
        ({"commits": [{"removed": ["x"]}]}, True),
        ({"commits": []}, True),
        ({"commits": [{}], "forced": True}, True),
        ({"commits": [{}] * 2048}, True),
    ],
)
def test_push_says_whether_it_may_touch_a_file(push: dict[str, Any], touched: bool) -> None:
    event = parse("push", {"ref": "refs/heads/main", **push})
    assert isinstance(event, PushEvent)
    assert event.touches("x") is touched


def test_payload_cannot_name_its_own_envelope() -> None:
    event = parse("ping", {"name": "other", "installation_id": 9, "action": "x"})
    assert (event.name, event.installation_id, event.action) == ("ping", None, "x")


def test_examples_are_hostile_enough() -> None:
    assert not all(shows(one) for one in HOSTILE)
