"""Commands in comments, through the whole gate: who may, what happens, what is answered."""

from typing import Any

import pytest

CLOSE = (
    "version: 1\nmode: close\nladder: {grace_hours: 24}\n"
    "rules: {burst: {mode: close, prs: 2, minutes: 10}, accepted_issue: {mode: close}}\n"
)


@pytest.fixture
def asked(gate: Any) -> int:
    """A pull request that is asked, with a clock."""
    gate.world.clock = gate.clock
    gate.policy(CLOSE)
    number = gate.world.open_pull(by="stranger", files=("src/a.py",)).number
    gate.settle()
    assert gate.state(number) == "flagged"
    return int(number)


@pytest.fixture
def closed(gate: Any) -> int:
    """A pull request that was closed as one of a burst."""
    gate.world.clock = gate.clock
    gate.policy(CLOSE)
    numbers = [gate.world.open_pull(by="stranger", files=("src/a.py",)).number for _ in range(2)]
    gate.settle()
    assert gate.world.pull(numbers[0]).state == "closed"
    return int(numbers[0])


def say(gate: Any, number: int, words: str, by: str = "tom") -> Any:
    gate.clock.pass_(seconds=2)
    made = gate.world.comment(number, words, by=by)
    gate.settle()
    return made


def later(gate: Any, **by: float) -> None:
    gate.clock.pass_(**by)
    gate.sweep.ring()
    gate.settle()


def reactions(comment: Any) -> list[str]:
    return [content for _, content in comment.reactions]


def status(gate: Any, number: int) -> str:
    """The one comment that is updated in place."""
    found = gate.sql("SELECT status_comment_id AS id FROM cases WHERE number = :n", n=number)[0][
        "id"
    ]
    comments = gate.world.pull(number).comments
    return next((c.body for c in comments if c.id == found), "")


def labels(gate: Any, number: int) -> list[str]:
    return [label.name for label in gate.world.pull(number).labels]


def test_hold_stops_the_clock_and_changes_nothing(gate: Any, asked: int) -> None:
    comment = say(gate, asked, "/pulse hold because I look at it")
    assert reactions(comment) == ["+1"]
    assert "holds it as it is" in status(gate, asked)
    later(gate, hours=99)
    assert gate.world.pull(asked).state == "open"
    assert labels(gate, asked) == ["needs-verification"]


def test_exempt_takes_back_what_was_asked(gate: Any, asked: int) -> None:
    say(gate, asked, "/pulse exempt")
    assert gate.state(asked) == "exempt"
    assert labels(gate, asked) == []
    assert "No rule applies" in status(gate, asked)
    gate.world.push(asked, by="stranger")
    gate.settle()
    assert gate.state(asked) == "exempt"


def test_close_is_a_maintainers_hand_that_the_author_cannot_reverse(gate: Any, asked: int) -> None:
    comment = say(gate, asked, "/pulse close")
    pull = gate.world.pull(asked)
    assert (pull.state, reactions(comment)) == ("closed", ["+1"])
    assert any("/pulse appeal" in c.body for c in pull.comments)
    refused = say(gate, asked, "/pulse reopen", by="stranger")
    assert reactions(refused) == ["confused"]
    assert gate.world.pull(asked).state == "closed"
    assert "/pulse appeal" in status(gate, asked)
    appeal = say(gate, asked, "/pulse appeal it mends a crash", by="stranger")
    assert reactions(appeal) == ["+1"]
    assert "appeal is noted" in status(gate, asked)
    say(gate, asked, "/pulse reopen")
    assert gate.world.pull(asked).state == "open"
    assert gate.state(asked) == "left_alone"


def test_close_is_done_in_observe_mode_too_since_a_person_asked(gate: Any) -> None:
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    assert gate.writes() == []
    say(gate, number, "/pulse close")
    assert gate.world.pull(number).state == "closed"
    assert labels(gate, number) == []


def test_undo_takes_back_a_close_and_ends_the_gates_say(gate: Any, closed: int) -> None:
    comment = say(gate, closed, "/pulse undo")
    assert reactions(comment) == ["+1"]
    assert gate.world.pull(closed).state == "open"
    assert labels(gate, closed) == []
    gate.world.push(closed, by="stranger")
    gate.settle()
    assert gate.state(closed) == "left_alone"
    assert gate.world.pull(closed).state == "open"


