"""SPF records: their grammar (RFC 7208, 12) and their macros (RFC 7208, 7)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import NamedTuple
from urllib.parse import quote

MOST_NAME = 253  # characters of a domain name

_LABEL = re.compile(r"[ -\-/-~]{1,63}")  # macros may bring anything but a dot
_MODIFIER = re.compile(r"([a-z][a-z0-9_.-]*)=(.*)", re.IGNORECASE)
_MECHANISM = re.compile(r"([+?~-]?)(all|include|a|mx|ptr|ip4|ip6|exists)([:/].*)?", re.IGNORECASE)
_BITS = re.compile(r"(.*?)(?:/(0|[1-9]\d?))?(?://(0|[1-9]\d{0,2}))?")
_MACRO = re.compile(r"%(?:\{([slodiphcrtv])(\d*)(r?)([.+,/_=-]*)\}|([%_-]))", re.IGNORECASE)
_TEXT = re.compile(r"[!-$&-~]*")
_TOP = re.compile(r"\.(?=[a-z0-9-]*[a-z-])[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.?", re.IGNORECASE)
_FIXED = {"%": "%", "_": " ", "-": "%20"}


class SyntaxFault(Exception):
    """A record that does not follow the grammar."""


class Sender(NamedTuple):
    """Who sends: the envelope's sender, the server's address, and the name that it gave itself."""

    local: str
    domain: str
    ip: IPv4Address | IPv6Address
    helo: str


@dataclass(frozen=True)
class Mechanism:
    """One term. `spec` is "" where it stands for the domain itself; `bits…` are prefix lengths."""

    sign: str
    name: str
    spec: str = ""
    network: IPv4Network | IPv6Network | None = None
    bits4: int = 32
    bits6: int = 128


@dataclass(frozen=True)
class Record:
    """A domain's record."""

    mechanisms: tuple[Mechanism, ...]
    redirect: str | None


def is_domain(name: str, *, single: bool = False) -> bool:
    """Whether it is a name that can be looked up; of several labels unless `single`."""
    labels = name.removesuffix(".").split(".")
    enough = single or len(labels) > 1
    return enough and len(name) <= MOST_NAME + 1 and all(map(_LABEL.fullmatch, labels))


def parse(text: str) -> Record:
    """The record, checked from end to end. Raises `SyntaxFault`."""
    mechanisms: list[Mechanism] = []
    modifiers: dict[str, str] = {}
    for term in filter(None, text.split(" ")[1:]):
        named = _MODIFIER.fullmatch(term)
        if named is None:
            mechanisms.append(_mechanism(term))
            continue
        name = named[1].lower()
        if name in {"redirect", "exp"}:
            if name in modifiers:
                raise SyntaxFault(term)
            modifiers[name] = _spec(named[2])
        else:
            _macros(named[2])
    return Record(tuple(mechanisms), modifiers.get("redirect"))


def _mechanism(term: str) -> Mechanism:
    found = _MECHANISM.fullmatch(term)
    if found is None:
        raise SyntaxFault(term)
    sign, name, rest = found[1] or "+", found[2].lower(), found[3] or ""
    if name in {"ip4", "ip6"}:
        return Mechanism(sign, name, network=_network(name, rest))
    if name == "all":
        if rest:
            raise SyntaxFault(term)
        return Mechanism(sign, name)
    bits4, bits6 = 32, 128
    if name in {"a", "mx"}:
        split = _BITS.fullmatch(rest)
        if split is None:
            raise SyntaxFault(term)
        rest, bits4, bits6 = split[1], int(split[2] or 32), int(split[3] or 128)
    wants = name in {"include", "exists"}
    if bits4 > 32 or bits6 > 128 or (rest and rest[0] != ":") or (wants and not rest):
        raise SyntaxFault(term)
    return Mechanism(sign, name, _spec(rest[1:]) if rest else "", None, bits4, bits6)


def _network(name: str, rest: str) -> IPv4Network | IPv6Network:
    _, slash, bits = rest[1:].partition("/")
    if rest[:1] != ":" or (slash and not re.fullmatch(r"0|[1-9]\d{0,2}", bits)):
        raise SyntaxFault(rest)
    kind = IPv4Network if name == "ip4" else IPv6Network
    try:
        return kind(rest[1:], strict=False)
    except ValueError:
        raise SyntaxFault(rest) from None


def _macros(text: str, *, allowed: str = "slodiphcrtv") -> None:
    """Raises `SyntaxFault` for what is no macro-string."""
    at = 0
    for macro in _MACRO.finditer(text):
        if not _TEXT.fullmatch(text, at, macro.start()):
            raise SyntaxFault(text)
        if macro[1] and (macro[1].lower() not in allowed or (macro[2] and not int(macro[2]))):
            raise SyntaxFault(text)
        at = macro.end()
    if not _TEXT.fullmatch(text, at):
        raise SyntaxFault(text)


def _spec(text: str) -> str:
    """A domain-spec: a macro-string that ends in a macro or in a label that may stand at the top."""
    _macros(text, allowed="slodiphv")
    macros = list(_MACRO.finditer(text))
    ends = bool(macros) and macros[-1].end() == len(text)
    dot = text.rfind(".", 0, len(text) - 1)
    if not ends and not (dot >= 0 and _TOP.fullmatch(text, dot)):
        raise SyntaxFault(text)
    return text


def expand(spec: str, sender: Sender, domain: str, validated: Callable[[], str]) -> str:
    """The name that a domain-spec stands for, cut from the left to what fits."""
    v6 = isinstance(sender.ip, IPv6Address)
    dotted = ".".join(sender.ip.exploded.replace(":", "")) if v6 else str(sender.ip)

    def value(letter: str) -> str:
        values: dict[str, Callable[[], str]] = {
            "s": lambda: f"{sender.local}@{sender.domain}",
            "l": lambda: sender.local,
            "o": lambda: sender.domain,
            "d": lambda: domain,
            "i": lambda: dotted,
            "p": validated,
            "v": lambda: "ip6" if v6 else "in-addr",
            "h": lambda: sender.helo,
        }
        return values[letter]()

    def one(macro: re.Match[str]) -> str:
        if macro[5]:
            return _FIXED[macro[5]]
        parts = re.split(f"[{re.escape(macro[4] or '.')}]", value(macro[1].lower()))
        if macro[3]:
            parts.reverse()
        if macro[2]:
            parts = parts[-int(macro[2]) :]
        joined = ".".join(parts)
        return quote(joined, safe="-._~") if macro[1].isupper() else joined

    name = _MACRO.sub(one, spec).removesuffix(".")
    while len(name) > MOST_NAME and "." in name:
        name = name.partition(".")[2]
    return name
