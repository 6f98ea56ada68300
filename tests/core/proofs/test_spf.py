"""SPF, judged by the openspf.org test suite for RFC 7208 (tests/data/spf)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import RetryLater
from app.core.proofs.spf import Kind, check

SUITE = Path(__file__).parents[2] / "data" / "spf" / "rfc7208-tests.yml"


class Zone:
    """The suite's way to write records down: a list by name, `TIMEOUT` where nobody answers."""

    def __init__(self, data: dict[str, list[Any]]) -> None:
        self._data = {name.lower(): rows for name, rows in data.items()}

    def __call__(self, name: str, kind: Kind, *, alias: bool = False) -> tuple[str, ...]:
        rows = self._data.get(name.lower().removesuffix("."), [])
        records = [(k, v) for row in rows if isinstance(row, dict) for k, v in row.items()]
        # The suite lets records of the old type SPF stand for TXT where there is none.
        wanted = "SPF" if kind == "TXT" and all(k != "TXT" for k, _ in records) else kind
        found = [v for k, v in records if k == wanted and v != "NONE"]
        if "TIMEOUT" in found or ("TIMEOUT" in rows and not found):
            raise RetryLater("no answer")
        aliases = [v for k, v in records if k == "CNAME"]
        if not found and aliases and not alias:
            return self(aliases[0], kind, alias=True)
        return tuple(self._text(value) for value in found)

    @staticmethod
    def _text(value: Any) -> str:
        if isinstance(value, list) and value and isinstance(value[0], int):
            return str(value[1])  # MX
        return "".join(value) if isinstance(value, list) else str(value)


def cases() -> Iterator[Any]:
    for scenario in yaml.safe_load_all(SUITE.read_text(encoding="utf-8")):
        zone = Zone(scenario["zonedata"])
        for name, test in scenario["tests"].items():
            yield pytest.param(zone, test, id=f"{scenario['description']}: {name}")


@pytest.mark.parametrize(("zone", "test"), list(cases()))
def test_the_suite(zone: Zone, test: Any) -> None:
    found = check(test["host"], test["helo"], test["mailfrom"], zone)
    wanted = test["result"]
    assert found in (wanted if isinstance(wanted, list) else [wanted])


def test_the_suite_is_there() -> None:
    assert len(list(cases())) > 150


@given(st.text(max_size=60), st.sampled_from(["192.0.2.1", "2001:db8::1", "no address"]))
def test_any_record_is_read(record: str, ip: str) -> None:
    found = check(
        ip, "mail.a.example", "x@a.example", lambda _, kind: (f"v=spf1 {record}",) * (kind == "TXT")
    )
    assert found in {"none", "neutral", "pass", "fail", "softfail", "temperror", "permerror"}
