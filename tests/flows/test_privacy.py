"""What is kept of an account is shown whole, and erased whole."""

import json
from datetime import timedelta
from typing import Any

import pytest

from app.core.privacy import CLASSES
from app.db import account_notes, personal
from app.db.packing import unpack
from app.db.tables import metadata
from tests.flows.test_campaigns import similar
from tests.flows.test_commands import later, say
from tests.flows.test_proving import account, confirm, mailed, token_in

LOGIN = "persephone"  # a word that stands nowhere else
POLICY = (
    "version: 1\nmode: close\nrules: {cap: {mode: close, open: 1, grace_hours: 0}}\n"
    "appeals: {hours: 48}\nproofs: {domain_days: 30}\n"
)


def everything(gate: Any) -> dict[str, str]:
    """All rows of each table, as text; payloads unpacked."""
    found = {}
    for table in metadata.sorted_tables:
        rows = gate.sql(f'SELECT t::text AS row FROM "{table.name}" t')
        found[table.name] = "\n".join(row["row"] for row in rows)
    bodies = [unpack(bytes(row["body"])) for row in gate.sql("SELECT body FROM payloads")]
    found["payloads"] = b"\n".join(bodies).decode()
    return found


def naming(gate: Any, id_: int) -> set[str]:
    """The tables in which the account stands, by id or login."""
    return {
        name
        for name, text in everything(gate).items()
        if str(id_) in text or LOGIN in text.casefold()
    }


@pytest.fixture
def person(gate: Any) -> int:
    """An account of which there is something of nearly everything."""
    gate.world.clock = gate.clock
    gate.policy(POLICY)
    gate.world.add_user(LOGIN)
    first, second = (
        int(gate.world.open_pull(by=LOGIN, title=f"{LOGIN}'s change {n}").number) for n in range(2)
    )
    gate.settle()
    assert gate.world.pull(second).state == "closed"
    say(gate, second, f"/pulse appeal it is {LOGIN}'s own work", by=LOGIN)
    say(gate, first, "What is it for?", by="wendy")
    say(gate, first, "For the tests.", by=LOGIN)
    confirm(gate, token_in(mailed(gate, f"{LOGIN}@{LOGIN}.example", LOGIN)), LOGIN)
    say(gate, first, f"/pulse vouch @{LOGIN} because {LOGIN} is known")
    similar(gate, ["one", "two", LOGIN])
    id_ = int(gate.world.users[LOGIN].id)
    here, now = gate.world.repository().id, gate.clock()
    with gate.database.begin() as tx:
        account_notes.add(tx, here, id_, f"watch {LOGIN}", account(gate, "wendy"), now)
        personal.state(tx, id_, f"I am {LOGIN}", now)
    return id_


def _close_all(gate: Any) -> None:
    for pull in list(gate.world.repository().pulls.values()):
        if pull.state == "open" and pull.user.login == LOGIN:
            gate.world.merge_pull(pull.number, by="wendy")
    gate.settle()


def test_all_that_names_an_account_is_in_its_export(gate: Any, person: int) -> None:
    with gate.database.begin() as tx:
        found = personal.export(tx, person)
        counts = personal.counts(tx, person)
    filled = {t for tables in found.values() for t, rows in tables.items() if rows}
    # Deliveries, limits and notes are not shown; the texts say so.
    assert naming(gate, person) <= filled | {"payloads", "account_notes", "inbox", "campaigns"}
    assert {"cases", "decisions", "appeals", "proofs", "mails", "trust", "hands"} <= filled
    assert {"account_activity", "proof_domains", "audit", "statements", "likenesses"} <= filled
    assert {n: sum(len(r) for r in t.values()) for n, t in found.items()} == counts
    told = json.dumps(found, default=str)
    assert f"I am {LOGIN}" in told
    assert f"watch {LOGIN}" not in told
    for hidden in ("token_hash", "address_hash", "domain_hash", "muted", "last_error"):
        assert hidden not in told
    assert '"PullRequestEvent opened"' in told
    with gate.database.begin() as tx:
        nobody = personal.export(tx, person + 1)
    assert all(not rows for tables in nobody.values() for rows in tables.values())


