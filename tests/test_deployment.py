"""The compose file, the image and their settings, as far as they can be checked without Docker."""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
import yaml

from app.settings import Settings, load

OURS = {"migrate", "web", "worker", "worker-perform", "worker-mail", "mail", "beat"}
GIVEN = {"SECRET_KEY": "k" * 43, "POSTGRES_PASSWORD": "s3cret"}
_VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


def interpolate(value, env):
    """Compose's own `${NAME}`, `${NAME:-default}` and `${NAME:?message}`."""
    if isinstance(value, dict):
        return {k: interpolate(v, env) for k, v in value.items()}
    if isinstance(value, list):
        return [interpolate(v, env) for v in value]
    if not isinstance(value, str):
        return value

    def put(found):
        name, sign, word = found.groups()
        if env.get(name):
            return env[name]
        assert sign == "-", word or name
        return word

    return _VARIABLE.sub(put, value)


@pytest.fixture(scope="module")
def raw():
    return yaml.safe_load((Path(__file__).parent.parent / "docker-compose.yml").read_text())


@pytest.fixture
def services(raw):
    return interpolate(raw, GIVEN)["services"]


def test_compose_file_is_as_its_specification_says(raw):
    schema = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    jsonschema.validate(raw, json.loads(schema.read_text()))


def test_compose_file_has_all_parts(services):
    assert set(services) == OURS | {"postgres", "valkey", "mailpit"}
    for name, service in services.items():
        assert "healthcheck" in service, name
        assert service["restart"] == ("no" if name == "migrate" else "unless-stopped")


def test_mail_is_caught_only_where_somebody_asks_for_it(raw, services):
    """Else contributors would be told of mails that nobody ever gets."""
    assert services["mailpit"]["profiles"] == ["mailpit"]
    assert re.fullmatch(r"\S+:v\d+\.\d+", services["mailpit"]["image"])
    assert {services[name]["environment"]["SMTP_URL"] for name in OURS} == {""}
    given = interpolate(raw, GIVEN | {"SMTP_URL": "smtp://mailpit:1025"})["services"]
    assert given["web"]["environment"]["SMTP_URL"] == "smtp://mailpit:1025"
    for service in services.values():
        assert "mailpit" not in service.get("depends_on", {})


@pytest.mark.parametrize("name", sorted(GIVEN))
def test_compose_stops_without_its_secrets_and_says_which(raw, name):
    with pytest.raises(AssertionError, match=f"set {name} in .env"):
        interpolate(raw, GIVEN | {name: ""})


def test_no_secret_stands_in_the_files(root):
    for file in ("docker-compose.yml", "Dockerfile", ".env.example"):
        for line in (root / file).read_text().splitlines():
            name, _, value = line.strip().partition("=" if file == ".env.example" else ":")
            if re.search(r"PASSWORD|SECRET|TOKEN|_KEY", name) and not name.startswith("#"):
                assert value.strip().strip('"').startswith("${") or not value.strip(), line


def test_ports_are_bound_to_this_machine(services):
    bound = [port for service in services.values() for port in service.get("ports", ())]
    assert bound
    assert all(port.startswith("127.0.0.1:") for port in bound)


def test_what_is_depended_on_exists_and_can_be_healthy(services):
    for service in services.values():
        for name, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert "test" in services[name]["healthcheck"]
            else:
                assert services[name]["restart"] == "no"


