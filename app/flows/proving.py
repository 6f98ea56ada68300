"""Proof of life: addresses and links given out, letters and clicks taken in, and what follows."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.core.audit import Entry, Place
from app.core.errors import RetryLater, UserError
from app.core.github import Account
from app.core.proofs.addresses import Address, AddressLists, NoAddress, classify, too_many
from app.core.proofs.letters import Accepted, Letter, Refused, judge
from app.core.proofs.mails import link_mail
from app.core.proofs.tokens import (
    LETTER_LIVES,
    LINK_LIVES,
    Purpose,
    code_of,
    hashed,
    spell,
    why_not,
)
from app.core.said import Catalogues, say
from app.db import audit, installations, mails, proof_domains, proofs
from app.db.engine import Database, Tx
from app.db.installations import Standing
from app.db.proofs import Given
from app.flows import limiting, spending, waves
from app.flows.fairness import Rings
from app.flows.limiting import Asker, Keyed


@dataclass(frozen=True)
class Proving:
    """What it needs of the world. `site` is the service's address.

    `takes_mail` tells whether a domain does (`RetryLater` where nobody knows); None: it is not asked.
    """

    database: Database
    lists: AddressLists
    keyed: Keyed
    seal: Callable[[bytes], bytes]
    random: Callable[[int], bytes]
    catalogues: Catalogues
    site: str
    clock: Callable[[], datetime]
    takes_mail: Callable[[str], bool] | None = None

    def letter_token(self, standing: Standing, account: Account, *, shared: bool) -> str:
        """The token of the address that an account writes to: the same for a week, then another.

        It is made from our key, so that it can be shown again and only its hash is kept.
        """
        now, here = self.clock(), standing.repository
        week = int(now.timestamp() // LETTER_LIVES.total_seconds())
        named = f"{account.id}:{here.id}:{shared}:{week}"
        token = spell(bytes.fromhex(self.keyed("letter", named)))
        with self.database.begin() as tx:
            if proofs.token(tx, hashed(token)) is None:
                given = self._given(standing, account, "letter", shared=shared)
                proofs.give(tx, hashed(token), given)
        return token

    def _given(
        self, standing: Standing, account: Account, purpose: Purpose, *, shared: bool
    ) -> Given:
        now, here = self.clock(), standing.repository
        lives = LETTER_LIVES if purpose == "letter" else LINK_LIVES
        return Given(
            account_id=account.id,
            login=account.login,
            installation_id=here.installation_id,
            repository_id=here.id,
            shared=shared,
            purpose=purpose,
            address_hash=None,
            at=now,
            expires_at=now + lives,
        )

    def ask_link(
        self, standing: Standing, account: Account, typed: str, *, shared: bool, network: str = ""
    ) -> list[int]:
        """Mails a link to an address; answers the mails' ids.

        `network`: where it was asked from, "" where nobody knows. `UserError` for what is no address
        that counts, and for who asked too often. It never tells whether an address is known: one
        that gets too many mails gets no more, by the same work and with the same answer.
        """
        found = classify(typed, self.lists, standing.policy.proofs.companies)
        if isinstance(found, NoAddress):
            raise UserError(found.why, hint="Go back and give another one.")
        if not self._reachable(found):
            raise UserError(
                f"{found.domain} takes no mail: nothing there is named as its mail server",
                hint="Go back and look how it is spelled, or choose another way.",
            )
        now = self.clock()
        token = spell(self.random(32))
        code = code_of(token, self.keyed("code", token).encode())
        words = self.catalogues(standing.policy.language)
        link = f"{self.site}/verify/confirm/{token}"
        mail = link_mail(words, found.written, account.login, link, code)
        given = self._given(standing, account, "link", shared=shared).model_copy(
            update={
                **self._hashes(found),
                "code_hash": self.keyed("proof code", code),
                "domain": found.registrable if standing.policy.proofs.domain_days else None,
            }
        )
        with self.database.begin() as tx:
            said = limiting.link(tx, self.keyed, Asker(account.id, network), found.normal, now)
            if said.until is not None:
                late = say("Many mails were asked for by you, or from where you are.")
                hint = say(
                    "Wait until {time}, or go back and choose another way.",
                    time=f"{said.until:%Y-%m-%d %H:%M} UTC",
                )
                raise UserError(words(late), hint=words(hint))
            owned = mails.Owned(
                account_id=account.id,
                repository_id=given.repository_id,
                tier=spending.tier_of_account(tx, given.repository_id, account.id, now),
                token_hash=hashed(token),
                muted=said.muted,
            )
            held = spending.mails_until(tx, standing.policy, owned, now)
            if held is not None:
                given = given.model_copy(update={"expires_at": held + LINK_LIVES})
            proofs.give(tx, hashed(token), given)
            sealed = self.seal(mail.model_dump_json().encode())
            return [mails.add(tx, sealed, now, owned, held)]

    def _reachable(self, address: Address) -> bool:
        """Whether its domain takes mail; a name server that says nothing is held against nobody."""
        try:
            return self.takes_mail is None or self.takes_mail(address.domain)
        except RetryLater:
            return True

    def _hashes(self, address: Address) -> dict[str, str]:
        return {
            "address_hash": self.keyed("proof address", address.normal),
            "domain_hash": self.keyed("proof domain", address.registrable),
            "tier": address.tier,
        }

    def confirm(self, account: Account, token: str) -> tuple[str, Rings]:
        """A link came back and its button was pressed: why it does not count, or "" with whom to wake."""
        with self.database.begin() as tx:
            given = proofs.token(tx, hashed(token))
            why = why_not(given, account.id, "link", self.clock())
            if given is None or why:
                return why or "", []
            return self._proven(tx, hashed(token), given, "link")

    def confirm_code(
        self, standing: Standing, account: Account, code: str, network: str = ""
    ) -> tuple[str, Rings]:
        """The same by the code that was mailed last."""
        now, asker = self.clock(), Asker(account.id, network)
        words = self.catalogues(standing.policy.language)
        with self.database.begin() as tx:
            late = limiting.codes_until(tx, self.keyed, asker, now)
            if late is not None:
                until = say(
                    "There were too many wrong codes. The link in the mail still works; a code does "
                    "after {time}.",
                    time=f"{late:%Y-%m-%d %H:%M} UTC",
                )
                return words(until), []
            found = proofs.newest(tx, account.id, standing.repository.id, now)
            given = found[1] if found else None
            why = why_not(given, account.id, "link", now)
            if found is None or given is None or why:
                return why or "", []
            if given.code_hash != self.keyed("proof code", "".join(code.split())):
                proofs.missed(tx, found[0])
                limiting.wrong_code(tx, self.keyed, asker, now)
                return "That is not the code of the last mail.", []
            return self._proven(tx, found[0], given, "link")

    def take_letter(
        self,
        letter: Letter,
        digest: str,
        token_of: Callable[[str], str | None],
        sealers: Collection[str] = (),
    ) -> tuple[str, Rings]:
        """A letter came in: what came of it, for the record, and whom to wake.

        `sealers`: see `judge`. `RetryLater` where it cannot be told yet; nothing is kept then.
        """
        now = self.clock()
        found = judge(letter, now, token_of, self.lists.registrable, sealers)
        with self.database.begin() as tx:
            if not proofs.letter(tx, digest, "taken", letter.spf, now):
                return "refused: it came before", []
        outcome, rings = self._letter(found, now)
        with self.database.begin() as tx:
            proofs.noted(tx, digest, outcome)
        return outcome, rings

    def _letter(self, found: Accepted | Refused, now: datetime) -> tuple[str, Rings]:
        if isinstance(found, Refused):
            return f"refused: {found.why}", []
        with self.database.begin() as tx:
            given = proofs.token(tx, hashed(found.token))
            why = why_not(given, given.account_id if given else 0, "letter", now)
            if given is None or why:
                return f"refused: {why}", []
            standing = installations.standing(tx, given.repository_id)
            if standing is None:
                return "refused: the App is no longer there", []
            address = classify(found.sender, self.lists, standing.policy.proofs.companies)
            if isinstance(address, NoAddress):
                return f"refused: {address.why}", []
            named = self._hashes(address) | {"domain": address.registrable}
            given = given.model_copy(update=named)
            why, rings = self._proven(tx, hashed(found.token), given, "letter", found.spf)
        return (f"refused: {why}" if why else "proven"), rings

    def _proven(
        self, tx: Tx, token_hash: str, given: Given, way: str, spf: str = ""
    ) -> tuple[str, Rings]:
        now = self.clock()
        standing = installations.standing(tx, given.repository_id)
        if standing is None or standing.gone or given.tier is None:
            return "The App is not installed on that repository any more.", []
        config = standing.policy.proofs
        of_address, of_domain = proofs.others(
            tx, given.account_id, given.address_hash or "", given.domain_hash or "", now
        )
        why = too_many(
            given.tier,
            of_address,
            of_domain,
            per_address=config.per_address,
            per_domain=config.per_domain,
        )
        if why:
            return why, []
        proofs.used(tx, token_hash, now)
        made = proofs.add(tx, given, way, now, now + timedelta(days=config.days), spf)
        if given.domain and config.domain_days:
            needed = now + timedelta(days=min(config.domain_days, config.days))
            where = given.repository_id
            proof_domains.keep(tx, made, given.account_id, where, given.domain, needed)
        account = Account(id=given.account_id, login=given.login)
        place = Place(installation_id=given.installation_id, repository_id=given.repository_id)
        detail = {"way": way, "tier": given.tier, "shared": given.shared}
        detail |= {"spf": spf} if spf else {}
        audit.note(tx, place, Entry(at=now, act="proof.given", by=account, detail=detail))
        return "", _again(tx, standing, given, now)


def _again(tx: Tx, standing: Standing, given: Given, now: datetime) -> Rings:
    """All pull requests of the account that it may matter for are decided anew."""
    cause = f"proof:{given.account_id}:{now.isoformat()}"
    where = [standing]
    if given.shared:
        others = installations.repositories_of(tx, given.installation_id)
        found = (installations.standing(tx, r.id) for r in others if r.id != given.repository_id)
        where += [one for one in found if one is not None]
    return [
        ("triage", id_)
        for one in where
        for id_ in waves.of_account(tx, one, given.account_id, 0, cause, now)
    ]
