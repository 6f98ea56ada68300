"""Proof of life through the whole gate: given out, taken in, and what it opens."""

from collections.abc import Iterator
from typing import Any

import pytest

from app.adapters.mail.dns import Records
from app.adapters.mail.inbound import inbound
from app.adapters.mail.reading import read
from app.core.errors import UserError
from app.core.github import Account
from app.db import installations
from tests.fakes.letters import SELECTOR, key, signed, written
from tests.fakes.names import Names
from tests.flows.test_commands import labels, later, say
from tests.flows.test_due_process import BURST, flood

BOX = inbound("smtp://127.0.0.1:2525?domain=gate.example")
POLICY = BURST + "proofs: {per_domain: 2}\n"


@pytest.fixture
def names() -> Iterator[Names]:
    with Names({f"{SELECTOR}._domainkey.corp.example": key()[1]}) as names:
        yield names


def standing(gate: Any) -> Any:
    with gate.database.begin() as tx:
        return installations.standing(tx, gate.world.repository().id)


def account(gate: Any, login: str = "stranger") -> Account:
    user = gate.world.user(login)
    return Account(id=user.id, login=user.login)


def heard(gate: Any, rings: Any) -> None:
    for task, id_ in rings:
        gate.bell.ring(task, id_)
    gate.settle()


def mailed(gate: Any, typed: str, login: str = "stranger", *, shared: bool = False) -> Any:
    """The mail that somebody who asked for a link got; None for none."""
    before = len(gate.box)
    for id_ in gate.proving.ask_link(standing(gate), account(gate, login), typed, shared=shared):
        gate.bell.ring("mail", id_)
    gate.work()
    return gate.box[before] if len(gate.box) > before else None


def token_in(mail: Any) -> str:
    return str(mail.text.split("/verify/confirm/")[1].split()[0])


def confirm(gate: Any, token: str, login: str = "stranger") -> str:
    why, rings = gate.proving.confirm(account(gate, login), token)
    heard(gate, rings)
    return why


def write(gate: Any, names: Names, to: str, sender: str = "alice@corp.example") -> str:
    lookup = Records(("127.0.0.1", names.port))
    raw = signed(written(sender, to, at=gate.clock()))
    letter = read(raw, (to,), sender, lookup)
    outcome, rings = gate.proving.take_letter(letter, str(hash(raw)), BOX.token)
    heard(gate, rings)
    return str(outcome)


@pytest.fixture
def closed(gate: Any) -> list[int]:
    gate.world.clock = gate.clock
    gate.policy(POLICY)
    return flood(gate)


def states(gate: Any, numbers: list[int]) -> list[str]:
    return [gate.world.pull(n).state for n in numbers]


def test_the_comment_leads_to_the_page(gate: Any, closed: list[int]) -> None:
    bodies = " ".join(c.body for c in gate.world.pull(closed[0]).comments)
    assert f"https://gate.example/verify/acme/widgets/{closed[0]}" in bodies


def test_a_link_that_was_confirmed_opens_what_was_closed(gate: Any, closed: list[int]) -> None:
    mail = mailed(gate, "alice@corp.example")
    assert mail.to == "alice@corp.example"
    assert "stranger" in mail.text
    assert "<img" not in mail.html
    assert confirm(gate, token_in(mail)) == ""
    assert states(gate, closed) == ["open", "open"]
    assert "verified" in labels(gate, closed[0])
    assert "needs-verification" not in labels(gate, closed[0])
    assert "used already" in confirm(gate, token_in(mail))
    # Being somebody is no licence for the next flood.
    gate.clock.pass_(days=1)
    assert states(gate, flood(gate, size=3)) == ["closed"] * 3
    assert gate.sql("SELECT sealed FROM mails")[0]["sealed"] is None


def test_the_code_does_as_well_and_guessing_does_not(gate: Any, closed: list[int]) -> None:
    mail = mailed(gate, "alice@corp.example")
    code = next(word for word in mail.text.split() if len(word) == 8 and word.isdecimal())
    for _ in range(4):
        why, _ = gate.proving.confirm_code(standing(gate), account(gate), "00000000")
        assert "not the code" in why
    why, rings = gate.proving.confirm_code(standing(gate), account(gate), f" {code} ")
    heard(gate, rings)
    assert why == ""
    assert states(gate, closed) == ["open", "open"]


def test_after_five_wrong_codes_the_right_one_is_worth_nothing(
    gate: Any, closed: list[int]
) -> None:
    mail = mailed(gate, "alice@corp.example")
    code = next(word for word in mail.text.split() if len(word) == 8 and word.isdecimal())
    for _ in range(5):
        gate.proving.confirm_code(standing(gate), account(gate), "00000000")
    why, _ = gate.proving.confirm_code(standing(gate), account(gate), code)
    assert "too many" in why


def test_an_impostor_gets_nowhere(gate: Any, closed: list[int]) -> None:
    gate.world.add_user("mallory")
    mail = mailed(gate, "alice@corp.example")
    assert "somebody else's" in confirm(gate, token_in(mail), "mallory")
    assert states(gate, closed) == ["closed", "closed"]