@pytest.mark.parametrize("name", sorted(OURS))
def test_settings_accept_the_environment_of_every_service(services, name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for field in Settings.model_fields:
        monkeypatch.delenv(field.upper(), raising=False)
    for key, value in services[name]["environment"].items():
        assert key.lower() in Settings.model_fields
        monkeypatch.setenv(key, value)
    settings = load()
    assert not settings.embedded
    assert settings.secret_keys()[0].get_secret_value() == GIVEN["SECRET_KEY"]


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_command_of_ours_is_one(services, name, root):
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", *services[name]["command"], "--help"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_migrate_does_its_work_and_ends(services, root, servers, state_folder):
    # Not the shared database: this one goes up as the first step of a fresh installation.
    import psycopg

    with psycopg.connect(
        servers.database_url.replace("+psycopg", ""), autocommit=True
    ) as connection:
        connection.execute("create database composed")
    env = services["migrate"]["environment"] | {
        "DATABASE_URL": servers.database_url.replace("/postgres?", "/composed?"),
        "REDIS_URL": servers.redis_url,
    }
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", *services["migrate"]["command"]],
        cwd=root, env=os.environ | env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "the schema is at" in done.stdout


@pytest.mark.parametrize("name", ["worker", "worker-mail", "mail", "beat"])
def test_what_has_no_port_runs_and_is_found_healthy(
    services, root, database_url, servers, wait_for, tmp_path, name
):
    service = services[name]
    env = service["environment"] | {"DATABASE_URL": database_url, "REDIS_URL": servers.redis_url}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        env["MAIL_INBOUND"] = f"smtp://127.0.0.1:{free.getsockname()[1]}?domain=gate.example"
    check = service["healthcheck"]["test"][1:]
    program = check[2].replace('"worker", "beat", "mail"', f'"{name}-of-another-container"')
    said = tmp_path / "said"
    with said.open("w") as out:
        running = subprocess.Popen(
            [sys.executable, "-m", "app.cli", *service["command"]],
            cwd=root, env=os.environ | env, stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
    try:
        ready = {"mail": "mail is taken", "beat": ""}.get(name, "ready.")
        wait_for(lambda: ready in said.read_text(), f"{name} is ready", 40)
        healthy = [sys.executable, *check[1:]]
        wait_for(lambda: subprocess.run(healthy, check=False).returncode == 0, "healthy", 20)
        assert running.poll() is None, said.read_text()
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 1
    finally:
        running.terminate()
        running.wait(30)


def test_health_checks_of_ours_are_programs_that_compile(services, root):
    image = (root / "Dockerfile").read_text()
    words = json.loads(re.search(r"HEALTHCHECK [^\[]*CMD (\[.*\])", image)[1])
    checks = [s["healthcheck"]["test"][1:] for n, s in services.items() if n in OURS - {"migrate"}]
    for program in (words, *checks):
        assert program[:2] == ["python", "-c"]
        compile(program[2], "healthcheck", "exec")


def test_example_env_lists_every_variable(root):
    names = set(re.findall(r"^([A-Z_]+)=", (root / ".env.example").read_text(), re.MULTILINE))
    assert names >= {field.upper() for field in Settings.model_fields}


def test_image_runs_as_nobody_special_from_locked_packages(root):
    image = (root / "Dockerfile").read_text()
    assert image.count("\nFROM ") == 2 - image.startswith("FROM ")
    last = image.rpartition("\nFROM ")[2]
    assert re.search(r"^USER (?!0|root)\S+", last, re.MULTILINE)
    for line in re.findall(r"pip install .*", image):
        assert "--require-hashes" in line or "--no-deps" in line
    for source in re.findall(r"^COPY (?!--from)(\S+) ", image, re.MULTILINE):
        assert (root / source).exists()


def test_wheel_carries_the_migrations(root):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
            cwd=root, check=True, capture_output=True,
        )  # fmt: skip
        (wheel,) = Path(folder).glob("*.whl")
        import zipfile

        names = zipfile.ZipFile(wheel).namelist()
    assert "app/_migrations/env.py" in names
    assert not [n for n in names if n.startswith("tests/")]


def test_locks_name_no_index_and_hash_everything(root):
    for file in (root / "requirements").glob("*.lock"):
        text = file.read_text()
        assert "://" not in text
        assert "--index" not in text
        blocks = re.split(r"\n(?=\S)", text.strip())
        assert all("--hash=sha256:" in block for block in blocks), file


def test_service_and_build_follow_the_dev_lock(root):
    def pins(name):
        text = (root / "requirements" / f"{name}.lock").read_text()
        return set(re.findall(r"^(\S[^=\n]*==\S+)", text, re.MULTILINE))

    assert pins("service") <= pins("dev")
    assert pins("build") <= pins("dev")
