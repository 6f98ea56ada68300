"""Log lines: one line each, without secrets, with what they are about."""

import io
import json
import logging

import pytest
import structlog
from pydantic import SecretStr

from app import logs

TOKEN = "ghs_16C7e42F292c6912E7710c838347Ae178B4a"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIhunter2\n-----END RSA PRIVATE KEY-----"


@pytest.fixture
def log():
    """Configure, and give back a function that reads the lines."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()

    def configure(style, level="info"):
        logs.configure(level, style, stream)
        return structlog.get_logger("app.test")

    configure.lines = lambda: stream.getvalue().splitlines()
    yield configure
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_json_lines_carry_what_they_are_about(log):
    logger = log("json")
    with logs.bound(delivery="d-1", pr=7):
        logger.info("decided", rule="burst")
    logger.info("after")
    first, second = map(json.loads, log.lines())
    assert first == {
        "event": "decided", "rule": "burst", "delivery": "d-1", "pr": 7,
        "level": "info", "logger": "app.test", "timestamp": first["timestamp"],
    }  # fmt: skip
    assert first["timestamp"].endswith("Z")
    assert "delivery" not in second


def test_libraries_take_the_same_way(log):
    log("json")
    logging.getLogger("uvicorn.error").warning("got %s from %d", TOKEN, 7)
    (line,) = map(json.loads, log.lines())
    assert line["event"] == "got ghs_[hidden] from 7"
    assert line["level"] == "warning"


def test_level_is_kept(log):
    logger = log("console", "warning")
    logger.info("quiet")
    logging.getLogger("x").info("quiet")
    logger.warning("heard")
    assert len(log.lines()) == 1


@pytest.mark.parametrize("style", ["json", "console"])
def test_hostile_text_and_tracebacks_stay_on_one_line(log, style):
    logger = log(style)
    logger.info("title", title="a\nERROR forged\r\n\x1b[31mred\u2028x\u202e")
    try:
        raise ValueError(f"bad {TOKEN}")
    except ValueError:
        logger.exception("failed")
    lines = log.lines()
    assert len(lines) == 2
    assert "\x1b" not in lines[0]
    assert "ValueError: bad ghs_[hidden]" in lines[1]
    assert "Traceback" in lines[1]


@pytest.mark.parametrize("style", ["json", "console"])
@pytest.mark.parametrize(
    "secret",
    [
        TOKEN,
        "ghs_APPID_eyJhbGciOi.eyJpc3MiOiJodW50ZXIyIn0.hunter2-hunter2",
        "ghp_hunter2hunter2hunter2",
        "gho_hunter2hunter2hunter2",
        "github_pat_11ABCDEFG0hunter2_hunter2hunter2",
        "v1.1f699f1069f60xxx".replace("xxx", "a" * 27),
        "Authorization: Bearer hunter2hunter2",
        "Authorization: token hunter2",
        "{'authorization': 'Basic hunter2'}",
        "bearer hunter2hunter2hunter2",
        PEM,
        PEM.partition("-----END")[0],
        "postgresql+psycopg://user:hunter2@db/x",
        "redis://:hunter2@cache:6379/0",
    ],
)
def test_secrets_in_any_text_are_hidden(log, style, secret):
    logger = log(style)
    logger.info(
        f"said {secret} so", text=secret, deep={"a": [secret, {"b": secret}]}, raw=secret.encode()
    )
    logging.getLogger("lib").info("said %s", secret)
    text = "\n".join(log.lines())
    assert "hunter2" not in text
    assert secret not in text
    assert "[hidden]" in text
    assert len(log.lines()) == 2


@pytest.mark.parametrize(
    "name",
    ["secret", "webhook_secret", "token", "Authorization", "password", "private_key", "SECRET_KEY"],
)
def test_values_are_hidden_by_their_name(log, name):
    logger = log("json")
    logger.info("x", **{name: "hunter2", "headers": {name: "hunter2"}}, also=SecretStr("hunter2"))
    assert "hunter2" not in log.lines()[0]


def test_harmless_values_stay(log):
    logger = log("json")
    logger.info(
        "x", sha="0" * 40, url="https://github.com/a/b/pull/1", n=1, f=0.5, none=None, yes=True
    )
    line = json.loads(log.lines()[0])
    assert line["url"] == "https://github.com/a/b/pull/1"
    assert (line["sha"], line["n"], line["f"], line["none"], line["yes"]) == (
        "0" * 40,
        1,
        0.5,
        None,
        True,
    )


def test_console_is_for_people(log):
    log("console").info("listening", address="http://127.0.0.1:8000")
    assert log.lines()[0][9:] == "info    listening  address=http://127.0.0.1:8000"