def test_what_has_ended_is_erased_and_the_rest_once_it_ends(gate: Any, person: int) -> None:
    with gate.database.begin() as tx:
        personal.erase(tx, person, gate.clock())
    # An open pull request is still being decided on.
    assert "cases" in naming(gate, person)
    assert not {"proofs", "mails", "trust", "statements", "pseudonyms"} & naming(gate, person)
    _close_all(gate)
    gate.clock.pass_(days=29)
    gate.sweep.forget()
    assert "cases" in naming(gate, person)
    gate.clock.pass_(days=2)
    gate.sweep.forget()
    # What is open for appeal is kept until the appeal has ended.
    later(gate, hours=1)
    gate.sweep.forget()
    assert naming(gate, person) == {"account_notes"}
    assert gate.sql("SELECT count(*) AS n FROM rule_acts")[0]["n"] > 0
    for page in ("cases", "decisions"):
        assert gate.sql(f"SELECT 1 FROM {page}")  # those of others stay


def test_a_flood_does_not_wipe_itself_out(gate: Any, person: int) -> None:
    _close_all(gate)
    with gate.database.begin() as tx:
        personal.erase(tx, person, gate.clock())
        before = personal.counts(tx, person)["pull_requests"]
    assert before > 0


def test_who_comes_again_starts_anew(gate: Any, person: int) -> None:
    _close_all(gate)
    gate.clock.pass_(days=31)
    with gate.database.begin() as tx:
        personal.erase(tx, person, gate.clock())
        assert personal.counts(tx, person)["pull_requests"] == 0
    number = gate.world.open_pull(by=LOGIN, title="Once more").number
    gate.settle()
    assert gate.state(number) == "clear"
    # What was erased can still be spoken on, and is read anew as GitHub has it then.
    old = min(n for n, p in gate.world.repository().pulls.items() if p.user.login == LOGIN)
    say(gate, old, "Thanks.", by="wendy")
    gate.sweep.forget()
    assert gate.state(number) == "clear"


def test_a_denial_stays_until_it_ends(gate: Any, person: int) -> None:
    say(gate, 1, f"/pulse deny @{LOGIN} for 30d because of spam", by="tom")
    _close_all(gate)
    with gate.database.begin() as tx:
        personal.erase(tx, person, gate.clock())
        (row,) = personal.export(tx, person)["words"]["trust"]
    assert row["kind"] == "denied"
    assert "by_login" not in row
    assert gate.world.open_pull(by=LOGIN, title="Again").number
    gate.settle()
    gate.clock.pass_(days=31)
    with gate.database.begin() as tx:
        personal.erase(tx, person, gate.clock())
        assert personal.export(tx, person)["words"]["trust"] == []


BRIEF = ("permissions", "account_activity", "proof_tries", "payloads", "mails", "likenesses")


def test_the_sweeper_deletes_what_is_past_its_time(gate: Any, person: int) -> None:
    spans = {table: one for one in CLASSES.values() for table in one.tables}
    filled = {table for table, rows in everything(gate).items() if rows}
    assert set(BRIEF) - {"mails"} <= filled
    ends = {table: one.keep for table, one in spans.items() if one.keep}
    for keep in sorted({ends[table] for table in filled & set(BRIEF)}):
        these = {table for table in filled & set(BRIEF) if ends[table] == keep}
        assert all(everything(gate)[table] for table in these), these
        # Measured from the time of the rows, which the fixture made within the last half hour.
        gate.clock.ahead = max(gate.clock.ahead, keep + timedelta(hours=1))
        gate.sweep.forget()
        assert not any(everything(gate)[table] for table in these), these
    gate.clock.pass_(days=300)  # proofs hold for half a year before they end
    gate.sweep.forget()
    left = {table for table, rows in everything(gate).items() if rows}
    assert not {"proofs", "proof_tokens", "proof_domains", "letters", "sessions"} & left
    assert {"cases", "decisions", "trust", "audit"} <= left
