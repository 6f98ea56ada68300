"""Who may give which command, and what follows from it."""

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.commands import Command
from app.core.facts import Request, Role
from app.core.github import Account
from app.core.orders import RIGHTS, Outcome, Scene, obey, table
from tests.core.strategies import NOW, line

AUTHOR, MARK = Account(id=7, login="author"), Account(id=3, login="mark")
EVERY = get_args(Command)
TEAM = {"verify", "vouch", "deny", "exempt", "hold", "close", "undo", "adopt"}


def given_by(command: Command, who: Account, role: Role, **more: object) -> Request:
    return Request(
        command=command,
        account_id=who.id,
        login=who.login,
        by_author=who.id == AUTHOR.id,
        role=role,
        **more,  # type: ignore[arg-type]
    )


def scene(**more: object) -> Scene:
    given: dict[str, object] = {
        "author": AUTHOR,
        "open": True,
        "closed_by_us": False,
        "ordered_closed": False,
        "page": "https://gate.example/pull/acme/widgets/5",
        "target": Account(id=9, login="newcomer"),
        "now": NOW,
    }
    return Scene(**(given | more))  # type: ignore[arg-type]


def test_every_command_has_a_right_and_says_what_it_does() -> None:
    assert set(RIGHTS) == set(EVERY)
    assert all(right.about.endswith(".") for right in RIGHTS.values())


@pytest.mark.parametrize("command", EVERY)
@pytest.mark.parametrize("role", Role)
def test_a_stranger_is_refused_without_a_word(command: Command, role: Role) -> None:
    found = obey(given_by(command, MARK, role), scene(open=False, closed_by_us=True))
    if role < Role.TRIAGE or command == "appeal":
        assert found == Outcome(reaction="confused")


@pytest.mark.parametrize("command", sorted(TEAM))
def test_triage_is_enough_and_its_author_is_told_what_is_theirs(command: Command) -> None:
    assert obey(given_by(command, MARK, Role.TRIAGE), scene()).granted
    refused = obey(given_by(command, AUTHOR, Role.READ), scene())
    assert not refused.granted
    assert "/pulse appeal" in str(refused.answer)


@pytest.mark.parametrize(
    ("who", "role", "more", "granted", "said"),
    [
        (AUTHOR, Role.NONE, {"open": True}, False, "It is open."),
        (AUTHOR, Role.NONE, {"closed_by_us": True}, True, None),
        (AUTHOR, Role.NONE, {}, False, "A person closed it"),
        (AUTHOR, Role.NONE, {"closed_by_us": True, "ordered_closed": True}, False, "appeal"),
        (MARK, Role.TRIAGE, {"closed_by_us": True, "ordered_closed": True}, True, "taken back"),
        (MARK, Role.TRIAGE, {"closed_by_us": True}, True, None),
        (MARK, Role.TRIAGE, {}, False, "use the button"),
    ],
)
def test_reopen(
    who: Account, role: Role, more: dict[str, object], granted: bool, said: str | None
) -> None:
    found = obey(given_by("reopen", who, role), scene(**({"open": False} | more)))
    assert found.granted == granted
    assert (found.answer is None) if said is None else (said in str(found.answer))


def test_nobody_vouches_for_themselves_and_nobody_denies_the_team() -> None:
    for command in ("vouch", "deny", "verify"):
        own = obey(given_by(command, MARK, Role.WRITE), scene(target=MARK))
        assert (own.granted, own.trust) == (False, None)
        nobody = obey(given_by(command, MARK, Role.WRITE), scene(target=None))
        assert "nobody by this login" in str(nobody.answer)
    for command in ("deny", "verify"):
        team = obey(given_by(command, MARK, Role.ADMIN), scene(target_role=Role.TRIAGE))
        assert not team.granted


def test_what_is_said_in_public_of_who_was_denied_is_nothing() -> None:
    found = obey(given_by("deny", MARK, Role.TRIAGE, reason="spam", days=30), scene())
    assert found.answer is None
    assert found.trust is not None
    assert (found.trust.kind, found.trust.reason) == ("denied", "spam")
    assert found.trust.until is not None
    assert (found.trust.until - NOW).days == 30


def test_a_vouch_without_a_time_ends_all_the_same() -> None:
    found = obey(given_by("vouch", MARK, Role.TRIAGE), scene())
    assert found.trust is not None
    assert found.trust.until is not None
    assert "until" in str(found.answer)
    assert obey(given_by("deny", MARK, Role.TRIAGE), scene()).trust.until is None  # type: ignore[union-attr]


@given(
    st.sampled_from(EVERY),
    st.sampled_from([AUTHOR, MARK]),
    st.sampled_from(Role),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    line,
)
def test_what_is_not_granted_changes_nothing(
    command: Command,
    who: Account,
    role: Role,
    is_open: bool,
    ours: bool,
    ordered: bool,
    words: str,
) -> None:
    asked = given_by(command, who, role, reason=words)
    found = obey(asked, scene(open=is_open, closed_by_us=ours, ordered_closed=ordered))
    if not found.granted:
        assert (found.hand, found.trust) == (None, None)
        assert found.reaction == "confused"
    if found.hand not in {None, "appealed"}:
        assert role >= Role.TRIAGE
    if found.trust is not None:
        assert role >= Role.TRIAGE


def test_the_documentation_has_the_table() -> None:
    page = Path(__file__).parents[2] / "docs" / "commands.md"
    assert "\n".join(table()) in page.read_text()
