"""The environment table of the design: names, defaults, and clear words for what is wrong."""

import os
from pathlib import Path

import pytest

from app.core.errors import UserError
from app.settings import Settings, address_and_port, load

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\n"
KEY = "k" * 43


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Only what a test sets is in the environment, and no .env lies about."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def env(monkeypatch):
    def put(**values):
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        return load()

    return put


def test_nothing_set_means_embedded_on_loopback(tmp_path):
    settings = load()
    assert settings.embedded
    assert settings.public_url == "http://127.0.0.1:8000"
    assert (settings.host, settings.port) == ("127.0.0.1", 8000)
    assert settings.github_api_url == "https://api.github.com"
    assert settings.github_web_url == "https://github.com"
    assert (settings.effect_lease_seconds, settings.sweep_seconds) == (120, 10)
    root = os.geteuid() == 0
    assert settings.state_dir == (Path("/var/lib/pulsegate") if root else tmp_path / ".pulsegate")


def test_normal_user_keeps_state_beside_the_work(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert load().state_dir == tmp_path / ".pulsegate"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_usual_database_address_goes_to_psycopg(env, scheme):
    settings = env(DATABASE_URL=f"{scheme}://u:p@db/x", REDIS_URL="redis://cache")
    assert settings.database_url.get_secret_value() == "postgresql+psycopg://u:p@db/x"
    assert not settings.embedded


def test_secrets_are_lists_for_rotation(env):
    settings = env(GITHUB_WEBHOOK_SECRET="new, old,", SECRET_KEY=f"{KEY},{KEY[::-1]}1")
    assert [s.get_secret_value() for s in settings.github_webhook_secret] == ["new", "old"]
    assert len(settings.secret_keys()) == 2


def test_env_file_is_read_and_the_environment_wins(env):
    Path(".env").write_text("PORT=9001\nMAIL_FROM=a@b.org\nUNKNOWN_TO_US=1\n")
    settings = env(PORT="9002")
    assert (settings.port, settings.mail_from) == (9002, "a@b.org")


def test_empty_counts_as_absent(env):
    settings = env(**{name.upper(): "" for name in Settings.model_fields})
    assert settings.embedded
    assert settings.github_webhook_secret == ()
    assert settings.port == 8000


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("0.0.0.0", "http://127.0.0.1:8123"),
        ("::1", "http://[::1]:8123"),
        ("gate", "http://gate:8123"),
    ],
)
def test_public_url_follows_host_and_port(env, host, wanted):
    assert env(HOST=host, PORT="8123").public_url == wanted


def test_public_url_loses_its_last_slash(env):
    assert env(PUBLIC_URL="https://gate.example.org/").public_url == "https://gate.example.org"


@pytest.mark.parametrize("text", [PEM, PEM.replace("\n", "\\n")])
def test_private_key_from_the_environment(env, text):
    assert env(GITHUB_PRIVATE_KEY=text).github_private_key.get_secret_value() == PEM


def test_private_key_from_a_file(env, tmp_path):
    (tmp_path / "app.pem").write_text(PEM)
    settings = env(GITHUB_PRIVATE_KEY_FILE=str(tmp_path / "app.pem"))
    assert settings.github_private_key.get_secret_value() == PEM