def test_adopt_is_the_third_way_out(gate: Any, asked: int) -> None:
    say(gate, asked, "/pulse adopt")
    pull = gate.world.pull(asked)
    assert [user.login for user in pull.assignees] == ["tom"]
    assert labels(gate, asked) == ["adopted"]
    assert gate.state(asked) == "adopted"
    assert f"gh pr checkout {asked}" in status(gate, asked)
    later(gate, hours=99)
    assert gate.world.pull(asked).state == "open"


def test_adopt_opens_what_the_gate_closed(gate: Any, closed: int) -> None:
    say(gate, closed, "/pulse adopt")
    assert gate.world.pull(closed).state == "open"
    assert gate.state(closed) == "adopted"
    assert labels(gate, closed) == ["adopted"]


def test_a_vouch_exempts_an_account_until_it_ends(gate: Any, asked: int) -> None:
    gate.clock.pass_(minutes=30)
    other = gate.world.open_pull(by="stranger", files=("src/b.py",)).number
    gate.settle()
    assert gate.state(other) == "flagged"
    say(gate, asked, "/pulse vouch @Stranger for 2d because we met")
    assert gate.state(asked) == "exempt"
    assert gate.state(other) == "exempt"
    assert labels(gate, asked) == []
    assert "vouches for stranger until" in status(gate, asked)
    later(gate, days=2.1)
    # Its clock does not run on from before the vouch: it is asked anew.
    assert gate.state(asked) == "flagged"
    bodies = [c.body for c in gate.world.pull(asked).comments]
    assert [sum(words in b for b in bodies) for words in ("Is somebody there?", "no longer")] == [
        1,
        1,
    ]
    later(gate, hours=23)
    assert gate.world.pull(asked).state == "open"
    later(gate, hours=1.1)
    assert gate.world.pull(asked).state == "closed"


def test_a_vouch_opens_what_the_gate_closed(gate: Any, closed: int) -> None:
    say(gate, closed, "/pulse vouch @stranger")
    assert all(pull.state == "open" for pull in gate.world.repository().pulls.values())


def test_a_denied_account_is_closed_without_a_word_why_and_open_again_when_vouched_for(
    gate: Any, asked: int
) -> None:
    say(gate, asked, "/pulse deny @stranger for 30d because spam")
    pull = gate.world.pull(asked)
    assert pull.state == "closed"
    ours = " ".join(c.body for c in pull.comments if c.app is not None)
    assert "does not take in this pull request for now" in ours
    runs = [run.output for run in gate.world.repository().checks if run.head_sha == pull.head_sha]
    for secret in ("spam", "deny", "denied", "tom", "/pulse reopen"):
        assert secret not in ours
        assert secret not in str(runs)
    # A maintainer's word is not undone by its author, who may appeal.
    refused = say(gate, asked, "/pulse reopen", by="stranger")
    assert reactions(refused) == ["confused"]
    assert gate.world.pull(asked).state == "closed"
    say(gate, asked, "/pulse vouch @stranger", by="wendy")
    assert gate.world.pull(asked).state == "open"


def test_verify_asks_whoever_was_left_in_peace(gate: Any) -> None:
    gate.policy(
        "version: 1\nmode: close\nladder: {grace_hours: 24}\nrules: {asked_for: {mode: close}}\n"
    )
    gate.world.clock = gate.clock
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    assert gate.state(number) == "clear"
    say(gate, number, "/pulse verify")
    asked = [c.body for c in gate.world.pull(number).comments]
    assert any("A maintainer asked whether somebody is there." in body for body in asked)
    later(gate, hours=25)
    assert gate.world.pull(number).state == "closed"


def test_status_and_explain_answer_its_author(gate: Any, asked: int) -> None:
    before = len(gate.world.pull(asked).comments)
    assert reactions(say(gate, asked, "/pulse status", by="stranger")) == ["eyes"]
    assert "Its author answered; a maintainer will look at it." in status(gate, asked)
    assert "linked to no issue" in status(gate, asked)
    say(gate, asked, "/pulse explain")
    assert f"](https://gate.example/pull/acme/widgets/{asked})" in status(gate, asked)
    # Two comments by people, and no more of ours: the status comment is edited.
    assert len(gate.world.pull(asked).comments) == before + 2


@pytest.mark.parametrize("words", ["/pulse hold", "/pulse status", "/pulse vouch @stranger"])
def test_a_stranger_gets_a_reaction_and_no_word(gate: Any, asked: int, words: str) -> None:
    gate.world.add_user("passer-by")
    before = (status(gate, asked), gate.state(asked))
    comment = say(gate, asked, words, by="passer-by")
    assert reactions(comment) == ["confused"]
    assert (status(gate, asked), gate.state(asked)) == before


