import hashlib
import hmac

import pytest

from app.adapters.github.webhook import verify

# GitHub's own example, from "Validating webhook deliveries".
SECRET, BODY = "It's a Secret to Everybody", b"Hello, World!"
SIGNATURE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_githubs_own_example():
    assert verify(BODY, SIGNATURE, [SECRET])


def test_any_of_several_secrets():
    assert verify(BODY, SIGNATURE, ["other", SECRET])
    assert not verify(BODY, SIGNATURE, ["other"])
    assert not verify(BODY, SIGNATURE, [])


@pytest.mark.parametrize("secret", ["", "\N{SNOWMAN}"])
def test_an_empty_secret_signs_nothing(secret: str):
    made = "sha256=" + hmac.new(secret.encode(), BODY, hashlib.sha256).hexdigest()
    assert verify(BODY, made, [secret]) is bool(secret)


@pytest.mark.parametrize(
    "signature",
    [
        None,
        "",
        "sha256=",
        SIGNATURE[:-1],
        SIGNATURE + "0",
        SIGNATURE.upper(),
        f"{SIGNATURE}\n",
        SIGNATURE.replace("sha256=", ""),
        SIGNATURE.replace("sha256=", "sha256=é"),
        "sha1=" + hmac.new(SECRET.encode(), BODY, hashlib.sha1).hexdigest(),
    ],
)
def test_anything_else_is_refused(signature: str | None):
    assert not verify(BODY, signature, [SECRET])


def test_one_bit_changes_everything():
    assert not verify(b"Hello, World?", SIGNATURE, [SECRET])