def test_no_secret_in_any_text_of_it(env):
    settings = env(
        DATABASE_URL="postgresql://u:hunter2@db/x",
        REDIS_URL="redis://:hunter2@cache",
        GITHUB_PRIVATE_KEY=PEM,
        GITHUB_WEBHOOK_SECRET="hunter2",
        GITHUB_CLIENT_SECRET="hunter2",
        GITHUB_TOKEN="hunter2",
        SECRET_KEY="hunter2" * 6,
        SMTP_URL="smtp://u:hunter2@mail",
        MAIL_INBOUND="imap://u:hunter2@mail",
    )
    for text in (
        repr(settings),
        str(settings),
        str(settings.model_dump()),
        settings.model_dump_json(),
    ):
        assert "hunter2" not in text
        assert "MIIabc" not in text


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("PORT", "eighty", "integer"),
        ("PORT", "70000", "65535"),
        ("DATABASE_URL", "sqlite:///hunter2.db", "postgresql://"),
        ("REDIS_URL", "localhost:hunter2", "redis://"),
        ("PUBLIC_URL", "gate.example.org/hunter2", "https://"),
        ("GITHUB_API_URL", "ftp://hunter2", "https://"),
        ("GITHUB_APP_ID", "my-hunter2", "integer"),
        ("GITHUB_PRIVATE_KEY", "hunter2", "-----BEGIN"),
        ("GITHUB_PRIVATE_KEY_FILE", "/nowhere/app.pem", "No such file"),
        ("SECRET_KEY", "hunter2", "32 characters"),
        ("SMTP_URL", "hunter2", "smtp://"),
        ("MAIL_FROM", "nobody", "mail address"),
        ("LOG_LEVEL", "loud", "'debug'"),
        ("EFFECT_LEASE_SECONDS", "0", "greater than 0"),
        ("SWEEP_SECONDS", "-1", "greater than 0"),
    ],
)
def test_malformed_values_are_named_and_not_shown(env, complains, name, value, word):
    said = complains(lambda: env(**{name: value}))
    assert name in said
    assert word in said
    assert "hunter2" not in said


def test_two_private_keys_are_refused(env, complains, tmp_path):
    (tmp_path / "app.pem").write_text(PEM)
    said = complains(
        lambda: env(GITHUB_PRIVATE_KEY=PEM, GITHUB_PRIVATE_KEY_FILE=str(tmp_path / "app.pem"))
    )
    assert "not both" in said


def test_embedded_secret_key_is_made_once_and_private(tmp_path):
    settings = load(state_dir=tmp_path / "state")
    (key,) = settings.secret_keys()
    file = tmp_path / "state" / "secret_key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert key.get_secret_value() == file.read_text()
    assert len(key.get_secret_value()) == 43
    assert settings.secret_keys() == (key,)
    assert [p.name for p in file.parent.iterdir()] == ["secret_key"]


def test_database_without_secret_key_is_refused(env, complains):
    settings = env(DATABASE_URL="postgresql://db/x")
    said = complains(settings.secret_keys)
    assert "SECRET_KEY is not set" in said
    assert "token_urlsafe" in said


def test_secret_key_that_cannot_be_kept(complains):
    settings = load(state_dir=Path("/sys/pulsegate"))
    assert "/sys/pulsegate/secret_key" in complains(settings.secret_keys)


def test_damaged_secret_key(complains, tmp_path):
    (tmp_path / "secret_key").write_text("")
    assert "is damaged" in complains(load(state_dir=tmp_path).secret_keys)


def test_every_variable_is_explained():
    assert [n for n, field in Settings.model_fields.items() if not field.description] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgresql://u:p@127.0.0.1:notaport/x"),
        ("DATABASE_URL", "postgresql://u:p@127.0.0.1:99999/x"),
        ("REDIS_URL", "redis://127.0.0.1:abc/0"),
        ("PUBLIC_URL", "https://gate.example/sub"),
    ],
)
def test_an_address_that_cannot_work_is_refused_by_its_name(env, complains, name, value):
    assert name in complains(lambda: env(**{name: value}))


def test_a_name_server_is_an_address(env):
    assert env().name_server is None
    for given, read in {
        "192.0.2.1": ("192.0.2.1", 53),
        "192.0.2.1:5353": ("192.0.2.1", 5353),
        "2001:db8::1": ("2001:db8::1", 53),
        "[2001:db8::1]:5353": ("2001:db8::1", 5353),
    }.items():
        assert address_and_port(env(NAME_SERVER=given).name_server, 53) == read
    for wrong in ("ns.example", "192.0.2.1:x", "192.0.2.1:0", "192.0.2.1:99999", ":53"):
        with pytest.raises(UserError, match="NAME_SERVER: must be like"):
            env(NAME_SERVER=wrong)
