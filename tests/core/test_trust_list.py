"""VOUCHED.td: read as people write it, written as it is read."""

from hypothesis import given
from hypothesis import strategies as st

from app.core.trust_list import TrustLine, parse, render
from tests.core.strategies import hostile

TEXT = """# who may
octocat
github:hubot  met at a conference
-spammer opened forty at once
-github:bad-one
gitlab:other
@not-a-login
renovate[bot]
OCTOCAT again
"""


def test_a_list_is_read_line_by_line() -> None:
    found, wrong = parse(TEXT)
    assert found == [
        TrustLine(login="hubot", denied=False, reason="met at a conference"),
        TrustLine(login="spammer", denied=True, reason="opened forty at once"),
        TrustLine(login="bad-one", denied=True),
        TrustLine(login="renovate[bot]", denied=False),
        TrustLine(login="OCTOCAT", denied=False, reason="again"),
    ]
    assert [(w.line, w.why.split(",")[0]) for w in wrong] == [
        (6, "is an account of gitlab"),
        (7, "is no login with a reason behind it"),
    ]


def test_words_that_are_no_login_are_named_by_their_line() -> None:
    _, wrong = parse("ok\n@somebody\n--\n-\n")
    assert [w.line for w in wrong] == [2, 3, 4]


logins = st.from_regex(r"\A[A-Za-z0-9](?:-?[A-Za-z0-9]){0,10}\Z")


@given(st.lists(st.builds(TrustLine, login=logins, denied=st.booleans(), reason=st.just("a b")),
                unique_by=lambda one: one.login.casefold()))  # fmt: skip
def test_what_is_written_is_read_again(lines: list[TrustLine]) -> None:
    found, wrong = parse(render(lines))
    assert wrong == []
    assert sorted(found, key=lambda o: o.login) == sorted(lines, key=lambda o: o.login)


@given(hostile)
def test_any_text_is_read(text: str) -> None:
    found, _ = parse(text)
    assert all(one.login.replace("[bot]", "").replace("-", "").isalnum() for one in found)
