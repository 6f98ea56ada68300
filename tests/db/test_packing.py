"""Payloads in the inbox: small, and read again whatever packed them."""

import hashlib
import json
import zlib
from pathlib import Path

import app.db.packing
from app.db.packing import pack, unpack
from tests.fakes.github import GitHub


def test_what_was_packed_comes_back() -> None:
    for body in (b"", b"{}", "…\x00🙂".encode(), bytes(range(256)) * 1000):
        assert unpack(pack(body)) == body


def test_what_was_deflated_before_there_was_a_dictionary_comes_back() -> None:
    assert unpack(zlib.compress(b'{"action":"opened"}', 1)) == b'{"action":"opened"}'


def test_a_delivery_takes_little_more_than_half_of_what_it_did_without() -> None:
    with GitHub(judge=False) as github:
        github.world.hooks.stop()
        github.world.shapes.api, github.world.shapes.web = (
            "https://api.github.com",
            "https://github.com",
        )
        github.world.open_pull(by="stranger", title="Improve the parser", body="It was slow.")
        payload = github.world.hooks.deliveries[-1].payload
    body = json.dumps(payload, separators=(",", ":")).encode()
    assert json.loads(unpack(pack(body)))["action"] == "opened"
    assert len(pack(body)) < 0.65 * len(zlib.compress(body, 6))


def test_the_dictionary_never_changes() -> None:
    """Payloads of the last days could not be read any more; put a new one beside it."""
    file = Path(app.db.packing.__file__).with_name("packing.dictionary")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert digest == "84254706bb0063b12a92b9e814dc02a8263bbe1144a9b5247ca8905e964951d6"
