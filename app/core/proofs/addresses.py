"""What a mail address is worth as a proof, and how many accounts it may prove.

Only keyed hashes of the address and of its registrable domain, and the domain's tier, are kept.
"""

import unicodedata
from collections.abc import Collection
from typing import Literal, Protocol

from app.core.fact import Fact

Tier = Literal["academic", "company", "own", "free", "relay"]
TIERS: tuple[Tier, ...] = ("academic", "company", "own", "free", "relay")
MOST_ADDRESS = 254  # characters: RFC 5321, errata 1690

# Addresses that forward to somebody's real one: each provider's own documentation names them.
RELAYS = frozenset(
    {
        *("privaterelay.appleid.com", "icloud-relay.com"),  # Apple, Hide My Email
        *("mozmail.com", "relay.firefox.com"),  # Firefox Relay
        "duck.com",  # DuckDuckGo Email Protection
        *("simplelogin.com", "simplelogin.co", "simplelogin.fr", "aleeas.com", "slmail.me"),
        *("anonaddy.com", "anonaddy.me", "addy.io"),
        *("passmail.net", "passinbox.com", "passfwd.com"),  # Proton Pass
    }
)
# Nobody writes from there.
_NO_REPLY = frozenset({"users.noreply.github.com", "noreply.github.com"})
# Providers that ignore dots in the part before the @, by their own documentation.
_DOTS_IGNORED = frozenset({"gmail.com", "googlemail.com"})
_SAME = {"googlemail.com": "gmail.com"}


class AddressLists(Protocol):
    """What lists kept by others say of a domain, in lower case and ASCII."""

    def registrable(self, domain: str) -> str | None:
        """The domain that somebody registered; None for a public suffix alone."""

    def is_disposable(self, domain: str) -> bool:
        """Whether anybody gets a throw-away address there."""

    def is_free(self, domain: str) -> bool:
        """Whether anybody gets an address there for nothing."""

    def is_academic(self, domain: str) -> bool:
        """Whether it belongs to a school or university."""


class Address(Fact):
    """An address that may prove something. `normal` is the one form of all its spellings.

    `written` is how it was typed, with its domain in ASCII: where a mail goes.
    """

    normal: str
    written: str
    domain: str
    registrable: str
    tier: Tier


class NoAddress(Fact):
    """Why something is no address that counts; for whoever typed it."""

    why: str


def classify(
    typed: str, lists: AddressLists, companies: Collection[str] = ()
) -> Address | NoAddress:
    """The address with its tier. `companies` are registrable domains that maintainers named."""
    text = unicodedata.normalize("NFC", typed.strip())
    local, at, domain = text.rpartition("@")
    if not at or not local or not domain or len(text) > MOST_ADDRESS:
        return NoAddress(why="That is no mail address.")
    if any(c.isspace() or not c.isprintable() or c in '<>()[]\\,;:"' for c in text):
        return NoAddress(why="That is no mail address.")
    # An encoded word is read as what it stands for by some, who would see another address.
    if "@" in local or "=?" in local:
        return NoAddress(why="That is no mail address.")
    try:
        host = domain.rstrip(".").encode("idna").decode().lower()
    except UnicodeError:
        return NoAddress(why="The part behind the @ is no domain.")
    registrable = lists.registrable(host)
    if registrable is None or "." not in registrable:
        return NoAddress(why="The part behind the @ is no domain that anybody can own.")
    if host in _NO_REPLY:
        return NoAddress(why="GitHub's no-reply addresses cannot be written to or from.")
    if lists.is_disposable(host) or lists.is_disposable(registrable):
        return NoAddress(why="Throw-away addresses do not count. Use one that you keep.")
    same = _SAME.get(host, host)
    return Address(
        normal=f"{_local(local, same)}@{same}",
        written=f"{local}@{host}",
        domain=same,
        registrable=registrable,
        tier=_tier(host, registrable, lists, companies),
    )


def _local(local: str, domain: str) -> str:
    plain = local.casefold().partition("+")[0] or local.casefold()
    return plain.replace(".", "") if domain in _DOTS_IGNORED else plain


def _tier(host: str, registrable: str, lists: AddressLists, companies: Collection[str]) -> Tier:
    if host in RELAYS or registrable in RELAYS:
        return "relay"
    if registrable in companies or host in companies:
        return "company"
    if lists.is_free(host) or lists.is_free(registrable):
        return "free"
    if lists.is_academic(host):
        return "academic"
    return "own"


def too_many(
    tier: Tier, of_address: int, of_domain: int, *, per_address: int, per_domain: int
) -> str | None:
    """Why an address proves no further account; None where it may.

    `of_address` and `of_domain`: how many other accounts it, and its registrable domain, prove now.
    Domains where many people have an address are not counted.
    """
    if of_address >= per_address:
        return "This address proves as many accounts as it may."
    if tier in {"own", "relay"} and of_domain >= per_domain:
        return "This domain proves as many accounts as it may."
    return None