def test_its_author_is_told_what_is_theirs_to_ask(gate: Any, asked: int) -> None:
    comment = say(gate, asked, "/pulse exempt", by="stranger")
    assert reactions(comment) == ["confused"]
    assert "for people with triage rights" in status(gate, asked)
    assert gate.state(asked) == "flagged"


def test_a_slip_is_mended_for_who_may_and_nothing_to_anybody_else(gate: Any, asked: int) -> None:
    gate.world.add_user("passer-by")
    assert reactions(say(gate, asked, "/pulse holt", by="passer-by")) == []
    assert reactions(say(gate, asked, "/pulse holt")) == ["confused"]
    assert "did you mean" in status(gate, asked)


def test_a_custom_role_counts_by_what_it_was_built_on(gate: Any, asked: int) -> None:
    gate.world.add_user("carla")
    gate.world.repository().custom_roles["reviewers"] = "triage"
    gate.world.set_role("carla", "reviewers")
    say(gate, asked, "/pulse hold", by="carla")
    assert gate.state(asked) == "left_alone"


@pytest.mark.parametrize(
    "act",
    [
        lambda w, n: w.comment(n, "/pulse hold", by="renovate[bot]"),
        lambda w, n: w.comment(n, "> /pulse hold", by="tom"),
        lambda w, n: w.comment(n, "```\n/pulse hold\n```", by="tom"),
        lambda w, n: w.comment(n, "see `/pulse hold`", by="tom"),
        lambda w, n: w.edit_comment(n, w.comment(n, "Hm.", by="tom").id, "/pulse hold", by="tom"),
    ],
    ids=["a bot", "a quote", "code", "within a line", "an edited comment"],
)
def test_what_is_no_command(gate: Any, asked: int, act: Any) -> None:
    act(gate.world, asked)
    gate.settle()
    assert gate.state(asked) == "flagged"
    assert all(not c.reactions for c in gate.world.pull(asked).comments)


def test_reviews_and_comments_on_lines_give_commands_too(gate: Any, asked: int) -> None:
    note = gate.world.write_note(asked, "Hm.\n\n/pulse hold", by="tom")
    gate.settle()
    assert reactions(note) == ["+1"]
    assert gate.state(asked) == "left_alone"
    gate.clock.pass_(seconds=2)
    gate.world.review(asked, by="tom", state="commented", body="/pulse exempt")
    gate.settle()
    assert gate.state(asked) == "exempt"


def test_a_command_that_comes_twice_is_obeyed_once(gate: Any, asked: int) -> None:
    say(gate, asked, "/pulse hold")
    version = gate.sql("SELECT version FROM cases WHERE number = :n", n=asked)[0]["version"]
    last = next(d for d in reversed(gate.world.hooks.deliveries) if d.event == "issue_comment")
    gate.take_in(last)
    gate.settle()
    again = gate.sql("SELECT version FROM cases WHERE number = :n", n=asked)[0]["version"]
    assert again == version


def test_where_github_does_not_say_who_somebody_is_nothing_is_done_and_nothing_lost(
    gate: Any, asked: int
) -> None:
    gate.github.fault("status", status=500, method="GET", path="/permission$", times=3)
    comment = say(gate, asked, "/pulse hold")
    assert gate.state(asked) == "flagged"
    later(gate, minutes=2)
    assert gate.state(asked) == "left_alone"
    assert reactions(comment) == ["+1"]


def test_a_word_on_somebody_that_nobody_knows(gate: Any, asked: int) -> None:
    comment = say(gate, asked, "/pulse vouch @nobody-at-all")
    assert reactions(comment) == ["confused"]
    assert "nobody by this login" in status(gate, asked)


def test_a_status_says_nothing_that_is_not_so_where_nothing_may_be_asked(gate: Any) -> None:
    gate.world.clock = gate.clock
    gate.policy(CLOSE.replace("mode: close\nladder", "mode: label\nladder"))
    number = gate.world.open_pull(by="stranger", files=("src/a.py",)).number
    gate.settle()
    assert labels(gate, number) == ["needs-verification"]
    say(gate, number, "/pulse status", by="stranger")
    assert "Nothing is asked of this pull request." in status(gate, number)
    assert "No rule applies" not in status(gate, number)
