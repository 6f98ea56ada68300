"""`/api` and the page of the simulation: validate anybody's file, simulate for who may see."""

import json
from typing import Any

import jsonschema
import pytest

from app.adapters.github.absent import NoGitHub
from app.adapters.patterns import LinearPatterns
from app.core.cases import Means
from app.db import simulations
from app.flows.simulate import Simulate
from tests.scorer import SCORER
from tests.web.deciding import Decided
from tests.web.serving import Server

GOOD = "version: 1\nmode: close\nrules: {burst: {prs: 3}, paths: {patterns: ['*.lock']}}\n"


def _validate(server: Server, text: str | bytes) -> Any:
    return server.http.post("/api/validate", content=text)


def test_a_good_file_is_shown_whole(server: Server) -> None:
    answer = _validate(server, GOOD).json()
    assert (answer["valid"], answer["problems"]) == (True, [])
    assert answer["policy"]["rules"]["burst"]["prs"] == 3


@pytest.mark.parametrize(
    ("text", "line", "column", "key", "said"),
    [
        ("mode: clsoe", 1, 1, "mode", "must be one of"),
        ("version: 1\nrules:\n  burst:\n    pr: 3\n", 4, 5, "rules.burst.pr", "did you mean prs?"),
        ("version: 1\r\nmood: close\r\n", 2, 1, "mood", "did you mean mode?"),
        ("\ufeffmode: close\nx: 1", 2, 1, "x", "unknown key"),
        ("mode: close\n\tlabel: x", 2, 1, "", "not valid YAML"),
        ("rules: {paths: {patterns: [ok, '\\']}}", 1, 32, "rules.paths.patterns.1", "no pattern"),
        ("rules: {burst: {prs: &a 3, minutes: *a}}", 1, 37, "", "aliases"),
        ("rules: {pause: {start: 2026-01-01}}", 1, 9, "rules.pause", "only of use together"),
        ("rules: {unattended: {grace_hours: 1}}", 1, 9, "rules.unattended", "24 or more"),
    ],
)
def test_a_wrong_one_is_told_where_and_how_it_is_right(
    server: Server, text: str, line: int, column: int, key: str, said: str
) -> None:
    answer = _validate(server, text.encode())
    assert answer.status_code == 200
    (problem,) = answer.json()["problems"]
    assert (problem["line"], problem["column"], problem["key"]) == (line, column, key)
    assert said in problem["message"]


def test_all_faults_are_told_at_once(server: Server) -> None:
    problems = _validate(server, "mode: x\nlabel: ''\nfoo: 1\n").json()["problems"]
    assert [p["key"] for p in problems] == ["mode", "label", "foo"]


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"x" * 100_001, 413), (b"\xff\xfe", 400), (b"a" * 1_000_000, 413)],
    ids=["a byte too much", "not text", "a megabyte"],
)
def test_what_is_no_file_at_all(server: Server, body: bytes, status: int) -> None:
    assert _validate(server, body).status_code == status


def test_another_site_cannot_use_a_visitors_browser(server: Server) -> None:
    forged = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    assert server.http.post("/api/validate", content=GOOD, headers=forged).status_code == 403


def test_the_schema_takes_what_the_parser_takes(server: Server) -> None:
    import yaml

    answer = server.http.get("/schema/pulsegate.json")
    assert answer.headers["access-control-allow-origin"] == "*"
    schema = answer.json()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for text in (GOOD, "version: 1", "{}", "rules: {cap: {mode: close, open: 2, drafts: false}}"):
        assert _validate(server, text).json()["valid"]
        validator.validate(yaml.safe_load(text))
    for text in ("mood: close", "rules: {burst: {pr: 3}}", "mode: 3", "rules: {cap: {open: 0}}"):
        assert not _validate(server, text).json()["valid"]
        assert not validator.is_valid(yaml.safe_load(text))
    whole = _validate(server, GOOD).json()["policy"]
    validator.validate(whole)


def _flood(decided: Decided) -> None:
    decided.flood(decided.repository("acme/widgets", recorded=True), 6)


def _worked_off(server: Server, made: int) -> None:
    base = server.parts.base
    means = Means(patterns=LinearPatterns())
    Simulate(base.database, NoGitHub(), SCORER, means, server.parts.clock).run(made)


def test_a_simulation_is_asked_for_and_answered_later(server: Server, decided: Decided) -> None:
    _flood(decided)
    where = "/api/simulate/acme/widgets/100"
    asked = server.http.post(where, content=GOOD)
    assert asked.status_code == 202, asked.text
    answer = asked.headers["location"]
    assert server.http.get(answer).json()["state"] == "waiting"
    _worked_off(server, asked.json()["id"])
    told = server.http.get(answer).json()
    assert told["state"] == "done"
    assert told["decision"]["mode"] == "close"
    wrong = server.http.post(where, content="mood: close")
    assert wrong.status_code == 422
    assert "line 1, column 1" in json.dumps(wrong.json())
    assert server.http.get("/api/simulations/4711").status_code == 404


def test_a_simulation_is_for_who_may_see_the_repository(server: Server, decided: Decided) -> None:
    _flood(decided)
    away = {"x-forwarded-for": "203.0.113.9"}
    refused = server.http.post("/api/simulate/acme/widgets/100", content=GOOD, headers=away)
    assert refused.status_code == 401
    assert refused.headers["content-type"] == "application/json"
    made = server.http.post("/api/simulate/acme/widgets/100", content=GOOD).json()["id"]
    assert server.http.get(f"/api/simulations/{made}", headers=away).status_code == 404
    assert server.http.get(f"/simulations/{made}", headers=away).status_code == 404


def test_the_page_tries_a_configuration(server: Server, decided: Decided) -> None:
    _flood(decided)
    page = server.http.get("/pull/acme/widgets/100").text
    assert "Try a configuration" in page
    asked = server.http.post("/pull/acme/widgets/100/simulate", data={"text": GOOD})
    assert asked.status_code == 303
    waits = server.http.get(asked.headers["location"])
    assert waits.headers["refresh"] == "2"
    _worked_off(server, int(asked.headers["location"].rsplit("/", 1)[1]))
    told = server.http.get(asked.headers["location"])
    assert "refresh" not in told.headers
    assert "What would be done" in told.text
    assert "explain" in told.text
    wrong = server.http.post("/pull/acme/widgets/100/simulate", data={"text": "mood: <b>"})
    assert wrong.status_code == 422
    assert "did you mean mode?" in wrong.text
    # What was typed stands there to be mended, as text.
    assert "mood: &lt;b&gt;</textarea>" in wrong.text


def test_many_at_once_are_too_many(server: Server, decided: Decided) -> None:
    _flood(decided)
    statuses = [
        server.http.post("/api/simulate/acme/widgets/100", content=GOOD).status_code
        for _ in range(21)
    ]
    assert statuses[:20] == [202] * 20
    assert statuses[20] == 400
    with server.parts.base.database.begin() as tx:
        assert simulations.asked_since(tx, 0, server.parts.clock()) == 0


def test_many_files_at_once_hold_nobody_up(server: Server) -> None:
    from concurrent.futures import ThreadPoolExecutor

    slow = "exempt: {accounts: [" + "1," * 45_000 + "1]}"
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(_validate, server, slow) for _ in range(8)]
        assert server.http.get("/healthz").status_code == 200
        statuses = {future.result().status_code for future in asked}
    assert statuses == {200, 503}
