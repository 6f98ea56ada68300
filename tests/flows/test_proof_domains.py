"""The domain of a proven address: kept where the repository asks for it, while somebody needs it."""

from typing import Any

import pytest

from app.adapters.mail.lists import InstalledLists
from app.db import proof_domains, proofs
from tests.fakes.letters import SELECTOR, key
from tests.fakes.names import Names
from tests.flows.test_due_process import BURST, flood
from tests.flows.test_proving import BOX, account, confirm, mailed, standing, token_in, write


def kept(gate: Any) -> list[str]:
    with gate.database.begin() as tx:
        found = proof_domains.of_author(
            tx, gate.world.repository().id, account(gate).id, gate.clock()
        )
    return [one.domain for one in found]


def stored(gate: Any) -> str:
    tables = ("proofs", "proof_tokens", "proof_domains", "mails", "audit", "letters")
    return str([dict(row) for name in tables for row in gate.sql(f"SELECT * FROM {name}")])


def begin(gate: Any, asks: str = "proofs: {domain_days: 30}\n") -> list[int]:
    gate.world.clock = gate.clock
    gate.policy(BURST + asks)
    return flood(gate, size=1)


def test_it_is_kept_for_so_many_days_and_no_longer(gate: Any) -> None:
    begin(gate)
    assert confirm(gate, token_in(mailed(gate, "alice@cs.corp.example"))) == ""
    assert kept(gate) == ["corp.example"]
    assert "alice" not in stored(gate)
    assert "cs.corp" not in stored(gate)
    gate.clock.pass_(days=29)
    gate.sweep.forget()
    assert kept(gate) == ["corp.example"]
    gate.clock.pass_(days=2)
    assert kept(gate) == []
    gate.sweep.forget()
    assert "corp.example" not in stored(gate)


def test_by_a_letter_as_well(gate: Any) -> None:
    begin(gate)
    with Names({f"{SELECTOR}._domainkey.corp.example": key()[1]}) as names:
        token = gate.proving.letter_token(standing(gate), account(gate), shared=False)
        assert write(gate, names, BOX.address(token)) == "proven"
    assert kept(gate) == ["corp.example"]


def test_a_link_that_never_came_back_leaves_none(gate: Any) -> None:
    begin(gate)
    mailed(gate, "alice@corp.example")
    assert "corp.example" in stored(gate)
    gate.clock.pass_(hours=25)
    gate.sweep.forget()
    assert "corp.example" not in stored(gate)


@pytest.mark.parametrize("end", ["decided", "not asked for", "erased", "proven anew"])
def test_it_goes_as_soon_as_nobody_needs_it(gate: Any, end: str) -> None:
    numbers = begin(gate)
    confirm(gate, token_in(mailed(gate, "alice@corp.example")))
    for number in numbers if end == "decided" else ():
        gate.world.merge_pull(number, by="wendy")
    if end == "not asked for":
        gate.world.push_files({".github/pulsegate.yml": BURST}, by="olivia", repo="acme/widgets")
    if end == "erased":
        with gate.database.begin() as tx:
            proofs.erase(tx, account(gate).id)
    if end == "proven anew":
        confirm(gate, token_in(mailed(gate, "alice@corp.example")))
    gate.settle()
    gate.sweep.forget()
    again = 1 if end == "proven anew" else 0
    assert kept(gate) == ["corp.example"] * again
    assert len(gate.sql("SELECT 1 FROM proof_domains")) == again


def test_where_nobody_asks_none_is_kept(gate: Any) -> None:
    begin(gate, "")
    mail = mailed(gate, "alice@corp.example")
    assert "corp.example" not in stored(gate)
    confirm(gate, token_in(mail))
    assert "corp.example" not in stored(gate)
    assert InstalledLists().registrable("cs.corp.example") == "corp.example"
