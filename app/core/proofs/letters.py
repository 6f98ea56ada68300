"""Whether a mail that came in proves something: from its headers and signatures alone.

The body is never read: only its hash counts, within DKIM. Nothing is ever answered, so that
nobody can make us write to others (backscatter).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta

from app.core.errors import RetryLater
from app.core.fact import Fact
from app.core.proofs.results import Results

# RFC 6376, 5.4.1 recommends far more; these are what a proof rests on.
SIGNED = frozenset({"from", "to", "date", "subject"})
LEAST_KEY_BITS = 1024  # RFC 8301, 3.2: verifiers must not take shorter ones
FRESH = timedelta(days=3)
AHEAD = timedelta(hours=1)
MOST_BYTES = 5_000_000
# RFC 8301, 3.1: what a signature must not be made with. RFC 8463 for the second one that may be.
ALGORITHMS = frozenset({"rsa-sha256", "ed25519-sha256"})
_ONCE = ("from", "to", "date", "subject", "message-id")
# A mail client sets them where somebody presses "reply".
_REPLY_HEADERS = ("in-reply-to", "references")
_LIST_HEADERS = ("list-id", "list-post", "list-unsubscribe", "mailing-list", "x-mailing-list")
_AUTO_HEADERS = ("x-autoreply", "x-autorespond", "x-auto-response-suppress", "auto-submitted")
_MACHINES = ("mailer-daemon@", "postmaster@", "noreply@", "no-reply@", "donotreply@")


class Signature(Fact):
    """One DKIM signature. `problem` is "" where it verifies; `covers` are header names, lower case.

    `unanswered`: no name server answered when its key was asked for, so that nothing is known of it.
    """

    domain: str
    covers: frozenset[str]
    has_length: bool
    problem: str
    algorithm: str = "rsa-sha256"
    unanswered: bool = False


class Seal(Fact):
    """One ARC set (RFC 8617): who sealed, and what it found out when the mail came to it."""

    domain: str
    results: Results | None


class Chain(Fact):
    """A mail's ARC chain, the newest set first. `problem` is "" where all of it verifies.

    `covers` and `has_length` are of the newest message signature; `unanswered` as of a signature.
    """

    seals: tuple[Seal, ...]
    covers: frozenset[str]
    has_length: bool
    problem: str
    unanswered: bool = False


class Letter(Fact):
    """A mail as far as it counts. `headers` has each header's values by its lower-case name.

    `senders` are the addresses of From, `to` those of To; `recipients` those that the envelope
    names; `envelope_from` is "" for a bounce. `spf` is what the receiving server found, for the record.
    """

    headers: Mapping[str, tuple[str, ...]]
    senders: tuple[str, ...]
    to: tuple[str, ...]
    recipients: tuple[str, ...]
    envelope_from: str
    date: datetime | None
    size: int
    signatures: tuple[Signature, ...]
    chain: Chain | None = None
    spf: str = ""


class Accepted(Fact):
    """It proves that its sender wrote to the address with this token.

    `sealed_by` is the ARC sealer whose word is taken for the signature; "" where it still verifies.
    `spf` is shown to maintainers beside the proof; nothing follows from it.
    """

    sender: str
    token: str
    signed_by: str
    sealed_by: str = ""
    spf: str = ""


class Refused(Fact):
    """It proves nothing, and why; recorded, never answered."""

    why: str


def judge(
    letter: Letter,
    now: datetime,
    token_of: Callable[[str], str | None],
    registrable: Callable[[str], str | None],
    sealers: Collection[str] = (),
) -> Accepted | Refused:
    """Whether the mail counts. `token_of` gives the token of an address of ours, None for others.

    `sealers` are the domains whose ARC seal the operator trusts: servers that change mails on the way.
    `RetryLater` where only a name server stands between the mail and an answer.
    """
    for check in (_shape, _machine):
        why = check(letter)
        if why:
            return Refused(why=why)
    if letter.date is None or not now - FRESH <= letter.date <= now + AHEAD:
        return Refused(why="its date is not of these days")
    # The envelope is whatever the last server says. Only the signed To tells that its writer meant us:
    # else any mail that somebody ever got from Alice would prove that they are Alice.
    tokens = {t for t in map(token_of, letter.recipients) if t is not None}
    if len(tokens) != 1:
        return Refused(why="it was not written to one of our addresses")
    if {t for t in map(token_of, letter.to) if t is not None} != tokens:
        return Refused(why="its To does not name the address that it was brought to")
    signer = _signer(letter, registrable, sealers)
    if isinstance(signer, Refused):
        return signer
    signed_by, sealed_by = signer
    return Accepted(
        sender=letter.senders[0],
        token=tokens.pop(),
        signed_by=signed_by,
        sealed_by=sealed_by,
        spf=_spf(letter, registrable),
    )


def _spf(letter: Letter, registrable: Callable[[str], str | None]) -> str:
    """What SPF says, and whether of the sender's domain at all: it speaks of the envelope's alone.

    It breaks wherever mail is forwarded and says nothing of who wrote, so that no mail is refused for it.
    """
    own, asked = (
        registrable(one.rpartition("@")[2].lower())
        for one in (letter.senders[0], letter.envelope_from)
    )
    return f"{letter.spf}, of another domain" if letter.spf and own != asked else letter.spf


def _signer(
    letter: Letter, registrable: Callable[[str], str | None], sealers: Collection[str]
) -> Refused | tuple[str, str]:
    """Which domain of the sender's owner signed it, and by whose seal that is known ("" by itself)."""
    own = registrable(letter.senders[0].rpartition("@")[2].lower())
    ours = [s for s in letter.signatures if own and registrable(s.domain.lower()) == own]
    for one in ours:
        if not _fault(one):
            return one.domain, ""
    sealed = _sealed(letter.chain, ours, sealers) if sealers else ""
    if isinstance(sealed, tuple):
        return sealed
    open_ = any(one.unanswered and not _weak(one) for one in ours)
    if open_ or (sealers and letter.chain and letter.chain.unanswered):
        raise RetryLater("no name server answered for the key of a signature")
    return Refused(why=_reason(letter.signatures, "; ".join(map(_fault, ours)), sealed))


