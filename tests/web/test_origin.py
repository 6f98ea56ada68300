"""Where a visitor comes from, behind proxies and without."""

import pytest

from app.web.guard import Site
from app.web.origin import network

OPEN, LOCAL = Site.of("https://gate.example"), Site.of("http://127.0.0.1:8000")


def seen(peer: str | None, forwarded: str = "", *, site: Site = OPEN, proxies: tuple = ()) -> str:
    headers = [(b"x-forwarded-for", forwarded.encode("latin-1"))] if forwarded else []
    scope = {"type": "http", "headers": headers, "client": (peer, 1) if peer else None}
    return network(scope, site, proxies)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        # Nobody is in front.
        (seen("8.8.8.8"), "8.8.8.8"),
        (seen("8.8.8.8", "9.9.9.9"), "8.8.8.8"),  # anybody can write that
        (seen("2a00:1450::1"), "2a00:1450::/64"),
        (seen("127.0.0.1", site=LOCAL), "127.0.0.1"),
        # Somebody is, and the operator did not say who: visitors are not told apart.
        (seen("127.0.0.1"), ""),
        (seen("172.18.0.1", "9.9.9.9"), ""),
        (seen("127.0.0.1", "9.9.9.9", site=LOCAL), ""),
        (seen(None), ""),
        (seen("not an address"), ""),
        # The operator said who.
        (seen("10.0.0.1", "9.9.9.9", proxies=("10.0.0.0/8",)), "9.9.9.9"),
        (seen("10.0.0.1", "1.1.1.1, 9.9.9.9, 10.2.3.4", proxies=("10.0.0.0/8",)), "9.9.9.9"),
        (seen("10.0.0.1", "[2a00:1450::1]:443", proxies=("10.0.0.1",)), "2a00:1450::/64"),
        (seen("10.0.0.1", "9.9.9.9:5000", proxies=("10.0.0.1",)), "9.9.9.9"),
        (seen("::ffff:10.0.0.1", "9.9.9.9", proxies=("10.0.0.1",)), "9.9.9.9"),
        (seen("10.0.0.1", "unknown", proxies=("10.0.0.1",)), ""),
        (seen("10.0.0.1", proxies=("10.0.0.1",)), ""),
        (seen("10.0.0.1", ",".join(["10.0.0.1"] * 99), proxies=("10.0.0.1",)), ""),
        (seen("192.168.1.1", "9.9.9.9", proxies=("10.0.0.1",)), "192.168.1.1"),
    ],
)
def test_only_named_proxies_are_believed(found: str, said: str) -> None:
    assert found == said
