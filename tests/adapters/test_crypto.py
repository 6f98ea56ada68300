import pytest

from app.adapters.crypto import Hasher, Signer, Vault, derive
from app.core.errors import UserError

OLD, NEW = "o" * 40, "n" * 40


def test_each_use_has_a_key_of_its_own():
    uses = [derive(OLD, use) for use in ("sessions", "hashes", "encryption")]
    assert len(set(uses)) == 3
    assert all(len(key) == 32 for key in uses)
    assert derive(NEW, "sessions") != uses[0]


def test_what_an_older_key_sealed_still_opens():
    sealed = Vault([OLD]).seal(b"private key")
    assert b"private" not in sealed
    assert Vault([NEW, OLD]).open(sealed) == b"private key"
    assert Vault([OLD]).open(Vault([OLD, NEW]).seal(b"x")) == b"x"


def test_what_no_key_opens_says_how_to_mend_it(complains):
    sealed = Vault([OLD]).seal(b"private key")
    assert "SECRET_KEY" in complains(lambda: Vault([NEW]).open(sealed))
    with pytest.raises(UserError):
        Vault([OLD]).open(sealed[:-1])


def test_a_signed_value_comes_back_for_its_purpose_only():
    signer = Signer([OLD], "sign-in")
    text = signer.sign({"state": "s"})
    assert signer.read(text, 60) == {"state": "s"}
    assert Signer([NEW, OLD], "sign-in").read(text, 60) == {"state": "s"}
    assert Signer([OLD], "setup").read(text, 60) is None
    assert Signer([NEW], "sign-in").read(text, 60) is None
    assert signer.read(text[:-2] + "xx", 60) is None
    assert signer.read(text, -1) is None
    assert signer.read("", 60) is None
    assert signer.read("\ud800é", 60) is None


def test_the_newest_key_signs():
    assert Signer([NEW], "p").read(Signer([NEW, OLD], "p").sign({"a": "b"}), 60) == {"a": "b"}


def test_a_hash_needs_key_purpose_and_value():
    hashes = {
        Hasher([key]).keyed_hash(purpose, value)
        for key in (OLD, NEW)
        for purpose in ("a", "b")
        for value in ("x", "y")
    }
    assert len(hashes) == 8
    made = Hasher([OLD]).keyed_hash("a", "x")
    assert Hasher([NEW, OLD]).matches("a", "x", made)
    assert not Hasher([NEW]).matches("a", "x", made)
    assert not Hasher([OLD]).matches("a", "x", "é\ud800")