def test_a_link_has_its_time_and_a_newer_one_takes_its_place(gate: Any, closed: list[int]) -> None:
    first, second = mailed(gate, "alice@corp.example"), mailed(gate, "alice@corp.example")
    assert "time is over" in confirm(gate, token_in(first))
    gate.clock.pass_(hours=25)
    assert "time is over" in confirm(gate, token_in(second))


def test_what_is_no_address_that_counts_is_told(gate: Any, closed: list[int]) -> None:
    with pytest.raises(UserError, match="Throw-away"):
        mailed(gate, "x@mailinator.com")
    with pytest.raises(UserError, match="no mail address"):
        mailed(gate, "=?utf-8?q?x?=@corp.example")


def test_a_mail_from_the_authors_own_address_proves_it(
    gate: Any, closed: list[int], names: Names
) -> None:
    token = gate.proving.letter_token(standing(gate), account(gate), shared=False)
    assert token == gate.proving.letter_token(standing(gate), account(gate), shared=False)
    assert write(gate, names, BOX.address(token)) == "proven"
    assert states(gate, closed) == ["open", "open"]
    assert "used already" in write(gate, names, BOX.address(token), "bob@corp.example")


def test_forged_and_repeated_mails_prove_nothing(
    gate: Any, closed: list[int], names: Names
) -> None:
    to = BOX.address(gate.proving.letter_token(standing(gate), account(gate), shared=False))
    lookup = Records(("127.0.0.1", names.port))
    raw = written("alice@corp.example", to, at=gate.clock())
    letter = read(raw, (to,), "alice@corp.example", lookup)
    outcome, rings = gate.proving.take_letter(letter, "same", BOX.token)
    assert (outcome, rings) == ("refused: it carries no DKIM signature", [])
    good = read(signed(raw), (to,), "alice@corp.example", lookup)
    assert gate.proving.take_letter(good, "same", BOX.token)[0] == "refused: it came before"
    assert states(gate, closed) == ["closed", "closed"]
    assert [r["outcome"] for r in gate.sql("SELECT outcome FROM letters")] == [outcome]


def test_one_address_proves_one_account_and_a_small_domain_a_few(
    gate: Any, closed: list[int]
) -> None:
    for n, (login, typed) in enumerate(
        [("one", "a@corp.example"), ("two", "b@corp.example"), ("three", "c@corp.example")]
    ):
        gate.world.add_user(login)
        mail = mailed(gate, typed, login)
        assert confirm(gate, token_in(mail), login) == (
            "" if n < 2 else "This domain proves as many accounts as it may."
        )
    mail = mailed(gate, "A+tag@corp.example")
    assert "This address proves" in confirm(gate, token_in(mail))


def test_an_alias_alone_is_not_enough(gate: Any, closed: list[int]) -> None:
    assert confirm(gate, token_in(mailed(gate, "x@duck.com"))) == ""
    assert states(gate, closed) == ["closed", "closed"]
    assert confirm(gate, token_in(mailed(gate, "x@gmail.com"))) == ""
    assert states(gate, closed) == ["open", "open"]


def test_it_counts_in_other_repositories_only_if_its_owner_agreed(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.world.installation.repositories = None
    gate.world.add_repository("acme/gadgets")
    gate.policy(POLICY)
    gate.world.push_files({".github/pulsegate.yml": POLICY}, by="olivia", repo="acme/gadgets")
    flood(gate)
    there = [
        gate.world.open_pull(by="stranger", repo="acme/gadgets", files=("a.py",)).number
        for _ in range(2)
    ]
    gate.settle()
    pulls = gate.world.repository("acme/gadgets").pulls
    assert confirm(gate, token_in(mailed(gate, "a@corp.example"))) == ""
    assert [pulls[n].state for n in there] == ["closed", "closed"]
    assert confirm(gate, token_in(mailed(gate, "a@corp.example", shared=True))) == ""
    assert [pulls[n].state for n in there] == ["open", "open"]


def test_it_ends_after_its_time(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy("version: 1\nmode: ask\nproofs: {days: 30}\n")
    one = flood(gate, size=1)[0]
    confirm(gate, token_in(mailed(gate, "alice@corp.example")))
    say(gate, one, "/pulse verify @stranger for 90d")
    assert gate.state(one) == "clear"
    gate.clock.pass_(days=31)
    gate.world.push(one, by="stranger")
    gate.settle()
    assert gate.state(one) == "flagged"
    gate.clock.pass_(days=31)
    gate.sweep.forget()
    assert gate.sql("SELECT 1 FROM proofs") == []
    assert gate.sql("SELECT 1 FROM proof_tokens") == []


def test_only_hashes_are_kept(gate: Any, closed: list[int]) -> None:
    confirm(gate, token_in(mailed(gate, "alice@corp.example")))
    for table in ("proofs", "proof_tokens", "mails", "audit"):
        rows = str([dict(r) for r in gate.sql(f"SELECT * FROM {table}")])
        assert "alice" not in rows, table
        assert "corp.example" not in rows, table


def test_a_mail_whose_bell_was_lost_is_sent_all_the_same(gate: Any, closed: list[int]) -> None:
    gate.proving.ask_link(standing(gate), account(gate), "alice@corp.example", shared=False)
    later(gate, minutes=2)
    assert len(gate.box) == 1
    later(gate, minutes=20)
    assert len(gate.box) == 1
