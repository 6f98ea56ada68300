"""The command line: examples, words instead of tracebacks, exit codes."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

COMMANDS = (
    ["up"],
    ["web"],
    ["worker"],
    ["beat"],
    ["mail"],
    ["db", "upgrade"],
    ["db", "downgrade"],
    ["db", "current"],
    ["config", "check"],
    ["audit", "export"],
    ["audit", "erase"],
    ["report"],
    ["backtest"],
    ["trust", "import"],
    ["trust", "export"],
    ["kernels", "affected"],
)


@pytest.fixture
def pulsegate(root, tmp_path):
    """Run the command line in an empty folder."""

    def run(*words, python=(), **env):
        return subprocess.run(
            [sys.executable, *python, "-m", "app.cli", *words],
            env={**os.environ, "PYTHONPATH": str(root), **env},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(pulsegate, command):
    done = pulsegate(*command, "--help")
    assert done.returncode == 0
    assert f"pulsegate {' '.join(command)}" in done.stdout.partition("Example:")[2]


@pytest.mark.parametrize(
    "words",
    [(), ("db",), ("config",), ("audit",), ("kernels",)],
    ids=["all", "db", "config", "audit", "kernels"],
)
@pytest.mark.parametrize("ask", [("--help",), ()], ids=["asked", "no command"])
def test_the_help_of_a_group_has_an_example_too(pulsegate, words, ask):
    done = pulsegate(*words, *ask)
    shown = done.stdout + done.stderr  # without a command it is an error's text
    assert " ".join(("Example: pulsegate", *words)) in shown
    assert shown.index("Example:") < shown.index("Commands:")


def test_help_without_a_command_lists_all_of_them(pulsegate):
    done = pulsegate("--help")
    assert all(command[0] in done.stdout for command in COMMANDS)


def test_version(pulsegate):
    done = pulsegate("--version")
    assert done.stdout.startswith("pulsegate 0")
    assert done.returncode == 0


def test_what_a_person_can_mend_is_a_sentence(pulsegate):
    done = pulsegate("db", "current", PORT="eighty")
    assert done.returncode == 2
    assert "PORT" in done.stderr
    assert "what to do:" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_revision_that_nobody_knows(servers, complains):
    from app.wiring.schema import migrate_down

    assert "'nonsense'" in complains(lambda: migrate_down(servers.database_url, "nonsense"))


def test_database_that_does_not_answer(pulsegate):
    done = pulsegate(
        "db", "upgrade",
        DATABASE_URL="postgresql://u:hunter2@127.0.0.1:1/x", REDIS_URL="redis://x", SECRET_KEY="k" * 32,
    )  # fmt: skip
    assert done.returncode == 2
    assert "DATABASE_URL" in done.stderr
    assert "hunter2" not in done.stderr


def test_schema_up_and_down_on_the_embedded_database(pulsegate, state_folder):
    state = tempfile.mkdtemp(dir=state_folder)
    Path(state).chmod(0o755)
    before = pulsegate("db", "current", STATE_DIR=state)
    assert (before.returncode, before.stdout.split(",")[0]) == (1, "the schema is at nothing")
    assert "the schema is at 0" in pulsegate("db", "upgrade", STATE_DIR=state).stdout
    down = pulsegate("db", "downgrade", "base", STATE_DIR=state)
    assert (down.returncode, down.stdout) == (0, "the schema is at nothing\n")


BASE_ONLY = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"sqlalchemy", "psycopg", "uvicorn", "structlog", "pydantic_settings", "psutil"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
sys.argv = ["pulsegate", *sys.argv[1:]]
from app.cli import main
main()
"""


@pytest.mark.parametrize("command", [["up"], ["web"], ["db", "current"]], ids=" ".join)
def test_base_install_says_which_extra_is_missing(root, command):
    def run(*words):
        return subprocess.run(
            [sys.executable, "-c", BASE_ONLY, *words],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )

    done = run(*command)
    assert done.returncode == 2
    assert "pip install 'pulsegate[service]'" in done.stderr
    assert run("--help").returncode == 0


def test_a_configuration_is_checked_without_a_service(pulsegate, tmp_path):
    file = tmp_path / "pulsegate.yml"
    file.write_text("version: 1\r\nmode: close\r\nrules: {burst: {mode: ask}}\r\n")
    done = pulsegate("config", "check", file.name)
    assert done.returncode == 0
    assert "mode close" in done.stdout
    assert "burst ask" in done.stdout
    file.write_text("mode: close\nrules:\n  burst: {pr: 3}\nlabel: ''\n")
    done = pulsegate("config", "check", file.name)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == (
        f"{file.name}:3:11: rules.burst.pr: unknown key; did you mean prs?"
    )
    assert f"{file.name}:4:1: label: " in done.stdout
    told = json.loads(pulsegate("config", "check", file.name, "--json").stdout)
    assert [p["line"] for p in told["problems"]] == [3, 4]


def test_a_configuration_is_checked_over_its_default(pulsegate, tmp_path):
    (tmp_path / "org.yml").write_text("mode: ask\n")
    (tmp_path / "own.yml").write_text("rules: {cap: {mode: close}}\n")
    done = pulsegate("config", "check", "own.yml", "--default", "org.yml")
    assert "mode ask" in done.stdout
    assert "cap ask" in done.stdout
    (tmp_path / "org.yml").write_text("mode: asks\n")
    done = pulsegate("config", "check", "own.yml", "--default", "org.yml")
    assert done.returncode == 2
    assert "Mend the default first" in done.stderr


@pytest.mark.parametrize("content", [None, b"\xff\xfe"], ids=["no file", "no text"])
def test_a_configuration_that_cannot_be_read(pulsegate, tmp_path, content):
    if content:
        (tmp_path / "x.yml").write_bytes(content)
    done = pulsegate("config", "check", "x.yml")
    assert done.returncode == 2
    assert "what to do:" in done.stderr


def test_a_huge_configuration_is_refused_unread(pulsegate, tmp_path):
    (tmp_path / "x.yml").write_bytes(b"[" * 1_000_000)
    done = pulsegate("config", "check", "x.yml")
    assert done.returncode == 1
    assert "longer than" in done.stdout
