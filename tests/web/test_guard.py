import pytest
from starlette.datastructures import Headers

from app.web.guard import is_loopback, named_host
from app.web.viewer import local_path
from tests.web.serving import Server

PUBLIC = {"public_url": "https://gate.example"}


def test_headers_of_a_page(server: Server):
    headers = server.http.get("/").headers
    policy = headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "strict-transport-security" not in headers
    assert "max-age" in server.http.get("/static/style.css").headers["cache-control"]


def test_no_page_needs_what_the_policy_forbids(server: Server):
    page = server.http.get("/").text
    assert "style=" not in page
    assert "<script" not in page
    assert "<style" not in page


def test_https_only_where_the_public_address_is(serve):
    server = serve(**PUBLIC)
    headers = server.http.get("/", headers={"host": "gate.example"}).headers
    assert headers["strict-transport-security"].startswith("max-age=")


def test_only_our_own_name_is_answered_to(serve):
    server = serve(**PUBLIC)
    assert server.http.get("/", headers={"host": "gate.example"}).status_code == 200
    assert server.http.get("/", headers={"host": "GATE.example:443"}).status_code == 200
    for host in ("attacker.example", "gate.example.attacker.example", "[", "", "gate.example@x"):
        answer = server.http.get("/", headers={"host": host})
        assert answer.status_code in {400, 421}, host
    assert "gate.example" in server.http.get("/", headers={"host": "attacker.example"}).text
    assert server.http.get("/healthz", headers={"host": "web:8000"}).status_code == 200
    # A browser on this machine, by this machine's name.
    assert server.http.get("/").status_code == 200
    away = {"x-forwarded-for": "203.0.113.7"}
    assert server.http.get("/", headers=away).status_code == 421


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 303),
        ({"sec-fetch-site": "none"}, 303),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "{own}"}, 403),
        ({"origin": "{own}"}, 303),
        ({"origin": "null"}, 403),
        ({"origin": "https://attacker.example"}, 403),
        ({"origin": "{own}.attacker.example"}, 403),
        ({}, 303),
        ({"cookie": "pulsegate-session=x"}, 403),
    ],
)
def test_forged_requests_are_refused(server: Server, headers: dict[str, str], status: int):
    sent = {name: value.replace("{own}", server.url) for name, value in headers.items()}
    assert server.http.post("/logout", headers=sent).status_code == status


def test_no_form_is_larger_than_ours(server: Server):
    def pieces():
        yield b"id=1"

    assert server.http.post("/account/end", content=b"x" * 320_001).status_code == 413
    assert server.http.post("/account/end", content=pieces()).status_code == 413
    assert server.http.post("/account/end", data={"id": "x"}).status_code == 303


def test_webhooks_come_from_another_site(server: Server):
    sent = {"origin": "https://attacker.example", "sec-fetch-site": "cross-site"}
    assert (
        server.deliver(b"{}", **{k.replace("-", "_"): v for k, v in sent.items()}).status_code
        == 202
    )


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("/", "/"),
        ("/pull/o/r/1?a=b#c", "/pull/o/r/1?a=b#c"),
        ("", "/"),
        ("//attacker.example", "/"),
        ("/\\attacker.example", "/"),
        ("\\\\attacker.example", "/"),
        ("https://attacker.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/\t/attacker.example", "/"),
        ("/\n/attacker.example", "/"),
        ("///attacker.example", "/"),
        ("/é", "/"),
        ("/" + "x" * 2000, "/"),
    ],
)
def test_only_paths_of_ours_are_gone_to(wanted: str, found: str):
    assert local_path(wanted) == found


@pytest.mark.parametrize(
    ("host", "name", "loopback"),
    [
        ("localhost:8000", "localhost", True),
        ("LOCALHOST", "localhost", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.8.9.1:1", "127.8.9.1", True),
        ("[::1]:8000", "::1", True),
        ("localhost.", "localhost.", False),
        ("localhost@attacker.example", "attacker.example", False),
        ("10.0.0.1", "10.0.0.1", False),
        ("0.0.0.0", "0.0.0.0", False),
        ("[", "", False),
        ("", "", False),
    ],
)
def test_names_of_this_machine(host: str, name: str, loopback: bool):
    assert named_host(Headers({"host": host})) == name
    assert is_loopback(name) is loopback
