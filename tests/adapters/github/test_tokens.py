"""Installation tokens: shared over a real Valkey, sealed, and never a reason to fail."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis import Redis

from app.adapters.github.client import AppCredentials, GitHub
from app.adapters.github.tokens import PAUSE, TokenStore
from app.core.errors import UserError
from tests.adapters.github.scripted import Reply, Scripted

HOUR = timedelta(hours=1)


@pytest.fixture
def redis(redis_url: str) -> Any:
    with Redis.from_url(redis_url, socket_timeout=1) as client:
        yield client


def read(github: GitHub, installation: int = 7) -> None:
    github.installation(installation).read("/thing")


@pytest.fixture(autouse=True)
def thing(scripted: Scripted) -> None:
    scripted.on("GET", "/thing$", Reply(json={}))


def test_two_workers_share_a_token(
    connect: Callable[..., GitHub],
    store: Callable[..., TokenStore],
    scripted: Scripted,
    redis: Any,
) -> None:
    one, two = (connect(scripted.url, tokens=store(redis)) for _ in range(2))
    read(one)
    read(two)
    assert scripted.tokens == 1
    read(two, 8)
    assert scripted.tokens == 2
    one.forget(7)
    read(two)
    assert scripted.tokens == 3


def test_a_token_is_sealed_and_goes_before_it_expires(
    connect: Callable[..., GitHub],
    store: Callable[..., TokenStore],
    scripted: Scripted,
    redis: Any,
) -> None:
    read(connect(scripted.url, tokens=store(redis)))
    (key,) = redis.keys()
    assert b"ghs_" not in redis.get(key)
    assert 57 * 60 <= redis.ttl(key) <= 58 * 60


def test_two_servers_and_two_apps_do_not_mix(
    connect: Callable[..., GitHub],
    store: Callable[..., TokenStore],
    scripted: Scripted,
    credentials: AppCredentials,
    redis: Any,
) -> None:
    other = AppCredentials(1, credentials.private_key, "", "", "other")
    read(connect(scripted.url, tokens=store(redis)))
    read(connect(scripted.url, tokens=store(redis), credentials=other))
    read(connect(scripted.url.replace("127.0.0.1", "localhost"), tokens=store(redis)))
    assert scripted.tokens == 3


def test_what_another_key_sealed_is_absent(
    connect: Callable[..., GitHub],
    store: Callable[..., TokenStore],
    scripted: Scripted,
    redis: Any,
) -> None:
    github = connect(scripted.url, tokens=store(redis))
    read(github)
    (key,) = redis.keys()
    for foreign in (b"garbage", b"\xff\xfe", "é".encode()):
        redis.set(key, foreign)
        read(github)
    assert scripted.tokens == 4


def test_without_redis_the_memory_takes_over(
    connect: Callable[..., GitHub], store: Callable[..., TokenStore], scripted: Scripted
) -> None:
    now = [0.0]
    gone = _Counting(Redis.from_url("redis://127.0.0.1:1/0", socket_timeout=1))
    github = connect(scripted.url, tokens=store(gone, clock=lambda: now[0]))
    for _ in range(5):
        read(github)
    assert scripted.tokens == 1
    # A Redis that does not answer is left alone for a while, and then asked again.
    assert gone.asked == 1
    now[0] += PAUSE + 1
    read(github)
    assert gone.asked == 2
    github.forget(7)
    read(github)
    assert scripted.tokens == 2


class _Counting:
    def __init__(self, redis: Any) -> None:
        self._redis = redis
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        self.asked += 1
        return getattr(self._redis, name)


def test_an_expired_token_is_replaced(
    connect: Callable[..., GitHub], store: Callable[..., TokenStore], scripted: Scripted
) -> None:
    now = [0.0]
    github = connect(scripted.url, tokens=store(clock=lambda: now[0]))
    read(github)
    now[0] += 57 * 60
    read(github)
    assert scripted.tokens == 1
    now[0] += 2 * 60
    read(github)
    assert scripted.tokens == 2


def test_a_token_about_to_expire_is_used_once(github: GitHub, scripted: Scripted) -> None:
    soon = (datetime.now(UTC) + timedelta(seconds=90)).isoformat()
    scripted.on("POST", "access_tokens$", Reply(201, {"token": "ghs_short", "expires_at": soon}))
    read(github)
    read(github)
    assert len(scripted.asked("POST", "access_tokens$")) == 2


def test_what_is_no_token_is_not_used(store: Callable[..., TokenStore], redis: Any) -> None:
    tokens = store(redis)
    tokens.put("k", "two\nlines", HOUR)
    assert tokens.get("k") is None
    tokens.put("k", "ghs_x", HOUR)
    assert tokens.get("k") == "ghs_x"
    tokens.drop("k")
    assert tokens.get("k") is None


def test_secrets_do_not_show(credentials: AppCredentials) -> None:
    shown = repr(credentials)
    assert "PRIVATE" not in shown
    assert credentials.client_secret not in shown


@pytest.mark.parametrize("key", ["", "garbage", "-----BEGIN RSA PRIVATE KEY-----\nx\n-----END"])
def test_a_broken_private_key_is_told_at_the_start(
    connect: Callable[..., GitHub], key: str
) -> None:
    with pytest.raises(UserError, match="private key") as caught:
        connect("http://127.0.0.1:1", credentials=AppCredentials(1, key, "", "", ""))
    assert "GITHUB_PRIVATE_KEY" in caught.value.hint
