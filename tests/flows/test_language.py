"""The repository's own language, with English where there is none."""

from typing import Any

import pytest

ASK = "version: 1\nmode: close\nlanguage: {}\nrules: {{burst: {{mode: close, prs: 2}}}}\n"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("zh-CN", "您可以让它重新打开"),
        ("en", "you can have it opened again"),
        ("en-GB", "you can have"),
    ],
)
def test_comments_are_in_the_language_of_the_repository(
    gate: Any, language: str, said: str
) -> None:
    gate.policy(ASK.format(language))
    numbers = [gate.world.open_pull(by="stranger", title=f"Part {n}").number for n in range(2)]
    gate.settle()
    bodies = [c.body for c in gate.world.pull(numbers[0]).comments]
    assert any(said in body for body in bodies)
    assert any("/pulse reopen" in body for body in bodies)
