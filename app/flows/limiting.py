"""Limits on what a person may ask for and guess, counted under keyed hashes."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from app.core.proofs import limits
from app.db import tries
from app.db.engine import Tx

Keyed = Callable[[str, str], str]
"""A keyed hash: what it is of, and the value; hexadecimal."""


@dataclass(frozen=True)
class Asker:
    """Who asks: an account, and the network that it asks from ("" where nobody knows)."""

    account_id: int
    network: str = ""


@dataclass(frozen=True)
class LinkAsked:
    """What the limits say of one more mail.

    `until`: the asker is to wait so long; nothing was counted then. `muted`: the address got as many
    as it may, which is to be told to nobody and seen by nobody.
    """

    until: datetime | None = None
    muted: bool = False


def link(tx: Tx, keyed: Keyed, asker: Asker, address: str, now: datetime) -> LinkAsked:
    """Counts one more mail to an address, if it may be asked for."""
    by = keyed("link by account", str(asker.account_id))
    to = keyed("link to address", address)
    of = keyed("link from network", asker.network) if asker.network else ""
    for one in filter(None, (by, to, of)):
        tries.lock(tx, one)
    ends = [tries.until(tx, by, limits.LINKS_BY_ACCOUNT, now)]
    ends += [tries.until(tx, of, limits.LINKS_FROM_NETWORK, now)] if of else []
    late = max((end for end in ends if end is not None), default=None)
    muted = tries.until(tx, to, limits.LINKS_TO_ADDRESS, now) is not None
    if late is not None:
        return LinkAsked(until=late)
    # A muted one does not count for the address: else who tries again would never get one.
    tries.note(tx, filter(None, (by, "" if muted else to, of)), now)
    return LinkAsked(muted=muted)


def _of_codes(keyed: Keyed, asker: Asker) -> dict[str, tuple[limits.Limit, ...]]:
    found: dict[str, tuple[limits.Limit, ...]]
    found = {keyed("code by account", str(asker.account_id)): limits.CODES_BY_ACCOUNT}
    if asker.network:
        found[keyed("code from network", asker.network)] = limits.CODES_FROM_NETWORK
    return found


def codes_until(tx: Tx, keyed: Keyed, asker: Asker, now: datetime) -> datetime | None:
    """When a code may be tried again; None for now. Others of the same person wait for us."""
    ends = []
    for one, most in _of_codes(keyed, asker).items():
        tries.lock(tx, one)
        ends.append(tries.until(tx, one, most, now))
    return max((end for end in ends if end is not None), default=None)


def wrong_code(tx: Tx, keyed: Keyed, asker: Asker, now: datetime) -> None:
    """Counts a code that was wrong."""
    tries.note(tx, _of_codes(keyed, asker), now)
