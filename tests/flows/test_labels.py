"""The one neutral label: renamed in the configuration, and taken off by a maintainer."""

from typing import Any

LABEL = "version: 1\nmode: label\nlabel: first\nrules: {burst: {mode: close, prs: 2}}\n"


def _labels(gate: Any, number: int) -> list[str]:
    return [label.name for label in gate.world.pull(number).labels]


def _flood(gate: Any) -> list[int]:
    numbers = [gate.world.open_pull(by="stranger", title=f"Part {n}").number for n in range(2)]
    gate.settle()
    return numbers


def test_another_name_takes_the_old_ones_place_and_is_taken_off_again(gate: Any) -> None:
    gate.policy(LABEL)
    numbers = _flood(gate)
    assert _labels(gate, numbers[0]) == ["first"]
    gate.world.push_files({".github/pulsegate.yml": LABEL.replace("first", "second")}, by="olivia")
    gate.settle()
    for title in ("One", "Two", "Three"):
        gate.world.edit_pull(numbers[0], by="stranger", title=title)
        gate.settle()
    assert _labels(gate, numbers[0]) == ["second"]
    posts = [w for w in gate.writes(numbers[0]) if w.startswith("POST") and w.endswith("/labels")]
    assert len(posts) == 2
    gate.world.change_role("stranger", "write", by="olivia")
    gate.settle()
    assert _labels(gate, numbers[0]) == []


def test_who_takes_the_label_off_is_not_overruled_by_a_question_or_a_close(gate: Any) -> None:
    gate.policy(LABEL)
    numbers = _flood(gate)
    gate.world.unlabel(numbers[0], "first", by="tom")
    gate.settle()
    gate.world.push_files(
        {".github/pulsegate.yml": LABEL.replace("mode: label", "mode: close", 1)}, by="olivia"
    )
    gate.settle()
    for number in numbers:
        gate.world.push(number, by="stranger")
    gate.settle()
    assert [gate.world.pull(n).state for n in numbers] == ["open", "closed"]
    assert _labels(gate, numbers[0]) == []
    assert gate.world.pull(numbers[0]).comments == []
