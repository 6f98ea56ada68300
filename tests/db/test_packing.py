"""Payloads in the inbox: small, and read again whatever packed them."""

import hashlib
import json
import zlib
from math import inf
from pathlib import Path

import app.db.packing
from app.core.events import PullRequestEvent, parse
from app.db.packing import deflate, pack, unpack
from tests.fakes.github import GitHub


def test_what_was_packed_comes_back() -> None:
    for body in (b"", b"{}", "…\x00🙂".encode(), bytes(range(256)) * 1000):
        assert unpack(deflate(body)) == body


def test_what_was_deflated_before_there_was_a_dictionary_comes_back() -> None:
    assert unpack(zlib.compress(b'{"action":"opened"}', 1)) == b'{"action":"opened"}'


def test_a_delivery_takes_a_third_of_what_deflate_alone_would_take() -> None:
    with GitHub(judge=False) as github:
        github.world.hooks.stop()
        github.world.shapes.api, github.world.shapes.web = (
            "https://api.github.com",
            "https://github.com",
        )
        github.world.open_pull(by="stranger", title="Improve the parser", body="It was slow.")
        payload = github.world.hooks.deliveries[-1].payload
    body = json.dumps(payload, separators=(",", ":")).encode()
    kept = json.loads(unpack(pack(payload)))
    assert parse("pull_request", kept) == parse("pull_request", payload)
    assert isinstance(parse("pull_request", kept), PullRequestEvent)
    assert len(pack(payload)) < 0.35 * len(zlib.compress(body, 6))


def test_addresses_and_second_ids_are_left_out_and_the_rest_is_kept() -> None:
    payload = {"url": "a", "a_url": "b", "urls": "c", "list": [{"node_id": "d", "id": 1}], "n": inf}
    assert json.loads(unpack(pack(payload))) == {"urls": "c", "list": [{"id": 1}], "n": None}


def test_the_dictionary_never_changes() -> None:
    """Payloads of the last days could not be read any more; put a new one beside it."""
    file = Path(app.db.packing.__file__).with_name("packing.dictionary")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert digest == "84254706bb0063b12a92b9e814dc02a8263bbe1144a9b5247ca8905e964951d6"
