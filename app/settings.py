"""What the environment (or a `.env` file in the current folder) says, read once and checked.

Every field is the environment variable of the same name in capitals. An empty value counts as
absent. Secrets are `SecretStr`, so that neither a log line nor a traceback shows them.
"""

import os
import re
import secrets
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.core.errors import UserError

NEW_KEY_HINT = (
    "make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(32))' "
    "and set SECRET_KEY to it"
)
_KEY_LENGTH = 32
_DATABASE_SCHEMES = ("postgresql+psycopg", "postgresql", "postgres")
_REDIS_SCHEMES = ("redis", "rediss", "unix")
_SMTP_SCHEMES = ("smtp", "smtps")
_MAIL = re.compile(r"[^@\s<>]+@[^@\s<>]+\.?[^@\s<>]*")


def default_state_dir() -> Path:
    """Where the embedded servers keep their data: see docs/design.md for why root has its own place."""
    return Path("/var/lib/pulsegate") if os.geteuid() == 0 else Path(".pulsegate")


def _words(value: Any) -> Any:
    """`a, b` as a list, so that a secret can be rotated by naming two."""
    if not isinstance(value, str):
        return value
    return [word for word in (part.strip() for part in value.split(",")) if word]


SecretList = Annotated[tuple[SecretStr, ...], NoDecode]


