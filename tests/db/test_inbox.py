"""The inbox on a real PostgreSQL: payloads come, are read and go."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, text

from app.core.events import Address, Unread
from app.db import inbox
from app.db.packing import deflate
from app.flows.evidence import event_of

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
WHERE = Address(action="opened", installation_id=1, repository_id=2, pull_number=3)


def _add(tx: Any, key: str, a: int = 1) -> int | None:
    return inbox.add(
        tx, source="github", key=key, event="pull_request", payload={"a": a}, address=WHERE, now=NOW
    )


def _payloads(engine: Engine) -> int:
    with engine.begin() as tx:
        return int(tx.execute(text("SELECT count(*) FROM payloads")).scalar_one())


def test_the_same_stimulus_is_stored_once_with_its_first_payload(engine: Engine) -> None:
    with engine.begin() as tx:
        first = _add(tx, "one")
        assert first is not None
        assert _add(tx, "one", 2) is None
        [row] = inbox.pending_of_pull(tx, 2, 3, NOW)
        assert (row.id, row.payload) == (first, {"a": 1})
        one = inbox.pending(tx, first, NOW)
        assert one is not None
        assert one.payload == {"a": 1}
    assert _payloads(engine) == 1


def test_payloads_go_a_while_after_they_were_handled_and_rows_stay(engine: Engine) -> None:
    with engine.begin() as tx:
        old, young, waiting = (_add(tx, key) for key in ("old", "young", "waiting"))
        assert old
        assert young
        assert waiting
        inbox.handled(tx, [old], "noted", NOW)
        inbox.handled(tx, [young], "noted", NOW + timedelta(days=2))
    with engine.begin() as tx:
        assert inbox.forget_payloads(tx, NOW + timedelta(days=1)) == 1
        assert inbox.forget_payloads(tx, NOW + timedelta(days=1)) == 0
        kept = tx.execute(text("SELECT inbox_id FROM payloads ORDER BY 1")).scalars().all()
        assert list(kept) == [young, waiting]
        assert tx.execute(text("SELECT count(*) FROM inbox")).scalar_one() == 3


def test_the_room_of_forgotten_payloads_goes_back_to_the_disk(engine: Engine) -> None:
    body = bytes(range(33, 91)) * 20  # packs badly enough to fill pages
    with engine.begin() as tx:
        for n in range(200):
            made = _add(tx, str(n), body + str(n).encode())
            assert made
            inbox.handled(tx, [made], "noted", NOW)
    full = _size(engine)
    with engine.begin() as tx:
        assert inbox.forget_payloads(tx, NOW + timedelta(days=1)) == 200
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as tx:
        tx.execute(text("VACUUM payloads"))
    assert full > 0
    assert _size(engine) == 0


def _size(engine: Engine) -> int:
    with engine.begin() as tx:
        return int(tx.execute(text("SELECT pg_relation_size('payloads')")).scalar_one())


@pytest.mark.parametrize(
    "packed",
    [
        deflate(b'{"a":' * 240 + b"1" + b"}" * 240),
        deflate(b'{"a": "\\ud800"}'),
        deflate(b"not JSON"),
        b"never packed",
    ],
    ids=["deep", "surrogate", "words", "damaged"],
)
def test_a_row_whose_payload_cannot_be_decoded_comes_out_with_the_reason(
    engine: Engine, packed: bytes
) -> None:
    with engine.begin() as tx:
        made = _add(tx, "one")
        assert made is not None
        tx.execute(text("UPDATE payloads SET body = :packed"), {"packed": packed})
        [row] = inbox.pending_of_pull(tx, 2, 3, NOW)
        assert row == inbox.pending(tx, made, NOW)
    assert row.payload is None
    assert row.problem.startswith("the stored payload cannot be decoded: ")
    event = event_of(row)
    assert isinstance(event, Unread)
    assert event.problem == row.problem
