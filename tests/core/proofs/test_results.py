"""Authentication-Results as servers write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.proofs.results import Results, parse


def test_what_google_writes() -> None:
    found = parse(
        "i=1; mx.google.com;\r\n       dkim=pass header.i=@corp.example header.s=s1 header.b=AbC/+== header.a=x;\r\n"
        "       spf=pass (google.com: domain of alice@corp.example designates 192.0.2.1 as permitted "
        "sender) smtp.mailfrom=alice@corp.example;\r\n       dmarc=pass (p=NONE sp=NONE dis=NONE) "
        "header.from=corp.example"
    )
    assert found is not None
    assert found.by == "mx.google.com"
    assert [(m.name, m.result) for m in found.methods] == [
        ("dkim", "pass"), ("spf", "pass"), ("dmarc", "pass"),
    ]  # fmt: skip
    assert found.methods[0].properties["header.i"] == "@corp.example"
    assert found.methods[0].properties["header.b"] == "AbC/+=="
    assert found.methods[0].properties["header.a"] == "x"
    assert found.methods[1].properties == {"smtp.mailfrom": "alice@corp.example"}


@pytest.mark.parametrize(
    ("value", "by", "methods"),
    [
        ("example.org 1; none", "example.org", []),
        ("example.org", "example.org", []),
        ("Example.ORG; dkim = fail header.d = a.example", "example.org", [("dkim", "fail")]),
        ('"example.org"; dkim/1=pass reason="a; b (c) \\" d" header.d="a.example"', "example.org",
         [("dkim", "pass")]),
        ("x (a (nested; dkim=pass) one); dkim=fail (dkim=pass; ) header.d=a", "x", [("dkim", "fail")]),
    ],
)  # fmt: skip
def test_forms_that_the_rfc_allows(value: str, by: str, methods: list[tuple[str, str]]) -> None:
    found = parse(value)
    assert found is not None
    assert (found.by, [(m.name, m.result) for m in found.methods]) == (by, methods)


@pytest.mark.parametrize(
    "value",
    ["", ";", "x; (open dkim=pass", 'x; "open', "x; dkim", "x; =pass", "x; dkim=", "i=1", "i=1;",
     "x) y; dkim=pass", "x; " + "(" * 30 + ")" * 30, "y" * 20_000],
)  # fmt: skip
def test_what_is_unclear_says_nothing(value: str) -> None:
    assert parse(value) is None


@given(st.text(max_size=80) | st.text(alphabet='ai=;()"\\ dkmps.', max_size=60))
def test_any_text_is_read(value: str) -> None:
    found = parse(value)
    assert found is None or isinstance(found, Results)
