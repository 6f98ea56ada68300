"""From a delivery to the act on GitHub: the main ways, each over real parts."""

import json
from typing import Any

import pytest

CLOSE = "version: 1\nmode: close\nrules:\n  burst: {mode: close, prs: 5, minutes: 10}\n"
ASK = CLOSE.replace("mode: close\nrules", "mode: ask\nrules")
LABEL = CLOSE.replace("mode: close\nrules", "mode: label\nrules")


def _flood(gate: Any, count: int = 5, by: str = "stranger") -> list[int]:
    return [gate.world.open_pull(by=by, title=f"Improve module {n}").number for n in range(count)]


def test_a_fresh_installation_only_records(gate: Any) -> None:
    numbers = _flood(gate)
    gate.settle()
    for number in numbers:
        assert gate.state(number) == "flagged"
        assert gate.acts(number)["close"] == "observed"
        assert gate.world.pull(number).state == "open"
    assert gate.writes() == []


def test_a_burst_is_closed_with_a_comment_that_says_why_and_how_to_undo_it(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate)
    gate.settle()
    for number in numbers:
        pull = gate.world.pull(number)
        assert pull.state == "closed"
        notices = [c for c in pull.comments if "/pulse reopen" in c.body]
        assert len(notices) == 1
        assert "5 pull requests here in quick succession" in notices[0].body
        assert gate.state(number) == "closed"
        assert [label.name for label in pull.labels] == ["needs-verification"]
        paths = [w for w in gate.writes(number) if "comments" in w or w.startswith("PATCH")]
        assert paths.index(next(p for p in paths if "POST" in p)) < paths.index(
            next(p for p in paths if p.startswith("PATCH") and "/pulls/" in p)
        )


def test_four_of_a_limit_of_five_are_no_burst(gate: Any) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate, 4)
    gate.settle()
    assert [gate.state(n) for n in numbers] == ["clear"] * 4
    assert all(gate.world.pull(n).state == "open" for n in numbers)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (
            LABEL,
            {
                "label": "done",
                "check_run": "done",
                "close_comment": "observed",
                "close": "observed",
            },
        ),
        (ASK, {"label": "done", "ask_comment": "done", "close": "observed"}),
    ],
)
def test_each_mode_goes_as_far_as_it_says(gate: Any, policy: str, expected: dict[str, str]) -> None:
    gate.policy(policy)
    number = _flood(gate)[-1]
    gate.settle()
    acts = gate.acts(number)
    assert {kind: acts[kind] for kind in expected} == expected
    assert gate.world.pull(number).state == "open"


def test_the_author_has_it_opened_again(gate: Any) -> None:
    gate.policy(CLOSE)
    number = _flood(gate)[2]
    gate.settle()
    assert gate.world.pull(number).state == "closed"
    gate.world.comment(number, "/pulse reopen", by="stranger")
    gate.settle()
    assert gate.world.pull(number).state == "open"
    assert gate.state(number) == "reopened"
    gate.world.push(number)
    gate.world.edit_pull(number, by="stranger", title="Better words")
    gate.settle()
    assert gate.world.pull(number).state == "open"


def test_somebody_else_cannot_have_it_opened(gate: Any) -> None:
    gate.policy(CLOSE)
    gate.world.add_user("bystander")
    number = _flood(gate)[0]
    gate.settle()
    gate.world.comment(number, "/pulse reopen", by="bystander")
    gate.settle()
    assert gate.world.pull(number).state == "closed"


def test_what_a_maintainer_closed_the_author_cannot_have_opened(gate: Any) -> None:
    gate.policy(CLOSE)
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    gate.world.close_pull(number, by="mark")
    gate.settle()
    gate.world.comment(number, "/pulse reopen", by="stranger")
    gate.settle()
    assert gate.world.pull(number).state == "closed"


