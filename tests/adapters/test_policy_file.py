"""The configuration is a stranger's text: read in bounds, or refused with the place that is wrong."""

import time
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.adapters.policy_file import PolicyFiles, parse_policy
from app.core.errors import UserError
from app.core.modes import Mode
from app.core.policy import LIMIT, Policy


@pytest.mark.parametrize("text", ["", "\n", "# nothing but words\n", "{}", "---\n", "null"])
def test_an_empty_file_asks_for_the_defaults(text: str) -> None:
    assert parse_policy(text) == Policy()


def test_the_smallest_useful_file() -> None:
    found = parse_policy(
        "version: 1\nmode: close\nrules:\n  burst: {mode: close, prs: 5, minutes: 10}\n"
    )
    assert (found.mode, found.rules.burst.mode, found.rules.burst.prs) == (
        Mode.CLOSE,
        Mode.CLOSE,
        5,
    )


def test_a_bare_off_is_a_mode() -> None:
    assert parse_policy("rules: {unattended: {mode: off}}").rules.unattended.mode is Mode.OFF


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "aliases"),
        ("x: " + "[" * 100 + "]" * 100, "nested too deeply"),
        ("[" * 50_000, "nested too deeply"),
        ("x" * (LIMIT + 1), "longer than"),
        ("ü" * (LIMIT // 2 + 1), "longer than"),
        ('rules: {paths: {patterns: ["a\\0"]}}', "control characters"),
        ("mode: [close", "line 1"),
        ("mode: close\n\tlabel: x", "line 2"),
        ("- close", "the file"),
        ("close", "the file"),
        ("mode: close\nmood: close", "mood"),
        ("rules: {burst: {pr: 5}}", "rules.burst.pr"),
        ("mode: shut", "mode"),
        ("version: 2", "version"),
        ("mode: observe\nlabel: x\nmode: close\n", "line 3, column 1: the key mode stands"),
        ("rules: {burst: {prs: 5, prs: 2}}", "the key prs stands here twice"),
        ("rules: {burst: {prs: " + "9" * 5_000 + "}}", ""),
        ("? [mode]\n: close", ""),
        ("1: close", ""),
        ("mode: !!python/object/apply:os.system [id]", "line 1"),
        ("at: 2026-99-99", ""),
        ("exempt: {accounts: [yes]}", "exempt.accounts"),
        ("label: 'two\n\n  lines'", "label"),
        ("mode: \x00", ""),
        ('label: "\\UFFFFFFFF"', "not valid YAML"),
        ("x: 1" + ":1" * 1000 + ".5", "unknown key"),
        ("? 0x" + "f" * 50_000 + "\n: close", ""),
        ("!mine\nmode: close", "line 1, column 1: tags"),
        ("mode: ! close", "tags"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(
    text: str, said: str, complains: Callable[..., str]
) -> None:
    assert said in complains(lambda: parse_policy(text))


@pytest.mark.parametrize(
    "text",
    [
        "label: !!timestamp soon",
        "mode: !!bool maybe",
        "version: !!int ''",
        "version: !!int '-'",
        "rules: {unattended: {threshold: !!float ''}}",
        "label: !own x",
        "exempt: !!set {1}",
        "x: !!python/object:os.system y",
    ],
)
def test_a_tag_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(UserError, match=r"line 1, column \d+: tags"):
        parse_policy(text)


@pytest.mark.parametrize(
    "value", ["010", "0x10", "1_0", "1:30", "+010", "1e1", "'10'", "yes", "10.0"]
)
def test_a_number_that_versions_of_yaml_read_differently_is_none(
    value: str, complains: Callable[..., str]
) -> None:
    said = complains(lambda: parse_policy(f"rules: {{burst: {{prs: {value}}}}}"))
    assert "rules.burst.prs: must be a whole number" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: {cap: {drafts: yes}}", "must be true or false"),
        ("rules: {burst: {prs: 1}}", "must be 2 or more"),
        ("rules: {burst: {minutes: 1000000}}", "or less"),
        ("rules: {burst: [5]}", "must be a mapping, with keys of its own"),
        ("rules: {paths: {patterns: /src/}}", "must be a list"),
        *(
            (f"rules: {{paths: {{patterns: ['{one}']}}}}", "matches no file")
            for one in ("/", "#x", " ", "./src", "src//a", "../x")
        ),
        ("label: ''", "must not be empty"),
        ("label: 5", "must be text; put it in quotes"),
        ("language: fr", "no catalogue for fr; there are en, zh-CN"),
        ("language: no", "no catalogue for no"),
    ],
)
def test_problems_are_told_in_plain_words(
    text: str, said: str, complains: Callable[..., str]
) -> None:
    assert said in complains(lambda: parse_policy(text))


def test_the_languages_that_have_a_catalogue_are_taken() -> None:
    assert [parse_policy(f"language: {tag}").language for tag in ("en", "en-GB", "zh-CN")] == [
        "en",
        "en-GB",
        "zh-CN",
    ]


@pytest.mark.parametrize("version", ["true", "1.0", "2", "'1'"])
def test_the_version_is_the_number_1(version: str) -> None:
    with pytest.raises(UserError, match="version"):
        parse_policy(f"version: {version}")


_PIECES = [
    *("version", "mode", "label", "rules", "burst", "unattended", "prs", "threshold", "exempt"),
    *("accounts", "apps", "close", "observe", "off", "yes", "1", "1.0", ".5", ".nan", "-", "0x", "1:1"),
    *("!!timestamp", "!!bool", "!!int", "!!float", "!!binary", "!!set", "!!omap", "!!pairs", "!x", "!"),
    *(": ", "\n", "\n  ", "- ", "? ", "[", "]", "{", "}", ", ", "'", '"', "&a ", "*a", "<<", "=", "|\n "),
    *("2026-01-01", "0001-01-01T00:00:00+23:59", "---\n", "%TAG ! x\n", "# ", "\\0", "\\ud800", "\\UFFFFFFFF"),
]  # fmt: skip


@settings(max_examples=500)
@given(
    st.text(st.characters(exclude_categories=[]), max_size=60)
    | st.lists(st.sampled_from(_PIECES), max_size=14).map("".join)
    | st.tuples(st.sampled_from(_PIECES), st.integers(1, 2000)).map(lambda p: p[0] * p[1])
)
@example("label: !!timestamp soon")
@example("version: !!int ''")
@example('"\\0": 1')
def test_any_text_is_a_policy_or_refused_in_words_that_a_database_stores(text: str) -> None:
    try:
        found: Policy | UserError = parse_policy(text)
    except UserError as error:
        found = error
    if isinstance(found, UserError):
        assert found.hint
        assert len(found.message) < 1200
        assert "\0" not in found.message
        found.message.encode()


@pytest.mark.parametrize(
    "text",
    [
        "- " * 49_000,
        "? " * 49_000,
        "{" * LIMIT,
        "x: 1" + ":1" * 49_000,
        "<<: [" + "{a: 1}," * 9_000,
    ],
    ids=["list", "keys", "braces", "number", "merges"],
)
def test_a_file_as_long_as_allowed_is_refused_in_bounded_time(
    text: str, complains: Callable[..., str]
) -> None:
    began = time.process_time()
    complains(lambda: parse_policy(text))
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    "text",
    [
        'rules: {pause: {start: "0001-01-01T00:00:00+14:00", until: "0001-06-01"}}',
        'rules: {pause: {start: "9999-12-31T23:00:00-14:00", until: "9999-12-31"}}',
        "rules: {pause: {start: 0001-01-01, until: 0001-06-01}}",
        "budgets: {mails: {newcomer: " + "9" * 5000 + "}}",
    ],
)
def test_a_strangers_file_never_stops_the_gate(text: str) -> None:
    found = PolicyFiles().read(text)
    assert found.policy is None
    assert found.problems