class Settings(BaseSettings):
    """The whole configuration of the service; `load` turns its errors into words."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        validate_default=True,
    )

    database_url: SecretStr | None = Field(
        default=None, description="PostgreSQL, as postgresql://…; absent: an embedded server."
    )
    redis_url: SecretStr | None = Field(
        default=None,
        description="Redis or Valkey, as redis://…, rediss://… or unix://…; absent: embedded.",
    )
    public_url: str = Field(
        default="",
        description="Where contributors and GitHub reach the service; default http://HOST:PORT.",
    )

    github_api_url: str = Field(
        default="https://api.github.com", description="Another one for GitHub Enterprise Server."
    )
    github_web_url: str = Field(
        default="https://github.com", description="Another one for GitHub Enterprise Server."
    )
    github_app_id: int | None = Field(default=None, gt=0, description="The App's number.")
    github_private_key: SecretStr | None = Field(
        default=None, description="The App's private key: the PEM text, line ends may be \\n."
    )
    github_private_key_file: Path | None = Field(
        default=None, description="A file that holds the App's private key."
    )
    github_webhook_secret: SecretList = Field(
        default=(), description="The webhook's secret; two, with a comma between, during rotation."
    )
    github_client_id: str | None = Field(default=None, description="For sign-in with GitHub.")
    github_client_secret: SecretStr | None = Field(
        default=None, description="For sign-in with GitHub."
    )
    github_token: SecretStr | None = Field(
        default=None,
        description="For `pulsegate backtest` of a repository without an App.",
    )

    secret_key: SecretList = Field(
        default=(),
        description="Sessions, hashes and encryption are keyed by it; several while it is rotated, "
        "newest first. Kept in the state folder when the servers are embedded.",
    )

    smtp_url: SecretStr | None = Field(
        default=None,
        description="Outgoing mail, as smtp://user:password@host:587 or smtps://…",
    )
    mail_from: str | None = Field(default=None, description="The sender of our mails.")
    mail_inbound: SecretStr | None = Field(
        default=None,
        description="How proof mails come in: smtp://HOST:PORT?domain=…, lmtp://…, "
        "imaps://USER:PASSWORD@HOST/FOLDER?domain=…, or hook://SECRET?domain=…; see "
        "proof-of-life.md.",
    )
    mail_check_domain: bool = Field(
        default=True,
        description="Whether it is looked up that an address's domain takes mail before one is sent.",
    )
    name_server: str | None = Field(
        default=None,
        description="Whom to ask for keys of signatures, SPF, and whether a domain takes mail, as "
        "ADDRESS or ADDRESS:PORT; absent: the machine's.",
    )

    host: str = Field(default="127.0.0.1", description="Where web listens.")
    port: int = Field(default=8000, ge=1, le=65535, description="Where web listens.")
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Networks of the proxies in front, as 10.0.0.0/8 or an address, with commas "
        "between: what they say in X-Forwarded-For of where a visitor comes from is believed.",
    )
    state_dir: Path = Field(
        default_factory=default_state_dir,
        description="Data of the embedded servers; default .pulsegate, as root /var/lib/pulsegate.",
    )

    effect_lease_seconds: float = Field(
        default=120,
        gt=0,
        le=3600,
        description="An effect whose worker died is taken up again after so long. Longer than a "
        "task may take (90 s), or a slow worker and its successor act at once.",
    )
    sweep_seconds: float = Field(
        default=10, gt=0, le=3600, description="How often left-over work is looked for."
    )
    ring_again_seconds: float = Field(
        default=60,
        gt=0,
        le=3600,
        description="What was rung for and not taken up is rung for again after so long.",
    )
    redeliver_seconds: float = Field(
        default=300,
        gt=0,
        le=86400,
        description="How often GitHub's list of failed deliveries is read.",
    )
    worker_concurrency: int = Field(
        default=2, ge=1, le=64, description="Processes of each worker that `up` starts."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Nothing below it is logged."
    )
    log_format: Literal["json", "console"] = Field(
        default="console", description="One JSON object a line for machines, or words for people."
    )

    @field_validator("github_webhook_secret", "secret_key", "trusted_proxies", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return _words(value)

    @field_validator("log_level", "log_format", mode="before")
    @classmethod
    def _lower(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    @field_validator("secret_key")
    @classmethod
    def _long_enough(cls, value: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if any(len(k.get_secret_value()) < _KEY_LENGTH for k in value):
            raise ValueError(f"every key needs {_KEY_LENGTH} characters or more; {NEW_KEY_HINT}")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            try:
                ip_network(one)
            except ValueError:
                raise ValueError("must be networks like 10.0.0.0/8 or addresses") from None
        return value

    @field_validator("database_url")
    @classmethod
    def _postgresql(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None:
            return None
        scheme, _, rest = value.get_secret_value().partition("://")
        if scheme not in _DATABASE_SCHEMES or not rest or not _has_port(f"x://{rest}"):
            raise ValueError("must be like postgresql://user:password@host:5432/database")
        return SecretStr(f"{_DATABASE_SCHEMES[0]}://{rest}")

    @field_validator("redis_url")
    @classmethod
    def _redis(cls, value: SecretStr | None) -> SecretStr | None:
        return _of_scheme(
            value, _REDIS_SCHEMES, "redis://host:6379/0 or unix:///path/of/the/socket"
        )

    @field_validator("smtp_url")
    @classmethod
    def _smtp(cls, value: SecretStr | None) -> SecretStr | None:
        return _of_scheme(value, _SMTP_SCHEMES, "smtp://user:password@host:587")

    @field_validator("public_url", "github_api_url", "github_web_url")
    @classmethod
    def _web_address(cls, value: str) -> str:
        if not value:  # PUBLIC_URL's default follows HOST and PORT, see below
            return value
        parts = urlsplit(value)
        if (
            parts.scheme not in {"http", "https"}
            or not parts.hostname
            or parts.query
            or parts.fragment
        ):
            raise ValueError("must be an address like https://pulsegate.example.org")
        return value.rstrip("/")

    @field_validator("public_url")
    @classmethod
    def _no_path(cls, value: str) -> str:
        if value and urlsplit(value).path:
            raise ValueError("must have no path: every page is at the top of its server")
        return value

    @field_validator("mail_from")
    @classmethod
    def _mail_address(cls, value: str | None) -> str | None:
        if value is not None and not _MAIL.fullmatch(value.strip()):
            raise ValueError("must be a mail address like pulsegate@example.org")
        return value.strip() if value else None

    @field_validator("name_server")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if value is not None:
            address_and_port(value, 53)
        return value

    @field_validator("github_private_key")
    @classmethod
    def _pem(cls, value: SecretStr | None) -> SecretStr | None:
        return None if value is None else _private_key(value.get_secret_value())

    @field_validator("state_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @model_validator(mode="after")
    def _derive(self) -> Self:
        if self.github_private_key_file and self.github_private_key:
            raise ValueError("set GITHUB_PRIVATE_KEY or GITHUB_PRIVATE_KEY_FILE, not both")
        if self.github_private_key_file:
            try:
                text = self.github_private_key_file.expanduser().read_text()
            except (OSError, UnicodeDecodeError) as error:
                raise ValueError(f"GITHUB_PRIVATE_KEY_FILE cannot be read: {error}") from None
            try:
                self.__dict__["github_private_key"] = _private_key(text)
            except ValueError as error:
                raise ValueError(f"GITHUB_PRIVATE_KEY_FILE {error}") from None
        if not self.public_url:
            host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)  # noqa: S104
            host = f"[{host}]" if ":" in host and not host.startswith("[") else host
            self.__dict__["public_url"] = f"http://{host}:{self.port}"
        return self

    @property
    def embedded(self) -> bool:
        """Whether at least one of the two servers is ours to start."""
        return self.database_url is None or self.redis_url is None

    def secret_keys(self) -> tuple[SecretStr, ...]:
        """The keys, newest first: SECRET_KEY, or the one kept in the state folder.

        Without a configured database the key is made on first use (mode 0600). With one, a key
        that only this machine knows would lock the other machines out, so that it must be set.
        """
        if self.secret_key:
            return self.secret_key
        if self.database_url is not None:
            raise UserError("SECRET_KEY is not set, but DATABASE_URL is", hint=NEW_KEY_HINT)
        return (SecretStr(_kept_key(self.state_dir / "secret_key")),)


def _of_scheme(value: SecretStr | None, schemes: tuple[str, ...], example: str) -> SecretStr | None:
    if value is None:
        return None
    scheme, _, rest = value.get_secret_value().partition("://")
    if scheme not in schemes or not rest or not _has_port(f"x://{rest}"):
        raise ValueError(f"must be like {example}")
    return value


def address_and_port(value: str, default: int) -> tuple[str, int]:
    """`192.0.2.1:53`, `192.0.2.1`, `[2001:db8::1]:53` or `2001:db8::1`. ValueError for anything else."""
    try:
        return str(ip_address(value)), default
    except ValueError:
        try:
            parts = urlsplit(f"//{value}")
            found, port = ip_address(parts.hostname or ""), parts.port
        except ValueError:
            port = 0
    if port == 0:
        raise ValueError("must be like 192.0.2.1, 192.0.2.1:53 or [2001:db8::1]:53")
    return str(found), port or default


def _has_port(address: str) -> bool:
    """Whether the port, if one is named, is a number that can be one."""
    try:
        urlsplit(address).port  # noqa: B018 - it raises
    except ValueError:
        return False
    return True


def _private_key(text: str) -> SecretStr:
    pem = text.replace("\\n", "\n").strip()
    if not re.match(r"-----BEGIN [A-Z ]*PRIVATE KEY-----\n", pem):
        raise ValueError("is no private key: it must begin with -----BEGIN RSA PRIVATE KEY-----")
    return SecretStr(pem + "\n")


def _kept_key(path: Path) -> str:
    """The key in the file, made first if there is none; two processes agree on one."""
    try:
        path.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(32))
        try:
            os.link(fresh, path)  # fails if another process was first
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
        key = "" if path.is_dir() else path.read_text().strip()
    except UnicodeDecodeError:
        key = ""
    except OSError as error:
        raise UserError(
            f"the secret key cannot be kept in {path}: {error.strerror}",
            hint="set STATE_DIR to a folder that you may write, or set SECRET_KEY",
        ) from None
    if len(key) < _KEY_LENGTH:
        raise UserError(
            f"{path} is damaged: it holds no key",
            hint="restore it, or delete it: sessions and stored credentials are then lost",
        )
    return key


def load(**given: Any) -> Settings:
    """The settings; what is `given` wins over the environment. UserError names what is wrong."""
    try:
        return Settings(**given)
    except ValidationError as error:
        lines = []
        for problem in error.errors(include_input=False, include_url=False):
            name = ".".join(str(part) for part in problem["loc"][:1]).upper()
            what = problem["msg"].removeprefix("Value error, ")
            lines.append(f"{name}: {what}" if name else what)
        raise UserError(
            "the configuration is not right:\n  " + "\n  ".join(lines),
            hint="correct the environment variable or the line in .env; see .env.example",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"the file .env cannot be read: {error}",
            hint="make it a text file in UTF-8 that you may read; see .env.example",
        ) from None