def test_a_maintainer_who_reopens_ends_the_gates_say(gate: Any) -> None:
    gate.policy(CLOSE)
    number = _flood(gate)[0]
    gate.settle()
    gate.world.reopen_pull(number, by="tom")
    gate.settle()
    gate.world.push(number)
    gate.world.edit_pull(number, by="stranger", body="Other words")
    gate.settle()
    assert gate.world.pull(number).state == "open"
    assert gate.state(number) == "left_alone"


def test_a_label_that_a_maintainer_took_away_stays_away(gate: Any) -> None:
    gate.policy(LABEL)
    number = _flood(gate)[0]
    gate.settle()
    gate.world.unlabel(number, "needs-verification", by="tom")
    gate.settle()
    gate.world.push(number)
    gate.settle()
    assert gate.world.pull(number).labels == []


@pytest.mark.parametrize("login", ["olivia", "mark", "wendy", "tom"])
def test_the_team_is_exempt_before_any_rule(gate: Any, login: str) -> None:
    gate.policy(CLOSE)
    numbers = _flood(gate, 7, by=login)
    gate.settle()
    for number in numbers:
        assert gate.state(number) == "exempt"
        assert gate.world.pull(number).state == "open"
        assert gate.world.pull(number).comments == []
        assert gate.world.pull(number).labels == []
    for run in gate.world.repository().checks:
        text = json.dumps(run.output)
        assert run.conclusion == "success"
        assert "burst" not in text
        assert "Score" not in text
        assert "permission" not in text, "who is on the team is not for us to publish"


def test_a_changed_permission_decides_anew(gate: Any) -> None:
    gate.policy(LABEL)
    numbers = _flood(gate)
    gate.settle()
    assert gate.state(numbers[0]) == "flagged"
    gate.world.change_role("stranger", "write", by="olivia")
    gate.settle()
    assert {gate.state(n) for n in numbers} == {"exempt"}
    assert all(gate.world.pull(n).labels == [] for n in numbers)


def test_head_title_body_and_draft_decide_anew_and_nothing_else_does(gate: Any) -> None:
    gate.policy(LABEL)
    world = gate.world
    number = world.open_pull(by="stranger").number

    def versions() -> int:
        gate.settle()
        return gate.sql("SELECT version FROM cases WHERE number = :n", n=number)[0]["version"]

    seen = [versions()]
    for change in (
        lambda: world.push(number),
        lambda: world.edit_pull(number, by="stranger", title="Another title"),
        lambda: world.edit_pull(number, by="stranger", body="Another body"),
        lambda: world.set_draft(number, True, by="stranger"),
    ):
        change()
        seen.append(versions())
    assert seen == [1, 2, 3, 4, 5]
    world.comment(number, "Thanks for looking!", by="stranger")
    world.label(number, "documentation", by="tom")
    assert versions() == 5


def test_the_status_comment_is_one_and_is_updated_in_place(gate: Any) -> None:
    gate.policy(ASK)
    numbers = _flood(gate)
    gate.settle()
    gate.world.change_role("stranger", "write", by="olivia")
    gate.settle()
    for number in numbers:
        ours = [c for c in gate.world.pull(number).comments if c.user.login.endswith("[bot]")]
        status = [c for c in ours if "No rule applies" in c.body]
        assert len(status) == 1
        assert len(ours) == 2  # and the one question, a comment of its own


def test_a_merge_queue_is_never_kept_waiting(gate: Any) -> None:
    gate.policy(LABEL)
    number = gate.world.open_pull(by="stranger").number
    gate.settle()
    sha = gate.world.queue_merge(by="mark")
    gate.settle()
    runs = [c for c in gate.world.repository().checks if c.head_sha == sha]
    assert [(r.conclusion, r.name) for r in runs] == [("success", "pulsegate")]
    assert gate.state(number) == "clear"


def test_reads_stay_within_the_budget(gate: Any) -> None:
    gate.policy(CLOSE)
    gate.world.open_pull(by="stranger")
    gate.settle()
    gate.github.requests.clear()
    _flood(gate, 6)
    gate.only_decide()
    assert [r for r in gate.github.requests if r.method == "GET"] == []
