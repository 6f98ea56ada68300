"""Sign-in against a scripted GitHub: who somebody is, and what goes wrong."""

from urllib.parse import parse_qs, urlsplit

import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from app.adapters.github.client import AppCredentials
from app.adapters.github.oauth import Begun, SignIn
from app.core.errors import RetryLater, UserError
from tests.adapters.github.scripted import Reply, Scripted

BACK = "https://gate.example/login/done"
TOKEN = "/login/oauth/access_token$"
ANNA = {"id": 11, "login": "anna", "type": "User", "email": None}


@pytest.fixture
def sign_in(credentials: AppCredentials, scripted: Scripted) -> SignIn:
    return SignIn(
        credentials,
        api_url=scripted.url + "/api/v3",
        web_url=scripted.url + "/",
        redirect_uri=BACK,
        timeout=0.5,
    )


def finish(sign_in: SignIn, begun: Begun) -> object:
    return sign_in.finish(
        code="c&1", state=begun.state, begun_state=begun.state, verifier=begun.verifier
    )


def test_a_sign_in(scripted: Scripted, sign_in: SignIn) -> None:
    scripted.on("POST", TOKEN, Reply(json={"access_token": "ghu_1", "token_type": "bearer"}))
    scripted.on("GET", "^/api/v3/user$", Reply(json=ANNA))
    begun = sign_in.begin()
    url = urlsplit(begun.url)
    asked = {key: value[0] for key, value in parse_qs(url.query).items()}
    assert url.path == "/login/oauth/authorize"
    assert asked == {
        "response_type": "code",
        "client_id": "Iv1.client",
        "redirect_uri": BACK,
        "state": begun.state,
        "code_challenge": create_s256_code_challenge(begun.verifier),
        "code_challenge_method": "S256",
    }
    assert begun.verifier not in repr(begun)
    account = finish(sign_in, begun)
    assert (account.id, account.login) == (11, "anna")  # type: ignore[attr-defined]
    traded, user = scripted.seen
    assert traded.body == {
        "grant_type": "authorization_code",
        "code": "c&1",
        "code_verifier": begun.verifier,
        "client_id": "Iv1.client",
        "client_secret": "client-secret",
        "redirect_uri": BACK,
    }
    assert traded.headers["accept"] == "application/json"
    assert "authorization" not in traded.headers
    assert user.headers["authorization"] == "Bearer ghu_1"


def test_each_sign_in_is_another(sign_in: SignIn) -> None:
    one, two = sign_in.begin(), sign_in.begin()
    assert one.state != two.state
    assert one.verifier != two.verifier


@pytest.mark.parametrize(("state", "begun"), [("a", "b"), ("", ""), ("é", "e"), ("a", "")])
def test_an_answer_to_another_sign_in(
    scripted: Scripted, sign_in: SignIn, state: str, begun: str
) -> None:
    with pytest.raises(UserError) as caught:
        sign_in.finish(code="c", state=state, begun_state=begun, verifier="v")
    assert caught.value.hint
    assert not scripted.seen


def test_a_code_that_github_refuses(scripted: Scripted, sign_in: SignIn) -> None:
    refusal = {"error": "bad_verification_code", "error_description": "The code is expired."}
    scripted.on("POST", TOKEN, Reply(json=refusal))
    with pytest.raises(UserError, match="The code is expired"):
        finish(sign_in, sign_in.begin())


@pytest.mark.parametrize(
    "reply",
    [
        Reply(500, {}),
        Reply(502, raw=b"<html>"),
        Reply(429, raw=b"slow"),
        Reply(json=[]),
        Reply(json={"token_type": "bearer"}),
        Reply(json={"access_token": "a\nb"}),
        Reply(json={"access_token": 7}),
        Reply(json={"error": "x", "error_description": "\n"}),
        Reply(json={"error": "x", "error_description": [7]}),
        Reply(act="drop"),
        Reply(act="hang"),
    ],
)
def test_no_token_is_no_verdict(scripted: Scripted, sign_in: SignIn, reply: Reply) -> None:
    scripted.on("POST", TOKEN, reply)
    with pytest.raises(RetryLater):
        finish(sign_in, sign_in.begin())


@pytest.mark.parametrize("user", [{"login": "anna"}, [], None])
def test_a_user_that_cannot_be_read(scripted: Scripted, sign_in: SignIn, user: object) -> None:
    scripted.on("POST", TOKEN, Reply(json={"access_token": "ghu_1"}))
    scripted.on("GET", "/user$", Reply(json=user))
    with pytest.raises(RetryLater, match="cannot read"):
        finish(sign_in, sign_in.begin())
