"""`pulsegate score -`: JSON lines in, sentences or JSON lines out, and clear words for what is wrong."""

import json

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.core.errors import UserError


def test_a_title_and_a_body_are_enough() -> None:
    line = json.dumps({"title": "Fix it", "body": "Assisted-by: a tool\n\nIt broke when empty."})
    done = CliRunner().invoke(app, ["score", "-"], input=line + "\n\n")
    assert done.exit_code == 0, done.output
    assert "written with help of a tool" in done.output
    assert "**unknown**" in done.output


def test_json_holds_the_same_and_adds_up() -> None:
    body = "## Summary\n- Add the cache\n\n## Testing\n- `pytest`"
    done = CliRunner().invoke(
        app, ["score", "-", "--json"], input=json.dumps({"title": "Add", "body": body}) + "\n"
    )
    found = json.loads(done.output)
    assert found["score"]["unknown"]
    assert [s["name"] for s in found["score"]["signals"]] == ["text"]
    assert found["text"]["verdict"] in {"agent", "people", "unknown"}


@pytest.mark.parametrize("line", ["{", "[]", '"x"', "{}", '{"title": 5}'])
def test_what_is_no_pull_request_is_named_by_its_line(line: str) -> None:
    done = CliRunner().invoke(app, ["score", "-"], input=line + "\n")
    assert isinstance(done.exception, UserError)
    assert "line 1" in done.exception.message


def test_another_address_is_refused() -> None:
    done = CliRunner().invoke(app, ["score", "https://example.org/x"])
    assert isinstance(done.exception, UserError)