def _reason(signatures: Sequence[Signature], why: str, sealed: str) -> str:
    others = ", ".join(sorted({s.domain for s in signatures})[:3])
    theirs = f"{others} is not the sender's domain" if others else "it carries no DKIM signature"
    return "; ".join(filter(None, (why or theirs, sealed)))


def _shape(letter: Letter) -> str:
    if letter.size > MOST_BYTES:
        return f"it is larger than {MOST_BYTES:,} bytes"
    for name in _ONCE:
        if len(letter.headers.get(name, ())) > 1:
            return f"it has more than one header {name}"
    if len(letter.senders) != 1 or "@" not in letter.senders[0]:
        return "it is not from exactly one address"
    return ""


def _machine(letter: Letter) -> str:
    """RFC 3834: what an automatic answer looks like; and lists, and bounces."""
    if letter.envelope_from == "" or letter.senders[0].lower().startswith(_MACHINES):
        return "it is a bounce or from a machine's address"
    kind = " ".join(letter.headers.get("content-type", ())).lower()
    if "multipart/report" in kind:
        return "it is a bounce or from a machine's address"
    if any(letter.headers.get(name) for name in _LIST_HEADERS):
        return "it came over a mailing list"
    submitted = " ".join(letter.headers.get("auto-submitted", ("no",))).strip().lower()
    if not submitted.startswith("no") or any(
        letter.headers.get(name) for name in _AUTO_HEADERS if name != "auto-submitted"
    ):
        return "it is an automatic answer"
    precedence = " ".join(letter.headers.get("precedence", ())).strip().lower()
    if precedence in {"bulk", "junk", "list"}:
        return "it is bulk mail"
    # A Reply-To that leads here would make people prove somebody else by an innocent reply; and
    # answering machines that say nothing of RFC 3834 still say what they answer.
    return "it is a reply" if any(letter.headers.get(name) for name in _REPLY_HEADERS) else ""


def _weak(one: Signature) -> str:
    """Why a signature would not do even if it verified; "" where it would."""
    if one.algorithm not in ALGORITHMS:
        return f"{one.domain} signed with {one.algorithm}, which is not safe"
    if one.has_length:
        return f"{one.domain} signed only a part of it (l=)"
    missing = ", ".join(sorted(SIGNED - one.covers))
    return f"{one.domain} did not sign {missing}" if missing else ""


def _fault(one: Signature) -> str:
    """Why a signature of the sender's domain does not count; "" where it does."""
    return _weak(one) or (f"{one.domain}: {one.problem}" if one.problem else "")


def _sealed(
    chain: Chain | None, ours: Sequence[Signature], sealers: Collection[str]
) -> str | tuple[str, str]:
    """The signing domain and the sealer that saw its signature verify, or why there is none.

    From the newest set back, for as long as each sealer is trusted: the first that saw a signature of
    the sender's domain pass, one that is still there and would do, has said so under its own seal.
    """
    if chain is None or not chain.seals:
        return ""
    if chain.problem:
        return f"its ARC chain: {chain.problem}"
    missing = ", ".join(sorted((SIGNED | {"dkim-signature"}) - chain.covers))
    if missing or chain.has_length:
        return f"its last ARC sealer did not sign {missing or 'all of it (l=)'}"
    good = {one.domain.lower() for one in ours if not _weak(one)}
    for seal in chain.seals:
        if seal.domain not in sealers:
            return f"{seal.domain} sealed it, which the operator did not list"
        for method in seal.results.methods if seal.results else ():
            if method.name == "dkim" and method.result == "pass":
                signer = method.properties.get("header.d", "").lower().rstrip(".")
                signer = signer or method.properties.get("header.i", "").rpartition("@")[2].lower()
                if signer in good:
                    return signer, seal.domain
    return "no trusted ARC sealer saw a signature of the sender's domain verify"
