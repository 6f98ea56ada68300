"""Tokens that were given out, proofs that came of them, letters that came in."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import delete, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from app.core.proofs.addresses import Tier
from app.core.proofs.standing import Proven
from app.core.proofs.tokens import Token
from app.db.engine import Tx
from app.db.tables import letters, mails, proof_tokens, proofs


class Given(Token):
    """A token with what it is to prove, and where."""

    login: str
    installation_id: int
    repository_id: int
    shared: bool = False
    code_hash: str | None = None
    domain_hash: str | None = None
    tier: Tier | None = None
    domain: str | None = None


class Kept(Proven):
    """A proof as its owner and maintainers see it. `spf`: what that said of the mail, "" for unknown."""

    id: int
    installation_id: int
    repository_id: int | None
    way: str
    spf: str


def give(tx: Tx, token_hash: str, token: Given) -> None:
    """Keeps a token; earlier ones of the same account, place and purpose are worth nothing more."""
    tx.execute(
        update(proof_tokens)
        .where(
            proof_tokens.c.account_id == token.account_id,
            proof_tokens.c.repository_id == token.repository_id,
            proof_tokens.c.purpose == token.purpose,
            proof_tokens.c.used_at.is_(None),
        )
        .values(expires_at=func.least(proof_tokens.c.expires_at, token.at))
    )
    tx.execute(insert(proof_tokens).values(token_hash=token_hash, **token.model_dump()))


def token(tx: Tx, token_hash: str) -> Given | None:
    """One, locked until the transaction ends, so that it is used once."""
    columns = [proof_tokens.c[name] for name in Given.model_fields]
    row = select(*columns).where(proof_tokens.c.token_hash == token_hash).with_for_update()
    found = tx.execute(row).mappings().one_or_none()
    return Given(**found) if found else None


def newest(tx: Tx, account_id: int, repository_id: int, now: datetime) -> tuple[str, Given] | None:
    """The link that was mailed to an account last and still counts, with its hash."""
    columns = [proof_tokens.c[name] for name in Given.model_fields]
    row = (
        select(proof_tokens.c.token_hash, *columns)
        .where(
            proof_tokens.c.account_id == account_id,
            proof_tokens.c.repository_id == repository_id,
            proof_tokens.c.purpose == "link",
            proof_tokens.c.expires_at > now,
            proof_tokens.c.used_at.is_(None),
        )
        .order_by(proof_tokens.c.at.desc())
        .limit(1)
        .with_for_update()
    )
    found = tx.execute(row).mappings().one_or_none()
    if found is None:
        return None
    rest = {name: found[name] for name in Given.model_fields}
    return found["token_hash"], Given(**rest)


def used(tx: Tx, token_hash: str, now: datetime) -> None:
    """It came back."""
    tx.execute(
        update(proof_tokens)
        .where(proof_tokens.c.token_hash == token_hash)
        .values(used_at=now, domain=None)
    )


def is_good(tx: Tx, token_hash: str, now: datetime) -> bool:
    """Whether it may still come back: it was neither used nor replaced nor erased."""
    row = select(proof_tokens.c.token_hash).where(
        proof_tokens.c.token_hash == token_hash,
        proof_tokens.c.used_at.is_(None),
        proof_tokens.c.expires_at > now,
    )
    return tx.execute(row).scalar_one_or_none() is not None


def extend(tx: Tx, token_hash: str, until: datetime) -> None:
    """Its mail has to wait, and so does the end of its time."""
    tx.execute(
        update(proof_tokens)
        .where(proof_tokens.c.token_hash == token_hash)
        .values(expires_at=func.greatest(proof_tokens.c.expires_at, until))
    )


def missed(tx: Tx, token_hash: str) -> None:
    """A wrong code was given for it."""
    more = proof_tokens.c.attempts + 1
    tx.execute(
        update(proof_tokens).where(proof_tokens.c.token_hash == token_hash).values(attempts=more)
    )


def others(
    tx: Tx, account_id: int, address_hash: str, domain_hash: str, now: datetime
) -> tuple[int, int]:
    """How many other accounts an address proves now, and how many its domain does."""
    valid = (
        proofs.c.account_id != account_id,
        proofs.c.revoked_at.is_(None),
        proofs.c.until > now,
    )
    count = func.count(proofs.c.account_id.distinct())
    by_address = select(count).where(proofs.c.address_hash == address_hash, *valid)
    by_domain = select(count).where(proofs.c.domain_hash == domain_hash, *valid)
    return int(tx.execute(by_address).scalar_one()), int(tx.execute(by_domain).scalar_one())


def add(  # noqa: PLR0913 - what a proof is
    tx: Tx, given: Given, way: str, now: datetime, until: datetime, spf: str = ""
) -> int:
    """Keeps a proof, and answers its id; an earlier one by the same address ends."""
    tx.execute(
        update(proofs)
        .where(
            proofs.c.account_id == given.account_id,
            proofs.c.address_hash == given.address_hash,
            proofs.c.installation_id == given.installation_id,
            proofs.c.revoked_at.is_(None),
        )
        .values(revoked_at=now)
    )
    made = insert(proofs).values(
        account_id=given.account_id,
        installation_id=given.installation_id,
        repository_id=None if given.shared else given.repository_id,
        way=way,
        tier=given.tier,
        address_hash=given.address_hash,
        domain_hash=given.domain_hash,
        spf=spf,
        at=now,
        until=until,
    )
    return int(tx.execute(made.returning(proofs.c.id)).scalar_one())


def of_account(
    tx: Tx, account_id: int, installation_id: int, repository_id: int, now: datetime
) -> tuple[Kept, ...]:
    """What proves an account in a repository now."""
    found = of_accounts(tx, [account_id], installation_id, repository_id, now)
    return tuple(found.get(account_id, ()))


def of_accounts(
    tx: Tx, account_ids: Collection[int], installation_id: int, repository_id: int, now: datetime
) -> dict[int, list[Kept]]:
    """The same of several accounts; those without any are left out."""
    columns = [proofs.c[name] for name in Kept.model_fields]
    rows = select(proofs.c.account_id.label("of"), *columns).where(
        proofs.c.account_id.in_(list(account_ids)),
        proofs.c.installation_id == installation_id,
        or_(proofs.c.repository_id.is_(None), proofs.c.repository_id == repository_id),
        proofs.c.revoked_at.is_(None),
        proofs.c.until > now,
    )
    found: dict[int, list[Kept]] = {}
    for row in tx.execute(rows.order_by(proofs.c.id)).mappings():
        kept = Kept(**{name: row[name] for name in Kept.model_fields})
        found.setdefault(row["of"], []).append(kept)
    return found


def all_of(tx: Tx, account_id: int, now: datetime) -> tuple[Kept, ...]:
    """Everything that proves an account anywhere, for its owner."""
    columns = [proofs.c[name] for name in Kept.model_fields]
    rows = select(*columns).where(
        proofs.c.account_id == account_id, proofs.c.revoked_at.is_(None), proofs.c.until > now
    )
    return tuple(Kept(**row) for row in tx.execute(rows.order_by(proofs.c.id)).mappings())


def erase(tx: Tx, account_id: int) -> None:
    """Deletes all proofs and tokens of an account, and mails to it, at its owner's word."""
    tx.execute(delete(mails).where(mails.c.account_id == account_id))
    tx.execute(delete(proofs).where(proofs.c.account_id == account_id))
    tx.execute(delete(proof_tokens).where(proof_tokens.c.account_id == account_id))


def letter(tx: Tx, digest: str, outcome: str, spf: str, now: datetime) -> bool:
    """Notes what came of a letter; False where the very same one came before."""
    made = upsert(letters).values(digest=digest, at=now, outcome=outcome[:300], spf=spf[:100])
    kept = tx.execute(made.on_conflict_do_nothing().returning(letters.c.digest))
    return kept.scalar_one_or_none() is not None


def noted(tx: Tx, digest: str, outcome: str) -> None:
    """What came of a letter after all."""
    tx.execute(update(letters).where(letters.c.digest == digest).values(outcome=outcome[:300]))


def forget(tx: Tx, before: datetime) -> None:
    """Deletes what is past its time: tokens, ended proofs, notes of letters."""
    tx.execute(delete(proof_tokens).where(proof_tokens.c.expires_at < before))
    tx.execute(delete(proofs).where(or_(proofs.c.until < before, proofs.c.revoked_at < before)))
    tx.execute(delete(letters).where(letters.c.at < before))
