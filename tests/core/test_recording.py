"""The reader of recordings: whatever stands in a file, deliveries or a clear error come out."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import UserError
from app.core.events import parse
from app.core.facts import Role
from app.core.recording import LINE_LIMIT, RecordedDelivery, as_recorded, read

# Beside the repository, or beside the folder of its work trees.
DATA = next(
    (d for p in Path(__file__).parents if (d := p / "shared" / "data" / "webhooks").is_dir()), None
)
LINE = {"at": "2026-11-16T09:00:00Z", "event": "pull_request", "guid": "g-1", "payload": {"a": 1}}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
# JSON that comes close to what is expected, so that the later checks are reached too.
near = st.fixed_dictionaries(
    {},
    optional={
        "recording": st.just(1) | json_values,
        "note": st.text(max_size=5) | json_values,
        "roles": st.dictionaries(st.text(max_size=3), st.sampled_from(["write", "x"]))
        | json_values,
        "policies": json_values,
        "at": st.sampled_from(["2026-01-01T00:00:00", "0001-01-01T00:00:00+23:59", ""])
        | json_values,
        "event": st.sampled_from(["pull_request", "push", "\u202e", ""]) | json_values,
        "guid": st.text(max_size=5) | json_values,
        "payload": st.dictionaries(
            st.sampled_from(["pull_request", "installation", "head_commit"]),
            st.dictionaries(st.sampled_from(["updated_at", "timestamp", "id"]), json_values),
        )
        | json_values,
    },
)


def dump(*values: object) -> list[str]:
    return [json.dumps(value) for value in values]


def everything(lines: list[Any]) -> list[RecordedDelivery]:
    return list(read(lines)[1])


@given(
    st.lists(
        (near | json_values).map(json.dumps) | st.text(max_size=30) | st.binary(max_size=30),
        max_size=4,
    )
)
def test_any_line_gives_a_delivery_or_a_user_error(lines: list[str | bytes]) -> None:
    try:
        header, deliveries = read(lines)
        found = list(deliveries)
    except UserError as caught:
        error: UserError | None = caught
    else:
        error = None
        assert header.recording == 1
        for one in found:
            assert one.event
            assert one.guid
            assert one.at is None or one.at.tzinfo is UTC
            one.model_dump_json(exclude={"payload"}).encode()
    assert error is None or (error.message.startswith("line ") and error.hint)


def test_header_and_deliveries_are_read() -> None:
    head = {
        "recording": 1,
        "note": "a day",
        "roles": {"7": "maintain"},
        "policies": {"a/b": "version: 1"},
    }
    header, deliveries = read(["\ufeff" + json.dumps(head), "\n", *dump(LINE)])
    assert header.roles == {7: Role.MAINTAIN}
    assert header.policies == {"a/b": "version: 1"}
    assert list(deliveries) == [
        RecordedDelivery(
            at=datetime(2026, 11, 16, 9, tzinfo=UTC),
            event="pull_request",
            guid="g-1",
            payload={"a": 1},
        )
    ]


def test_header_may_be_absent_and_the_file_empty() -> None:
    assert [d.guid for d in everything(dump(LINE))] == ["g-1"]
    assert everything([]) == []
    assert everything(["", "\n", b" \n"]) == []


def test_deliveries_are_read_as_they_are_asked_for() -> None:
    _, deliveries = read([*dump(LINE), "broken"])
    assert next(deliveries).guid == "g-1"
    with pytest.raises(UserError, match=r"line 2 of the recording is not JSON"):
        next(deliveries)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[1]", "is not a JSON object"),
        ('{"event": "push"}', "payload: Field required"),
        ('{"event": "", "payload": {}}', "names no event"),
        ('{"event": "push", "payload": {}, "at": "tomorrow"}', "at: "),
        ('{"event": "push", "payload": NaN}', "is not JSON"),
        ('{"event": "push", "payload": {"a": "\\ud800"}}', "is not JSON"),
        ('{"event": "push", "payload": {"\\ud800": 1}}', "is not JSON"),
        ('{"event": "push", "payload": ' + '{"a":' * 240 + "1" + "}" * 241, "nested too deeply"),
        ('{"event": "push", "payload": ' + '{"a":' * 900 + "1" + "}" * 901, "nested too deeply"),
        ('{"event": "push", "payload": {"a": ' + "9" * 5000 + "}}", "is not JSON"),
        ('{"event": "push", "payload": {}, "at": "0001-01-01T00:00:00Z"}', "at: "),
        ('{"event": "push", "payload": {}, "at": "9999-12-31T23:59:59Z"}', "at: "),
        ('{"recording": 1}', "is a second header"),
        (b"\x1f\x8b\x08", "is not UTF-8"),
        ("[" * 200_000, "is nested too deeply"),
        ('{"a": "' + "x" * LINE_LIMIT + '"}', "is longer than 25 MB"),
    ],
)
def test_broken_line_is_named_with_what_to_do(line: str | bytes, problem: str) -> None:
    with pytest.raises(UserError) as caught:
        everything([*dump(LINE), "", line])
    assert caught.value.message.startswith("line 3 of the recording ")
    assert problem in caught.value.message
    assert len(caught.value.message) < 400
    assert caught.value.hint


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        ({"recording": 2}, "recording: "),
        ({"recording": True}, "recording: "),
        ({"recording": 1, "roles": {str(2**70): "admin"}}, "roles."),
        ({"recording": 1, "role": {}}, "role: "),
        ({"recording": 1, "roles": {"7": "boss"}}, "must be one of none, read, triage"),
        ({"recording": 1, "roles": {"octocat": "admin"}}, "roles.octocat"),
    ],
)
def test_broken_header_is_refused_at_once(head: object, problem: str) -> None:
    with pytest.raises(UserError, match="line 1 of the recording") as caught:
        read(dump(head, LINE))
    assert problem in caught.value.message


def test_digest_and_own_time_stand_in_for_what_is_missing() -> None:
    example = {"event": "issue_comment", "file": "x.json", "action": "created"}
    payload = {"comment": {"created_at": "2019-05-15T15:20:21+02:00"}}
    one, same, other = everything(
        dump(
            {**example, "payload": payload},
            {**example, "payload": payload},
            {**example, "payload": {}},
        )
    )
    assert one.at == datetime(2019, 5, 15, 13, 20, 21, tzinfo=UTC)
    assert len(one.guid) == 32
    assert one.guid == same.guid != other.guid
    assert other.at is None


def test_as_recorded_negates_what_names_a_live_place_and_nothing_else() -> None:
    payload = {
        "repository": {"id": 5, "owner": {"id": 6}},
        "installation": {"id": 7, "account": {"id": 6}},
        "repositories": [{"id": 5}, "odd"],
        "repositories_added": [{"id": 8}],
        "repositories_removed": [{"id": 9}],
        "pull_request": {"id": 10},
        "sender": {"id": 11},
    }
    before = json.dumps(payload)
    found = as_recorded(payload)
    assert found == {
        **payload,
        "repository": {"id": -5, "owner": {"id": 6}},
        "installation": {"id": -7, "account": {"id": 6}},
        "repositories": [{"id": -5}, "odd"],
        "repositories_added": [{"id": -8}],
        "repositories_removed": [{"id": -9}],
    }
    assert json.dumps(payload) == before
    assert as_recorded(found) == found


@given(
    st.dictionaries(st.sampled_from(["repository", "installation", "repositories"]), json_values)
)
def test_as_recorded_takes_any_payload_and_leaves_no_positive_id(payload: dict[str, Any]) -> None:
    found = as_recorded(payload)
    assert isinstance(found["installation"]["id"], int)
    assert found["installation"]["id"] <= 0
    event = parse("installation", found)
    assert (event.installation_id or -1) <= 0


def test_as_recorded_gives_an_installation_to_a_payload_without_one() -> None:
    assert as_recorded({})["installation"] == {"id": -1}
    assert as_recorded({"installation": {"id": None, "node_id": "x"}})["installation"]["id"] == -1


@pytest.mark.skipif(
    DATA is None, reason="the real payloads are never shipped; no folder of them is here"
)
def test_real_payloads_are_read() -> None:
    assert DATA is not None
    count = 0
    for path in sorted(DATA.glob("*.jsonl.gz")):
        with gzip.open(path, "rb") as lines:
            for one in read(lines)[1]:
                count += 1
                assert parse(one.event, as_recorded(one.payload)).installation_id is not None
                if one.event == "pull_request":
                    assert one.at is not None
    assert count >= 171


def test_a_change_is_of_the_recorded_repository_too() -> None:
    issue = {"repository_id": 7, "number": 2, "open": True}
    line = {
        "event": "pull_request",
        "payload": {
            "repository": {"id": 7},
            "pull_request": {"base": {"repo": {"id": 7}}, "head": {"repo": None}},
        },
        "change": {"head_sha": "a", "issues": [issue]},
    }
    _, deliveries = read([json.dumps(line)])
    (delivery,) = deliveries
    payload = as_recorded(delivery.payload)
    assert delivery.change is not None
    assert delivery.change.issues is not None
    ids = {payload["repository"]["id"], payload["pull_request"]["base"]["repo"]["id"]}
    assert ids == {delivery.change.issues[0].repository_id} == {-7}
    assert payload["pull_request"]["head"] == {"repo": None}


def test_a_change_that_does_not_fit_is_told_with_its_line() -> None:
    line = {"event": "pull_request", "payload": {}, "change": {"files": 5}}
    _, deliveries = read([json.dumps(line)])
    with pytest.raises(UserError, match=r"line 1 .*change"):
        next(deliveries)
