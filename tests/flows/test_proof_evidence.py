"""What is looked up beside a proof: SPF, which refuses nobody, and whether a domain takes mail."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text

from app.adapters.mail.dns import Records
from app.adapters.mail.lists import InstalledLists
from app.adapters.mail.reading import read
from app.core.errors import UserError
from app.core.proofs.letters import Accepted, judge
from app.db import proofs
from tests.fakes.letters import SELECTOR, key, signed, written
from tests.fakes.names import Names
from tests.flows.test_due_process import flood
from tests.flows.test_proving import BOX, POLICY, account, heard, standing, states


@pytest.fixture
def names() -> Iterator[Names]:
    with Names(
        {f"{SELECTOR}._domainkey.corp.example": key()[1]},
        {("corp.example", "MX"): ["10 mx.corp.example."], ("null.example", "MX"): ["0 ."]},
    ) as names:
        yield names


@pytest.fixture
def closed(gate: Any) -> list[int]:
    gate.world.clock = gate.clock
    gate.policy(POLICY)
    return flood(gate)


def kept(gate: Any) -> list[str]:
    here = gate.world.repository()
    with gate.database.begin() as tx:
        found = proofs.of_account(
            tx, account(gate).id, standing(gate).repository.installation_id, here.id, gate.clock()
        )
    return [one.spf for one in found]


@pytest.mark.parametrize(
    ("behind", "envelope", "spf", "shown"),
    [
        ("", "alice@corp.example", "fail", "fail"),
        ("", "bounce@sender.example", "pass", "pass, of another domain"),
        # The mail server in front saw who brought it; what our own peer is says nothing.
        ("mx.gate.example", "alice@corp.example", "fail", "softfail"),
    ],
)
def test_spf_is_shown_and_refuses_nobody(
    gate: Any, closed: list[int], names: Names, behind: str, envelope: str, spf: str, shown: str
) -> None:
    to = BOX.address(gate.proving.letter_token(standing(gate), account(gate), shared=False))
    header = b"Authentication-Results: mx.gate.example; spf=softfail smtp.mailfrom=corp.example\r\n"
    raw = header + signed(written("alice@corp.example", to, at=gate.clock()))
    lookup = Records(("127.0.0.1", names.port))
    letter = read(raw, (to,), envelope, lookup, spf=spf, behind=behind)
    outcome, rings = gate.proving.take_letter(letter, "digest", BOX.token)
    heard(gate, rings)
    assert outcome == "proven"
    assert set(states(gate, closed)) == {"open"}
    assert kept(gate) == [shown]
    with gate.engine.connect() as tx:
        [detail] = tx.execute(text("SELECT detail FROM audit WHERE act = 'proof.given'")).scalars()
    assert detail.get("spf", "") == shown


@pytest.mark.parametrize(
    ("behind", "envelope", "spf", "shown"),
    [
        ("", "alice@corp.example", "pass", "pass"),
        ("", "alice@corp.example", "temperror", "temperror"),
        ("", "alice@corp.example", "", ""),
        ("", "alice@bounces.corp.example", "pass", "pass"),
        ("", "nowhere", "pass", "pass, of another domain"),
        ("other.gate.example", "alice@corp.example", "fail", ""),
    ],
)
def test_what_spf_says_and_of_whom(
    names: Names, behind: str, envelope: str, spf: str, shown: str
) -> None:
    header = b"Authentication-Results: mx.gate.example; spf=softfail smtp.mailfrom=corp.example\r\n"
    lookup = Records(("127.0.0.1", names.port))
    raw = header + signed(written())
    letter = read(raw, ("token@gate.example",), envelope, lookup, spf=spf, behind=behind)
    found = judge(letter, datetime.now(UTC), BOX.token, InstalledLists().registrable)
    assert isinstance(found, Accepted)
    assert found.spf == shown


@pytest.mark.parametrize("word", ["bogus", "pass" * 50])
def test_a_word_that_spf_does_not_know_is_not_shown(word: str, names: Names) -> None:
    raw = f"Authentication-Results: mx.gate.example; spf={word}\r\n".encode() + written()
    letter = read(raw, (), "", Records(("127.0.0.1", names.port)), behind="mx.gate.example")
    assert letter.spf == ""


def test_spf_alone_proves_nothing(gate: Any, closed: list[int], names: Names) -> None:
    to = BOX.address(gate.proving.letter_token(standing(gate), account(gate), shared=False))
    raw = written("alice@corp.example", to, at=gate.clock())
    lookup = Records(("127.0.0.1", names.port))
    letter = read(raw, (to,), "alice@corp.example", lookup, spf="pass")
    outcome, rings = gate.proving.take_letter(letter, "digest", BOX.token)
    assert (outcome.startswith("refused"), rings) == (True, [])


def asking(gate: Any, names: Names, typed: str) -> int:
    """How many mails are sent where somebody asks for a link to an address."""
    lookup = Records(("127.0.0.1", names.port))
    asked = replace(gate.proving, takes_mail=lambda domain: lookup.takes_mail(domain, 0.3))
    return len(asked.ask_link(standing(gate), account(gate), typed, shared=False))


def test_a_domain_that_takes_no_mail_is_told_before_one_is_wasted(
    gate: Any, closed: list[int], names: Names
) -> None:
    assert asking(gate, names, "alice@corp.example") == 1
    for typed in ("alice@crop.example", "alice@null.example"):
        with pytest.raises(UserError, match="takes no mail") as error:
            asking(gate, names, typed)
        assert "spelled" in error.value.hint
    with gate.engine.connect() as tx:
        assert tx.execute(text("SELECT count(*) FROM mails")).scalar_one() == 1


def test_a_silent_name_server_is_held_against_nobody(
    gate: Any, closed: list[int], names: Names
) -> None:
    names.silent.add("corp.example")
    names.failing.add("crop.example")
    assert asking(gate, names, "alice@corp.example") == 1
    assert asking(gate, names, "alice@crop.example") == 1
