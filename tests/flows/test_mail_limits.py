"""How often a mail may be asked for and a code typed, and what waits for the next day's budget."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Engine, event

from app.core.errors import Rejected, RetryLater, UserError
from app.core.proofs.bounces import PREFIX, Report, Result, reference
from app.db import mails, proofs, usage
from app.flows.bouncing import Bouncing
from tests.flows.test_commands import later, say
from tests.flows.test_due_process import BURST, flood
from tests.flows.test_proving import BOX, account, confirm, mailed, standing, token_in
from tests.flows.test_spending import _to_morning

ALICE = "alice@corp.example"


@pytest.fixture
def began(gate: Any) -> list[int]:
    """A pull request of `stranger`; ten in the morning, so that no day ends within a test."""
    _to_morning(gate)
    gate.world.clock = gate.clock
    gate.policy(BURST)
    return flood(gate, size=1)


def ask(gate: Any, typed: str, login: str = "stranger", network: str = "") -> list[int]:
    """The rows of an ask; nothing is carried out."""
    return list(
        gate.proving.ask_link(
            standing(gate), account(gate, login), typed, shared=False, network=network
        )
    )


def code_in(mail: Any) -> str:
    return next(word for word in mail.text.split() if len(word) == 8 and word.isdecimal())


def typed(gate: Any, code: str, login: str = "stranger", network: str = "") -> str:
    why, _ = gate.proving.confirm_code(standing(gate), account(gate, login), code, network)
    return str(why)


def test_a_person_gets_a_few_mails_and_is_told_when_there_will_be_more(
    gate: Any, began: list[int]
) -> None:
    for n in range(4):
        assert mailed(gate, f"a{n}@corp.example")
    with pytest.raises(UserError, match="Many mails") as error:
        mailed(gate, "b@corp.example")
    ends = gate.clock().replace(second=0)
    assert f"Wait until {ends:%Y-%m-%d %H:}" in error.value.hint
    for _ in range(6):
        gate.clock.pass_(minutes=11)
        ask(gate, "c@corp.example")
    gate.clock.pass_(minutes=11)
    with pytest.raises(UserError, match="Many mails"):
        mailed(gate, "d@corp.example")
    # Who erases what is kept of them does not begin anew.
    with gate.database.begin() as tx:
        proofs.erase(tx, account(gate).id)
    with pytest.raises(UserError, match="Many mails"):
        mailed(gate, "d@corp.example")
    gate.clock.pass_(days=1)
    assert mailed(gate, "d@corp.example")
    gate.clock.pass_(days=2)
    gate.sweep.forget()
    assert gate.sql("SELECT 1 FROM proof_tries") == []


def test_an_address_that_got_its_mails_gets_no_more_and_nobody_can_tell(
    gate: Any, began: list[int]
) -> None:
    """Whoever asks sees the same rows, the same work, and the same answer."""
    for login in ("one", "two"):
        gate.world.add_user(login)
        mailed(gate, ALICE, login)
    assert mailed(gate, "A.lice+tag@corp.example") is not None  # another address there
    assert mailed(gate, "Alice+tag@corp.example") is not None  # the same one in another spelling
    before = len(gate.box)
    [muted] = ask(gate, ALICE)
    [fresh] = ask(gate, "bob@corp.example")
    rows = {row["id"]: dict(row) for row in gate.sql("SELECT * FROM mails")}
    assert (rows[muted]["muted"], rows[fresh]["muted"]) == (True, False)
    told = ("held_until", "failure", "attempts", "last_error", "sent_at", "tier")
    assert [rows[muted][n] for n in told] == [rows[fresh][n] for n in told]
    gate.mailing.run(muted)
    gate.mailing.run(fresh)
    assert len(gate.box) == before + 1
    assert gate.box[-1].to == "bob@corp.example"
    # That one was replaced by the mail to Bob. Alone it ends like any other.
    gate.clock.pass_(minutes=15)
    [muted] = ask(gate, ALICE)
    gate.mailing.run(muted)
    assert len(gate.box) == before + 1
    [row] = gate.sql("SELECT * FROM mails WHERE id = :a", a=muted)
    assert (row["sent_at"] is None, row["sealed"], row["failure"]) == (False, None, None)
    # The next hour she gets some again.
    gate.clock.pass_(hours=1)
    assert mailed(gate, ALICE) is not None


def test_known_full_and_fresh_addresses_take_the_same_work(gate: Any, began: list[int]) -> None:
    """What could be timed are the questions to the database: there are as many, and the same ones."""
    asked: list[str] = []

    def note(_c: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        asked.append(statement)

    event.listen(Engine, "before_cursor_execute", note)

    def work(typed: str, login: str) -> list[str]:
        gate.world.add_user(login)
        here, who = standing(gate), account(gate, login)
        asked.clear()
        gate.proving.ask_link(here, who, typed, shared=False, network="192.0.2.7")
        return list(asked)

    try:
        confirm(gate, token_in(mailed(gate, "known@corp.example")))
        fresh = work("fresh@corp.example", "one")
        assert work("known@corp.example", "two") == fresh
        for n in range(3):
            work("full@corp.example", f"more{n}")
        full = work("full@corp.example", "three")
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert gate.sql("SELECT muted FROM mails ORDER BY id DESC LIMIT 1")[0]["muted"]
    # One row fewer is counted within the same statement.
    assert [s.partition("(")[0] for s in full] == [s.partition("(")[0] for s in fresh]


def test_who_asks_many_times_at_once_gets_no_more(gate: Any, began: list[int]) -> None:
    def one(n: int) -> bool:
        try:
            return bool(ask(gate, f"a{n}@corp.example"))
        except UserError:
            return False

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(one, range(12))) == 4


def test_who_types_many_codes_at_once_has_no_more_attempts(gate: Any, began: list[int]) -> None:
    mailed(gate, ALICE)
    with ThreadPoolExecutor(6) as pool:
        said = list(pool.map(lambda n: typed(gate, f"{n:08}"), range(12)))
    assert sum("not the code" in one for one in said) == 5
    assert sum("too many wrong attempts" in one for one in said) == 7


def test_a_network_is_limited_whoever_asks_from_it(gate: Any, began: list[int]) -> None:
    for n in range(20):
        gate.world.add_user(f"user{n}")
        ask(gate, f"a{n}@corp{n}.example", f"user{n}", network="192.0.2.7")
    gate.world.add_user("late")
    with pytest.raises(UserError, match="from where you are"):
        ask(gate, "late@corp.example", "late", network="192.0.2.7")
    assert ask(gate, "late@corp.example", "late", network="192.0.2.8")
    for table in ("proof_tries", "mails", "proof_tokens"):
        assert "192.0.2" not in str([dict(row) for row in gate.sql(f"SELECT * FROM {table}")])


def test_wrong_codes_are_limited_over_all_mails_and_the_link_still_counts(
    gate: Any, began: list[int]
) -> None:
    for n in range(4):
        mail = mailed(gate, ALICE)
        for _ in range(5):
            assert "not the code" in typed(gate, "00000000")
        assert "too many wrong" in typed(gate, code_in(mail)), n
        gate.clock.pass_(minutes=25)
    mail = mailed(gate, ALICE)
    assert "too many wrong codes" in typed(gate, code_in(mail))
    assert confirm(gate, token_in(mail)) == ""


def test_wrong_codes_are_limited_for_a_network(gate: Any, began: list[int]) -> None:
    logins = [f"user{n}" for n in range(21)]
    for n, login in enumerate(logins[:20]):
        gate.world.add_user(login)
        mailed(gate, f"a{n}@corp{n}.example", login)
        for _ in range(5):
            assert "not the code" in typed(gate, "00000000", login, "192.0.2.7")
    gate.world.add_user(logins[20])
    mail = mailed(gate, "z@corpz.example", logins[20])
    assert "too many wrong codes" in typed(gate, code_in(mail), logins[20], "192.0.2.7")
    assert typed(gate, code_in(mail), logins[20], "192.0.2.8") == ""


def test_limits_are_told_in_the_repositorys_language(gate: Any) -> None:
    _to_morning(gate)
    gate.world.clock = gate.clock
    gate.policy(BURST + "language: zh-CN\n")
    flood(gate, size=1)
    for n in range(4):
        ask(gate, f"a{n}@corp.example")
    with pytest.raises(UserError, match="请求了很多邮件"):
        ask(gate, "b@corp.example")


BUDGET = BURST + "budgets: {mails: {newcomer: 1, known: 0}}\n"


MAILS_SPENT = "SELECT used FROM usage WHERE resource = 'mails'"


def spent(gate: Any) -> int:
    with gate.database.begin() as tx:
        here = gate.world.repository().id
        return usage.used(tx, here, "mails", "newcomer", gate.clock())


@pytest.fixture
def short(gate: Any) -> list[int]:
    _to_morning(gate)
    gate.world.clock = gate.clock
    gate.policy(BUDGET)
    for login in ("one", "two"):
        gate.world.add_user(login)
    return flood(gate, size=1)


def last(gate: Any, login: str = "stranger") -> Any:
    with gate.database.begin() as tx:
        since = gate.clock().replace(year=2000)
        return mails.last(tx, account(gate, login).id, gate.world.repository().id, since)


def test_mails_over_the_budget_wait_for_the_next_day_and_say_so(
    gate: Any, short: list[int]
) -> None:
    assert mailed(gate, ALICE, "one") is not None
    assert (spent(gate), last(gate, "one").held_until) == (1, None)
    assert mailed(gate, "bob@corp.example") is None
    midnight = last(gate).held_until
    assert f"{midnight:%H:%M}" == "00:00"
    later(gate, hours=13)
    assert len(gate.box) == 1
    later(gate, hours=2)
    [_, mail] = gate.box
    assert mail.to == "bob@corp.example"
    assert (spent(gate), last(gate).held_until) == (1, None)
    # A day from then, and not from when it was asked for.
    gate.clock.pass_(hours=22)
    assert confirm(gate, token_in(mail)) == ""


def test_of_many_that_wait_each_day_sends_its_own(gate: Any, short: list[int]) -> None:
    mailed(gate, ALICE)
    ask(gate, "b@corp.example", "one")
    ask(gate, "c@corp.example", "two")
    for day in (2, 3):
        later(gate, hours=24)
        assert len(gate.box) == day
    assert {mail.to for mail in gate.box[1:]} == {"b@corp.example", "c@corp.example"}
    assert confirm(gate, token_in(gate.box[2]), "two" if "c@" in gate.box[2].to else "one") == ""


def test_whom_a_maintainer_asks_is_not_held_up(gate: Any, short: list[int]) -> None:
    mailed(gate, ALICE, "one")
    say(gate, short[0], "/pulse verify @stranger")
    assert mailed(gate, "bob@corp.example") is not None


def test_a_mail_that_nobody_needs_is_neither_sent_nor_counted(gate: Any, short: list[int]) -> None:
    [first] = ask(gate, ALICE)
    [second] = ask(gate, ALICE)
    gate.mailing.run(first)
    assert (gate.box, spent(gate)) == ([], 0)
    gate.mailing.run(second)
    assert (len(gate.box), spent(gate)) == (1, 1)
    assert gate.sql("SELECT 1 FROM mails WHERE sealed IS NOT NULL") == []


class Refusing:
    """A mail server that says no."""

    def __init__(self, error: Exception) -> None:
        self.error, self.asked = error, 0

    def send(self, mail: Any, now: Any, reference: str) -> None:
        self.asked += 1
        raise self.error


def sending(gate: Any, error: Exception) -> Refusing:
    server = Refusing(error)
    object.__setattr__(gate.mailing, "sender", server)
    return server


def test_an_address_that_the_server_refuses_is_told_to_its_owner(
    gate: Any, began: list[int]
) -> None:
    server = sending(gate, Rejected("the mail server said 550 no such user", status=550))
    mailed(gate, ALICE)
    assert (server.asked, last(gate).failure) == (1, "refused")
    assert gate.sql("SELECT 1 FROM mails WHERE sealed IS NOT NULL") == []


def test_a_server_that_is_away_is_tried_again_and_counted_once(gate: Any, began: list[int]) -> None:
    server = sending(gate, RetryLater("the mail server did not take it"))
    mailed(gate, ALICE)
    assert (last(gate).failure, spent(gate)) == (None, 1)
    for _ in range(20):
        later(gate, minutes=61)
    assert (server.asked, last(gate).failure) == (12, "given up")
    assert [row["used"] for row in gate.sql(MAILS_SPENT)] == [1]


def came_back(gate: Any, mail_id: int, action: str = "failed", to: str = "") -> str:
    named = f"{PREFIX}{reference(mail_id, gate.proving.keyed)}@gate.example"
    report = Report(
        recipients=(to or named,), message_ids=(), results=(Result(action=action, status="5.1.1"),)
    )
    taken = Bouncing(gate.database, gate.proving.keyed, gate.clock)
    return taken.take(report, f"{gate.clock()}", BOX.token)


def test_a_mail_that_came_back_is_told_to_its_owner_and_proves_nothing(
    gate: Any, began: list[int]
) -> None:
    mail = mailed(gate, ALICE)
    [row] = gate.sql("SELECT id FROM mails")
    forged = f"{PREFIX}{row['id']}-{'0' * 20}@gate.example"
    assert "of no mail of ours" in came_back(gate, row["id"], to=forged)
    assert "not that it failed" in came_back(gate, row["id"], "delayed")
    assert last(gate).failure is None
    assert came_back(gate, row["id"]) == "a mail of ours came back"
    assert last(gate).failure == "bounced"
    assert "had failed" in came_back(gate, row["id"])
    assert gate.sql("SELECT 1 FROM proofs") == []
    assert len(gate.box) == 1  # nobody was answered
    # Who saw the mail can claim so much. The link stays good all the same.
    assert confirm(gate, token_in(mail)) == ""


def test_a_report_after_a_week_says_nothing(gate: Any, began: list[int]) -> None:
    mailed(gate, ALICE)
    [row] = gate.sql("SELECT id FROM mails")
    gate.clock.pass_(days=8)
    assert "not sent lately" in came_back(gate, row["id"])
